#!/usr/bin/env python3
"""Fills in the answers of data/functions.txt from a PostgreSQL 15 server.

A line is: operation, settings, arguments..., `=`, expected - separated by tabs. The expected text is what the server prints for the
operation's SQL below, NULL, or `!SQLSTATE message`. functions_test.cpp does the same operations with ours.

Usage: record_functions.py PSQL_ARGUMENTS... < inputs > data/functions.txt     (answers already there are replaced)
"""
import re
import subprocess
import sys

N, I, D, T, Z, V = "numeric", "integer", "date", "timestamp", "timestamptz", "interval"


def call(name, *types):
    return name + "(" + ", ".join("{%d}::%s" % (i, t) for i, t in enumerate(types)) + ")"


def binary(operator, left, right):
    return "{0}::%s %s {1}::%s" % (left, operator, right)


OPERATIONS = {
    "numeric+": binary("+", N, N), "numeric-": binary("-", N, N), "numeric*": binary("*", N, N),
    "numeric/": binary("/", N, N), "numeric%": binary("%", N, N), "numeric_div": call("div", N, N),
    "numeric_neg": "- {0}::numeric", "numeric_abs": call("abs", N), "numeric_sign": call("sign", N),
    "numeric_round": call("round", N, I), "numeric_trunc": call("trunc", N, I), "numeric_ceil": call("ceil", N),
    "numeric_floor": call("floor", N), "numeric_sqrt": call("sqrt", N), "numeric_exp": call("exp", N),
    "numeric_ln": call("ln", N), "numeric_log": call("log", N, N), "numeric_power": call("power", N, N),
    "numeric_factorial": call("factorial", "bigint"), "numeric_gcd": call("gcd", N, N), "numeric_lcm": call("lcm", N, N),
    "numeric_scale": call("scale", N), "numeric_min_scale": call("min_scale", N),
    "numeric_trim_scale": call("trim_scale", N), "numeric_width_bucket": call("width_bucket", N, N, N, I),
    "numeric_cmp": "case when {0}::numeric < {1}::numeric then -1 when {0}::numeric > {1}::numeric then 1 else 0 end",
    "numeric_int2": "{0}::numeric::smallint", "numeric_int4": "{0}::numeric::integer", "numeric_int8": "{0}::numeric::bigint",
    "numeric_float8": "{0}::numeric::double precision", "numeric_float4": "{0}::numeric::real",
    "float8_numeric": "{0}::double precision::numeric", "float4_numeric": "{0}::real::numeric",
    "float8_int4": "{0}::double precision::integer", "float8_int8": "{0}::double precision::bigint",
    "float8_float4": "{0}::double precision::real", "float8_power": call("power", "double precision", "double precision"),
    "float8+": binary("+", "double precision", "double precision"), "float8*": binary("*", "double precision", "double precision"),
    "float8/": binary("/", "double precision", "double precision"), "float4*": binary("*", "real", "real"),
    "float8_exp": call("exp", "double precision"), "float8_ln": call("ln", "double precision"),
    "float8_sqrt": call("sqrt", "double precision"), "float8_asin": call("asin", "double precision"),
    "int4+": binary("+", I, I), "int4*": binary("*", I, I), "int4/": binary("/", I, I), "int4%": binary("%", I, I),
    "int2*": binary("*", "smallint", "smallint"), "int8-": binary("-", "bigint", "bigint"), "int8/": binary("/", "bigint", "bigint"),
    "int4_gcd": call("gcd", I, I), "int4_lcm": call("lcm", I, I), "int4<<": binary("<<", I, I), "int4>>": binary(">>", I, I),
    "date+": binary("+", D, I), "date-date": binary("-", D, D), "date_timestamp": "{0}::date::timestamp",
    "date_timestamptz": "{0}::date::timestamptz", "timestamp_date": "{0}::timestamp::date",
    "timestamptz_date": "{0}::timestamptz::date", "timestamp_timestamptz": "{0}::timestamp::timestamptz",
    "timestamptz_timestamp": "{0}::timestamptz::timestamp", "timestamp_time": "{0}::timestamp::time",
    "timestamptz_time": "{0}::timestamptz::time", "interval_time": "{0}::interval::time",
    "timestamp+": binary("+", T, V), "timestamp-": binary("-", T, V), "timestamp-timestamp": binary("-", T, T),
    "timestamptz+": binary("+", Z, V), "timestamptz-": binary("-", Z, V), "time+": binary("+", "time", V),
    "time-": binary("-", "time", V), "time-time": binary("-", "time", "time"), "date+time": binary("+", D, "time"),
    "timestamp_age": call("age", T, T), "timestamptz_age": call("age", Z, Z),
    "date_cmp_timestamp": "case when {0}::date < {1}::timestamp then -1 when {0}::date > {1}::timestamp then 1 else 0 end",
    "make_date": call("make_date", I, I, I), "make_time": call("make_time", I, I, "double precision"),
    "make_timestamp": call("make_timestamp", I, I, I, I, I, "double precision"), "to_timestamp": call("to_timestamp", "double precision"),
    "extract_date": "extract({0} from {1}::date)", "extract_time": "extract({0} from {1}::time)",
    "extract_timestamp": "extract({0} from {1}::timestamp)", "extract_timestamptz": "extract({0} from {1}::timestamptz)",
    "extract_interval": "extract({0} from {1}::interval)",
    "trunc_timestamp": "date_trunc({0}, {1}::timestamp)", "trunc_timestamptz": "date_trunc({0}, {1}::timestamptz)",
    "trunc_interval": "date_trunc({0}, {1}::interval)", "date_bin": call("date_bin", V, T, T),
    "interval+": binary("+", V, V), "interval-": binary("-", V, V), "interval_neg": "- {0}::interval",
    "interval*": binary("*", V, "double precision"), "interval/": binary("/", V, "double precision"),
    "justify_hours": call("justify_hours", V), "justify_days": call("justify_days", V), "justify_interval": call("justify_interval", V),
    "interval_cmp": "case when {0}::interval < {1}::interval then -1 when {0}::interval > {1}::interval then 1 else 0 end",
    "substring": "substring({0}::text from {1}::integer)", "substring3": "substring({0}::text from {1}::integer for {2}::integer)",
    "left": call("left", "text", I), "right": call("right", "text", I), "position": "position({1}::text in {0}::text)",
    "overlay": "overlay({0}::text placing {1}::text from {2}::integer for {3}::integer)", "btrim": call("btrim", "text", "text"),
    "ltrim": call("ltrim", "text", "text"), "rtrim": call("rtrim", "text", "text"), "lpad": call("lpad", "text", I, "text"),
    "rpad": call("rpad", "text", I, "text"), "repeat": call("repeat", "text", I), "replace": call("replace", "text", "text", "text"),
    "translate": call("translate", "text", "text", "text"), "reverse": call("reverse", "text"),
    "split_part": call("split_part", "text", "text", I), "upper": call("upper", "text"), "lower": call("lower", "text"),
    "initcap": call("initcap", "text"), "ascii": call("ascii", "text"), "chr": call("chr", I), "length": call("length", "text"),
    "quote_ident": call("quote_ident", "text"), "quote_literal": call("quote_literal", "text"),
    "like": "{0}::text like {1}::text", "ilike": "{0}::text ilike {1}::text", "like_escape": call("like_escape", "text", "text"),
    "encode": "encode(decode({0}, 'hex'), {1}::text)", "decode": "encode(decode({0}::text, {1}::text), 'hex')",
    "format_type": "format_type({0}::oid, {1}::integer)",
}


def quote(text):
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def main():
    rows = []
    script = ["\\set VERBOSITY verbose", "\\pset format unaligned", "\\pset tuples_only on", "\\pset null NULL"]
    for line in sys.stdin:
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            rows.append(line)
            continue
        fields = line.split("\t")
        if "=" in fields[2:]:
            fields = fields[: 2 + fields[2:].index("=")]
        rows.append(fields)
        script += ["\\echo @@row", "begin;"]
        for setting in filter(None, fields[1].split(";")):
            name, value = setting.split("=", 1)
            script.append(f"set {name} = '{value}';")
        script.append("select " + OPERATIONS[fields[0]].format(*map(quote, fields[2:])) + ";")
        script.append("rollback;")
    run = subprocess.run(["psql", "-X", "-q", *sys.argv[1:]], input="\n".join(script), text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=True)
    answers = iter(run.stdout.split("@@row\n")[1:])
    for row in rows:
        if isinstance(row, str):
            print(row)
            continue
        answer = next(answers)
        error = re.search(r"ERROR:\s+(\w{5}): (.*)", answer)
        print("\t".join([*row, "=", "!" + error[1] + " " + error[2] if error else answer.rstrip("\n").replace("\n", "\\n")]))


main()
