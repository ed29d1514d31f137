"""Random tables, SELECTs over them and changes: what joins, outer joins, LATERAL, EXISTS, IN and their negations, nested, may read
of each other, set operations, groups, LIMIT and WITH in them, and memberships in lists and arrays of many lengths and types, with
many NULLs."""
import random

from random_orders import RandomOrders

TABLES = ("t1", "t2", "t3", "t4")
COLUMNS = ("a", "b", "c", "d")
DERIVED = ("v", "w")
CHANGED = "t5"  # only its key is unique: no change's errors depend on the order of rows
# How a column is looked up as a value of a type, and a number written as one.
MEMBERS = {
    "int": ("{}", "{}"), "bigint": ("{}", "{}"), "smallint": ("{}", "{}"), "numeric": ("{}::numeric", "{}.0"),
    "float8": ("{}::float8", "{}e0"), "text": ("{}::text", "'{}'"), "bpchar": ("{}::text::char(3)", "'{} '"),
    "date": ("date '2000-01-01' + {}", "'2000-01-{:0>2}'"), "timestamp": ("timestamp '2000-01-01' + {} * interval '1 hour'",
                                                                          "'2000-01-01 {:0>2}:00'"),
    "boolean": ("({} > 2)", "({} > 2)"), "oid": ("{}::oid", "{}"), "interval": ("{} * interval '1 hour'", "'{} hours'"),
}


