"""What SQL has a syntax of its own for: templates in which {type} stands for an expression of that type, or of the type that T, A
(its array) and ANY (any type at all) are given."""

# (result, template); T and A in a template make it one for each type that has arrays.
BOOLEAN = [
    "({bool} and {bool})", "({bool} or {bool})", "(not {bool})", "({bool} and {bool} or {bool})", "({bool} is true)", "({bool} is not true)",
    "({bool} is false)", "({bool} is not false)", "({bool} is unknown)", "({bool} is not unknown)", "({ANY} is null)", "({ANY} is not null)",
    "({ANY} isnull)", "(row({ANY}, {ANY}) is null)", "(row({ANY}, {ANY}) is not null)", "({text} like {text})", "({text} not like {text})",
    "({text} ilike {text})", "({text} like {text} escape {text})", "({text} similar to {text})", "({text} similar to {text} escape '#')",
    "(({timestamp}, {timestamp}) overlaps ({timestamp}, {timestamp}))", "(({date}, {interval}) overlaps ({date}, {interval}))",
    "(({timestamptz}, {interval}) overlaps ({timestamptz}, {timestamptz}))", "(({time}, {time}) overlaps ({time}, {interval}))",
    "({text} collate \"C\" < {text})",
]
BOOLEAN_OF_ANY = [
    "({T} in ({T}, {T}, {T}))", "({T} not in ({T}, {T}))", "({T} = any({A}))", "({T} <> all({A}))", "({T} < any({A}))", "({T} >= all({A}))",
    "({T} = any(array[{T}, {T}]))", "({T} is distinct from {T})", "({T} is not distinct from {T})", "({T} between {T} and {T})",
    "({T} not between {T} and {T})", "({T} between symmetric {T} and {T})", "({A} is null)", "(row({T}, {ANY}) is distinct from row({T}, null))",
    "(row({T}, id) < row({T}, 7))", "(row({T}, {text}) = row({T}, {text}))", "(({T}, {int4}) in (({T}, {int4}), ({T}, {int4})))",
    "({T} = {T} or {T} is null)", "({A} = {A})", "({A} < {A})",
]
SAME = [
    "case when {bool} then {T} else {T} end", "case when {bool} then {T} when {bool} then {T} end", "case {int4} when {int4} then {T} when {int4} then {T} else {T} end",
    "case {text} when {text} then {T} else null end", "coalesce({T}, {T})", "coalesce(null, {T}, {T})", "nullif({T}, {T})", "greatest({T}, {T}, {T})",
    "least({T}, {T}, {T})", "(array[{T}, {T}, {T}])[{int4}]", "({A})[{int4}]", "({A})[{int4}][{int4}]", "case when {T} = {T} then {T} end",
    "(select {T})", "case {T} when {T} then {T} else {T} end", "(select {T} where {bool})",
]
ARRAYS = [
    "array[{T}, {T}]", "array[{T}]", "array[]::{t}[]", "array[{T}, null, {T}]", "array[array[{T}, {T}], array[{T}, {T}]]", "array[{A}, {A}]",
    "array(select {T} union all select {T})", "array(select unnest(({A})::{t}[]))", "({A})[{int4}:{int4}]", "({A})[:{int4}]", "({A})[{int4}:]", "({A})[:]",
    "({A})[{int4}:{int4}][:]",
]
OTHERS = [
    ("text", "overlay({text} placing {text} from {int4})"), ("text", "overlay({text} placing {text} from {int4} for {int4})"),
    ("bytea", "overlay({bytea} placing {bytea} from {int4} for {int4})"), ("int4", "position({text} in {text})"), ("int4", "position({bytea} in {bytea})"),
    ("text", "substring({text} from {int4})"), ("text", "substring({text} from {int4} for {int4})"), ("text", "substring({text} for {int4})"),
    ("text", "substring({text} from {text})"), ("text", "substring({text} similar {text} escape '#')"), ("bytea", "substring({bytea} from {int4} for {int4})"),
    ("text", "trim({text})"), ("text", "trim(both {text} from {text})"), ("text", "trim(leading from {text})"), ("text", "trim(trailing {text} from {text})"),
    ("bytea", "trim({bytea} from {bytea})"), ("text", "({text} || {ANY})"), ("text", "({ANY} || {text})"), ("text", "({text} collate \"C\")"),
    ("timestamptz", "({timestamp} at time zone {ZONE})"), ("timestamp", "({timestamptz} at time zone {ZONE})"), ("timetz", "({timetz} at time zone {ZONE})"),
    ("timestamp", "({timestamptz} at time zone {interval})"), ("timestamptz", "({timestamp} at time zone {interval})"),
    ("numeric", "extract({FIELD} from {timestamp})"), ("numeric", "extract({FIELD} from {timestamptz})"), ("numeric", "extract({FIELD} from {date})"),
    ("numeric", "extract({FIELD} from {interval})"), ("numeric", "extract({FIELD} from {time})"), ("numeric", "extract({FIELD} from {timetz})"),
    ("float8", "date_part('{FIELD}', {timestamp})"), ("float8", "date_part('{FIELD}', {interval})"), ("timestamp", "date_trunc('{FIELD}', {timestamp})"),
    ("timestamptz", "date_trunc('{FIELD}', {timestamptz})"), ("interval", "date_trunc('{FIELD}', {interval})"), ("timestamptz", "date_trunc('{FIELD}', {timestamptz}, {ZONE})"),
    ("numeric", "({numeric})::numeric(5,2)"), ("numeric", "({numeric})::numeric(3,-2)"), ("numeric", "({int4})::numeric(3,5)"), ("numeric", "({text})::numeric(10,3)"),
    ("varchar", "({text})::varchar(3)"), ("bpchar", "({text})::char(5)"), ("bpchar", "({text})::char"), ("varchar", "({ANY})::varchar(4)"), ("timestamp", "({timestamp})::timestamp(2)"),
    ("timestamptz", "({timestamptz})::timestamptz(0)"), ("time", "({time})::time(3)"), ("timetz", "({timetz})::timetz(1)"), ("interval", "({interval})::interval(1)"),
    ("interval", "({interval})::interval day to second"), ("interval", "({interval})::interval year to month"), ("interval", "({interval})::interval hour"),
    ("interval", "interval {INTERVAL} minute to second"), ("interval", "interval {INTERVAL} day"), ("interval", "interval {INTERVAL} year to month"),
    ("_varchar", "({_text})::varchar(2)[]"), ("_numeric", "({_numeric})::numeric(4,1)[]"), ("text", "({ANY})::text"),
    ("regtype", "pg_typeof({BUILT_IN})"), ("text", "concat({ANY}, {ANY}, {ANY})"), ("text", "concat_ws({text}, {ANY}, {ANY})"), ("text", "format({FORMAT}, {ANY}, {ANY})"),
    ("int4", "num_nulls({ANY}, {ANY})"), ("text", "to_char({timestamp}, {DATE_FORMAT})"), ("text", "to_char({timestamptz}, {DATE_FORMAT})"),
    ("text", "to_char({interval}, {DATE_FORMAT})"), ("text", "to_char({numeric}, {NUMBER_FORMAT})"), ("text", "to_char({int4}, {NUMBER_FORMAT})"),
    ("text", "to_char({int8}, {NUMBER_FORMAT})"), ("text", "to_char({float8}, {NUMBER_FORMAT})"), ("text", "to_char({float4}, {NUMBER_FORMAT})"),
    ("date", "to_date(to_char({timestamp}, {DATE_FORMAT}), {DATE_FORMAT})"), ("numeric", "to_number(to_char({numeric}, {NUMBER_FORMAT}), {NUMBER_FORMAT})"),
    ("timestamptz", "to_timestamp({text}, {DATE_FORMAT})"), ("numeric", "to_number({text}, {NUMBER_FORMAT})"),
]
WORDS = {
    "FIELD": ["year", "month", "day", "hour", "minute", "second", "milliseconds", "microseconds", "century", "decade", "millennium", "quarter", "week", "dow",
              "isodow", "doy", "isoyear", "epoch", "julian", "timezone", "timezone_hour", "timezone_minute", "fortnight"],
    "ZONE": ["'UTC'", "'America/New_York'", "'Asia/Kolkata'", "'EST'", "'PST8PDT'", "'+03:30'", "'Nowhere'", "'Europe/Berlin'", "'edt'", "'-15:59:59'", "'XYZ-3'"],
    "INTERVAL": ["'1'", "'1-2'", "'1 2:03:04.56'", "'10:20'", "'-5'", "'1.5'", "'1 day'", "'99999999999'"],
    "FORMAT": ["'%s|%s'", "'%I %L'", "'%2$s %1$s'", "'%-10s<'", "'%10s<'", "'%*s'", "'%%'", "'%s'", "'%s %s %s'", "'%1$'", "'%x'", "null"],
    "DATE_FORMAT": ["'YYYY-MM-DD HH24:MI:SS.US'", "'Day, DD Month YYYY'", "'IYYY-IW-ID'", "'HH12:MI AM'", "'J'", "'Q WW W CC D DDD'", "'FMMonth FMDDth, YYYY BC'",
                    "'TZ OF TZH:TZM'", "'SSSS MS US FF3'", "'RM rm Mon MON'", "'Y,YYY'", "'YY \"text\" YYYY'", "'FXYYYY MM'", "'ad A.D.'", "''", "null", "'YYYYth TMDay'"],
    "NUMBER_FORMAT": ["'999.99'", "'FM000.00'", "'S99,999'", "'9.99EEEE'", "'RN'", "'FMRN'", "'MI999PL'", "'PR999'", "'999PR'", "'L99.9'", "'99V99'", "'9999th'", "'0D9G9'", "''",
                      "'SG9.9'", "'FM99999999999999999999.999'", "'B99'", "'$99'", "null", "'TH9'", "'.99'", "'9.'"],
}