class RandomQueries(RandomOrders):
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0
        self.shared = []  # WITH queries in sight

    def chance(self, share):
        return self.random.random() < share

    def one(self, *of):
        return self.random.choice(of)

    def weighted(self, **weights):
        """One of the names, the heavier the more often."""
        return self.random.choices(list(weights), list(weights.values()))[0]

    def number(self, below):
        return str(self.random.randrange(below))

    # --- tables: few rows of few values, in some tables none; indexes here and there ---

    def tables(self):
        for table in TABLES:
            unique = (", unique (c)" if self.chance(0.4) else "") + (", unique (b, d)" if self.chance(0.3) else "")
            yield f"drop table if exists {table}"
            yield f"create table {table} (a int primary key, b int, c int, d int not null{unique})"
            values = self.one(4, 10)
            for i in range(self.one(0, 3, 6, 12, 30)):
                key = i if self.chance(0.9) else i + 100
                b, c = ("null" if self.chance(0.25) else self.number(values) for _ in range(2))
                yield f"insert into {table} values ({key}, {b}, {c}, {self.number(values)}) on conflict do nothing"
            if self.chance(0.5):
                yield f"create index on {table} (b)"
            if self.chance(0.4):
                yield f"create index on {table} (c, d)"

        yield f"drop table if exists {CHANGED}"
        yield f"create table {CHANGED} (a int primary key, b int, c int, d int not null)"
        yield f"insert into {CHANGED} select a, b, c, d from {self.one(*TABLES)}"
        if self.chance(0.5):
            yield f"create index on {CHANGED} (b, c)"
        yield from self.big_tables()
        yield from self.switches()

    # --- changes, what they return and what they leave; the rows in any order ---

    def change(self):
        self.names = 0
        target = [("x0", COLUMNS)]
        kind = self.one("update", "update_from", "delete", "delete_using", "insert", "upsert")
        condition = self.condition(target, [], self.one(1, 2, 2))
        if kind == "update":
            statement = f"update {CHANGED} x0 set {self.assignments(target)} where {condition}"
        elif kind == "update_from":
            both = target + [("y0", DERIVED)]
            statement = (f"update {CHANGED} x0 set {self.assignments(both)} from ({self.one_row_each()}) y0 "
                         f"where x0.a = y0.v and {self.condition(both, [], 1)}")
        elif kind == "delete":
            statement = f"delete from {CHANGED} x0 where {condition}"
        elif kind == "delete_using":
            source, scope = self.source([], 1)
            statement = f"delete from {CHANGED} x0 using {source} where {self.condition(target + scope, [], 2)}"
        else:
            statement = f"insert into {CHANGED} as x0 (a, b, d) select y0.v, y0.w, coalesce(y0.w, 1) from ({self.one_row_each()}) y0"
            if kind == "upsert":
                both = target + [("excluded", COLUMNS)]
                statement += f" on conflict (a) do update set {self.assignments(both)} where {self.condition(both, [], 1)}"
            else:
                statement += " on conflict do nothing"
        returned = ", ".join(self.target(target, [], 2) for _ in range(self.one(1, 3)))
        return f"begin; {statement} returning {returned}; select * from {CHANGED}; rollback"

    def one_row_each(self):
        return f"select q.v, max(q.w) w from ({self.subquery([], 2, 2, *DERIVED)}) q where q.v is not null group by q.v"

    def assignments(self, scope):
        values = {column: self.target(scope, [], 2) for column in ("b", "c", "d") if self.chance(0.6)}
        if "d" in values:
            values["d"] = f"coalesce({values['d']}, 0)"
        if len(values) == 2 and self.chance(0.3):
            # Of one subquery, which may have no row, or too many.
            left = ", ".join(values)
            return f"({left}) = ({self.subquery(scope, 1, 2)})"
        return ", ".join(f"{column} = {value}" for column, value in values.items()) or "b = 7"

    # --- queries; a scope is a list of (alias, columns) ---

    def statement(self):
        kind = self.weighted(change=15, query=45, ordered=40)
        return {"change": self.change, "query": self.query, "ordered": self.ordered_query}[kind]()

    def query(self):
        """With an order that leaves nothing open."""
        self.names = 0
        source, scope = self.source([], 2)
        where = self.condition(scope, [], self.one(1, 2, 2, 3)) if self.chance(0.5) else "true"
        targets = [f"{alias}.{column}" for alias, columns in scope for column in columns]
        self.random.shuffle(targets)
        del targets[8:]
        if self.chance(0.1):
            return f"select * from ({self.shared_query([], 3, 2, DERIVED)}) q order by 1, 2 limit 200"
        if self.chance(0.15):
            return f"select count(*), sum({targets[0]}) from {source} where {where}"
        order = ", ".join(str(i + 1) for i in range(len(targets)))
        return f"select {', '.join(targets)} from {source} where {where} order by {order} limit 200"

    def alias(self):
        self.names += 1
        return f"x{self.names}"

    def column(self, scope, outer=()):
        alias, columns = self.random.choice(outer if outer and self.chance(0.45) else scope)
        return f"{alias}.{self.random.choice(columns)}"

    def comparison(self, scope, outer=()):
        left, right = self.column(scope, outer), self.column(scope, outer)
        kind = self.weighted(equal=50, constant=12, order=10, null=9, distinct=5, coalesce=6, sum=4, listed=4, member=12,
                             row=4)
        if kind == "member":
            return self.membership(left, scope, outer)
        if kind == "row":
            return self.row_membership(left, right)
        return {
            "equal": f"{left} = {right}",
            "constant": f"{left} = {self.number(6)}",
            "order": f"{left} {self.one('<', '>', '<=', '<>')} {right}",
            "null": f"{left} is {self.one('', '', 'not ')}null",
            "distinct": f"{left} is {self.one('', 'not ')}distinct from {right}",
            "coalesce": f"coalesce({left}, {self.number(5)}) = {self.one(right, self.number(5))}",
            "sum": f"{left} + {right} = {self.number(8)}",
            "listed": f"{left} in ({self.number(5)}, {self.number(5)})",
        }[kind]

    def elements(self, form, count):
        return ["null" if self.chance(0.06) else form.format(self.number(13)) for _ in range(count)]

    def membership(self, column, scope, outer):
        kind = self.one(*MEMBERS)
        operand, form = MEMBERS[kind]
        operand = f"({operand.format(column)})"
        elements = self.elements(form, self.one(1, 2, 5, 8, 9, 10, 15, 30))
        listed = ", ".join(elements)
        operator = self.one("= any", "<> all", "= any", "<> all", "= all", "<> any", "< any", ">= all")
        if self.chance(0.08):
            # Of another row, or evaluated.
            number = self.column(outer or scope)
            return f"{column} {operator} (array[{number}, {', '.join(self.elements('{}', self.one(3, 12)))}])"
        if self.chance(0.1):
            numbers = ",".join(self.number(13) for _ in range(self.one(3, 12)))
            return f"{column} {operator} (string_to_array('{numbers}', ',', {self.one('null', repr('3'))})::int[])"
        if self.chance(0.05):
            return f"{column} {operator} (array(select q.{self.one(*COLUMNS)} from {self.one(*TABLES)} q))"
        return self.one(f"{operand} in ({listed})", f"{operand} not in ({listed})", f"{operand} {operator} (array[{listed}]::{kind}[])",
                        f"{operand} {operator} ('{{}}'::{kind}[])" if self.chance(0.1) else f"{operand} = any (array[{listed}]::{kind}[])")

    def row_membership(self, left, right):
        rows = ", ".join(f"({', '.join(self.elements('{}', 2))})" for _ in range(self.one(1, 4, 9, 12, 25)))
        return f"({left}, {right}) {self.one('in', 'not in')} ({rows})"

    def condition(self, scope, outer, depth, nesting=3):
        parts = []
        for _ in range(self.one(1, 1, 2, 2, 3)):
            kind = self.weighted(sublink=62 if depth > 0 else 0, either=8 if depth > 0 and nesting > 0 else 0,
                                 negation=5 if nesting > 0 else 0, comparison=25)
            if kind == "sublink":
                parts.append(self.sublink(scope, outer, depth - 1))
            elif kind == "either":
                both = (self.condition(scope, outer, depth - 1, nesting - 1) for _ in range(2))
                parts.append("(" + " or ".join(both) + ")")
            elif kind == "negation":
                parts.append(f"not ({self.condition(scope, outer, max(depth - 1, 0), nesting - 1)})")
            else:
                parts.append(self.comparison(scope, outer))
        return " and ".join(parts)

    def sublink(self, scope, outer, depth):
        around = scope + outer if self.chance(0.4) else scope
        kind = self.weighted(exists=60, listed=30, pair=4, quantified=3, aggregate=3)
        if kind == "exists":
            return f"{self.one('', 'not ')}exists ({self.subquery(around, depth, 1)})"
        if kind == "listed":
            return f"{self.column(scope)} {self.one('in', 'in', 'not in')} ({self.subquery(around, depth, 1)})"
        if kind == "pair":
            return f"({self.column(scope)}, {self.column(scope)}) in ({self.subquery(around, depth, 2)})"
        if kind == "quantified":
            operator = f"{self.one('=', '<', '<>', '>=')} {self.one('any', 'all')}"
            return f"{self.column(scope)} {operator} ({self.subquery(around, depth, 1)})"
        aggregate = self.one("max", "min", "count")
        return f"{self.column(scope)} = (select {aggregate}(q.v) from ({self.subquery(around, depth, 1, 'v')}) q)"

    def subquery(self, outer, depth, width, *names):
        operations = self.one(1, 1, 2, 3) if self.chance(0.12) else 0
        return self.set_operations(outer, depth, width, names, operations)

    def set_operations(self, outer, depth, width, names, operations):
        """A tree of so many; the leaves refer to the same queries around them, however deep they are in it."""
        if operations == 0:
            return self.plain_subquery(outer, depth, width, names)
        on_the_left = self.random.randrange(operations)
        sides = [self.set_operations(outer, max(depth - 1, 0), width, names, count)
                 for count in (on_the_left, operations - 1 - on_the_left)]
        operator = self.one("union all", "union all", "union", "intersect", "intersect all", "except", "except all")
        return f"({sides[0]}) {operator} ({sides[1]})"

    def plain_subquery(self, outer, depth, width, names):
        kind = self.weighted(plain=75, distinct=5, limited=6, grouped=7, aggregated=3, shared=8 if depth > 0 else 0)
        if kind == "shared":
            return self.shared_query(outer, depth, width, names)
        source, scope = self.source(outer, depth)
        conditions = [self.condition(scope, outer, depth)] if self.chance(0.45) else []
        if outer and self.chance(0.4):
            conditions.append(f"{self.column(scope)} = {self.column(outer)}")
        where = " where " + " and ".join(conditions) if conditions else ""
        targets = [self.target(scope, outer, depth) for _ in range(width)]
        keys = ", ".join(str(i + 1) for i in range(width))
        if kind == "grouped":
            targets = self.columns_and_aggregates(scope, outer, width)
            where += f" group by {targets[0]}"
            if self.chance(0.5):
                where += f" having {self.of_groups(scope, targets[0])}"
        elif kind == "aggregated":
            targets = [self.aggregate(scope, outer) for _ in range(width)]
        elif kind == "limited":
            where += f" order by {keys} limit {self.number(5)}" + (f" offset {self.number(3)}" if self.chance(0.3) else "")
        if names:
            targets = [f"{target} as {name}" for target, name in zip(targets, names)]
        distinct = "distinct " if kind == "distinct" else ""
        return f"select {distinct}{', '.join(targets)} from {source}{where}"

    def target(self, scope, outer, depth):
        column = self.column(scope, outer if self.chance(0.2) else ())
        if depth > 0 and self.chance(0.06):
            aggregate = self.one("max", "min", "count")
            return f"(select {aggregate}(q.v) from ({self.subquery(scope + outer, depth - 1, 1, 'v')}) q)"
        if self.chance(0.1):
            return self.one(f"coalesce({column}, {self.number(4)})", f"case when {column} > 2 then {self.column(scope)} end",
                            f"{column} + 1")
        return column

    def aggregate(self, scope, outer):
        column = self.column(scope, outer if self.chance(0.15) else ())
        # An argument of the query around it alone would be that query's aggregate.
        own = f"coalesce({column}, {self.column(scope)})"
        distinct = "distinct " if self.chance(0.2) else ""
        condition = f" filter (where {self.comparison(scope)})" if self.chance(0.2) else ""
        return f"{self.one('max', 'min', 'count', 'sum')}({distinct}{own}){condition}"

    def of_groups(self, scope, key):
        table, column = self.one(*TABLES), self.one(*COLUMNS)
        # The subquery's aggregate is that of the query around it.
        around = f"{self.one('max', 'min', 'count')}({self.column(scope)})"
        return self.one(f"count(*) {self.one('>', '<=')} {self.number(3)}",
                        f"{self.one('', 'not ')}exists (select from {table} q where q.{column} {self.one('=', '<')} {around})",
                        f"{key} {self.one('in', 'not in')} (select q.{column} from {table} q where q.d <= {around})",
                        f"(select count(*) from {table} q where q.{column} = {key}) >= {around}")

    def columns_and_aggregates(self, scope, outer, width):
        return [self.column(scope)] + [self.aggregate(scope, outer) for _ in range(width - 1)]

    def shared_query(self, outer, depth, width, names):
        """WITH, read by what stands behind it, however deep, once or more often or not at all."""
        definition, name = self.definition(outer, depth - 1)
        self.shared.append(name)
        body = self.set_operations(outer, depth - 1, width, names, self.one(0, 0, 1, 2))
        self.shared.pop()
        return f"{definition} {body}"

    def definition(self, outer, depth):
        name = f"s{self.alias()}"
        kept = self.one("", "", "materialized ", "not materialized ")
        return f"with {name} as {kept}({self.subquery(outer, depth, 2, *DERIVED)})", name

    # --- FROM: `outer` are the queries around it, `beside` what LATERAL sees to the left ---

    def source(self, outer, depth):
        text, scope = self.chain(outer, [], depth, self.one(0, 0, 1, 1, 2))
        if self.chance(0.15):
            other, others = self.chain(outer, scope, max(depth - 1, 0), self.one(0, 0, 1))
            text, scope = f"{text}, {other}", scope + others
        return text, scope

    def chain(self, outer, beside, depth, joins):
        text, scope = self.item(outer, beside, depth)
        for _ in range(joins):
            text, scope = self.joined(text, scope, outer, beside, depth)
        return text, scope

    def item(self, outer, beside, depth):
        alias = self.alias()
        table = self.random.choice(TABLES)
        deep = 1 if depth > 0 else 0
        kind = self.weighted(table=70, tree=14 * deep, subquery=10 * deep, lateral=40 * deep if beside else 0, grouped=6 * deep,
                             shared=60 if self.shared else 0, listed=5, counted=4)
        if kind == "shared":
            return f"{self.one(*self.shared)} {alias}", [(alias, DERIVED)]
        if kind == "listed":
            rows = ", ".join(f"({self.value(beside + outer)}, {self.value(beside + outer)})" for _ in range(self.one(1, 2, 5)))
            return f"lateral (values {rows}) {alias} (v, w)", [(alias, DERIVED)]
        if kind == "counted":
            numbers = self.one(f"generate_series(0, least({self.value(beside + outer)}, 4))",
                               f"unnest(array[{self.value(beside + outer)}, {self.value([])}, 2])")
            return f"{numbers} with ordinality {alias} (v, w)", [(alias, DERIVED)]
        if kind == "tree":
            text, scope = self.chain(outer, beside, depth - 1, self.one(1, 1, 2))
            return f"({text})", scope
        if kind == "subquery":
            return f"({self.subquery([], depth - 1, 2, *DERIVED)}) {alias}", [(alias, DERIVED)]
        if kind == "lateral":
            return f"lateral ({self.subquery(beside + outer, depth - 1, 2, *DERIVED)}) {alias}", [(alias, DERIVED)]
        if kind == "grouped":
            return f"(select b v, count(*) w from {table} group by b) {alias}", [(alias, DERIVED)]
        return f"{table} {alias}", [(alias, COLUMNS)]

    def value(self, seen):
        if seen and self.chance(0.4):
            return self.column(seen)
        return self.number(6) if self.chance(0.9) else "null::int"

    def joined(self, text, scope, outer, beside, depth):
        join = self.weighted(**{"join": 30, "left join": 40, "right join": 12, "full join": 10, "cross join": 8})
        # What a right or full join adds, its left side cannot be read for.
        seen = beside + scope if join in ("join", "left join", "cross join") else []
        other, others = self.item(outer, seen, depth)
        both = scope + others
        if join == "cross join":
            return f"{text} {join} {other}", both
        return f"{text} {join} {other} on {self.decides(join, scope, others, outer, depth)}", both

    def decides(self, join, left, right, outer, depth):
        """What stands behind ON."""
        across = f"{self.column(left)} = {self.column(right)}"
        if join == "full join":
            return across if self.chance(0.9) else "true"
        parts = [across] if self.chance(0.75) else []
        for _ in range(self.one(0, 0, 1, 1, 2)):
            kind = self.weighted(both=20, side=20, spread=20, outer=60 if outer else 0, missing=20 if outer else 0,
                                 sublink=10 if depth > 0 else 0)
            if kind == "both":
                parts.append(self.comparison(left + right))
            elif kind == "side":
                parts.append(self.comparison(self.one(left, right, right)))
            elif kind == "spread":
                # An equality and a constant together, which tell of another column.
                side = self.one(left, right, right)
                known = self.column(side)
                parts.append(f"{self.column(side)} = {known} and {known} = {self.number(6)}")
            elif kind == "outer":
                parts.append(self.comparison(outer) if self.chance(0.3) else self.comparison(left + right, outer))
            elif kind == "missing":
                # What is true of the rows that an outer join around it adds.
                column = self.column(outer)
                parts.append(self.one(f"{column} is null", f"coalesce({column}, 1) = 1"))
            else:
                parts.append(self.sublink(left + right, [], depth - 1))
        return " and ".join(parts) if parts else "true"
