"""Random SELECTs in which order matters: joins of tables with many equal values and NULLs and indexes of all directions, ORDER BY
with LIMIT, groups, DISTINCT, DISTINCT ON and aggregates that want their rows in an order. Each result has one order only: what is
selected is what it is ordered by."""

BIG = ("b1", "b2", "b3")
BIG_COLUMNS = ("a", "b", "c", "d", "s")
SWITCHES = ("enable_seqscan", "enable_hashjoin", "enable_nestloop", "enable_mergejoin", "enable_sort", "enable_hashagg",
            "enable_incremental_sort", "enable_memoize", "enable_material", "enable_bitmapscan")


class RandomOrders:
    """Beside what RandomQueries has."""

    def big_tables(self):
        for table in BIG:
            key = self.one("a", "a", "b, a", "a, d", "")
            nullable = "b" not in key and self.chance(0.6)
            primary = f", primary key ({key})" if key else ""
            yield f"drop table if exists {table}"
            yield f"create table {table} (a int not null, b int{'' if nullable else ' not null'}, c bigint, d int not null, s text{primary})"
            rows, values = self.one(0, 7, 60, 300, 300, 900), self.one(3, 12, 80)
            b = f"nullif(g * 7 % {values}, 1)" if nullable else f"g * 7 % {values}"
            yield (f"insert into {table} select g, {b}, nullif(g * 11 % {values}, 2), g * 13 % {values + 3}, "
                   f"nullif(chr(97 + g * 5 % 7) || g * 3 % {values}, 'c1') from generate_series(1, {rows}) g")
            for _ in range(self.one(0, 1, 2, 3)):
                columns = self.random.sample(BIG_COLUMNS, self.one(1, 1, 2, 3))
                keys = ", ".join(column + self.one("", "", "", " desc", " nulls first", " desc nulls last") for column in columns)
                yield f"create index on {table} ({keys})"

    def switches(self):
        """Plans that these sizes would not call for, and too little room for some."""
        for switch in SWITCHES:
            yield f"set {switch} = {'off' if self.chance(0.25) else 'on'}"
        yield f"set work_mem = '{self.one('64kB', '64kB', '4MB')}'"
        yield f"set hash_mem_multiplier = {self.one(1, 1, 2)}"

    def ordered_query(self):
        source, scope = self.joined_big_tables()
        where = f" where {self.big_condition(scope)}" if self.chance(0.6) else ""
        kind = self.weighted(plain=40, grouped=30, distinct=12, distinct_on=12, counted=10)
        limit = f" limit {self.one(1, 3, 10, 50, 400)}" if self.chance(0.7) else " limit 2000"
        limit += f" offset {self.one(1, 5, 40)}" if self.chance(0.2) else ""
        if kind == "counted":
            targets = ", ".join(self.ordered_aggregate(scope) for _ in range(self.one(1, 2, 3)))
            return f"select {targets} from {source}{where}"
        columns = list(dict.fromkeys(self.big_column(scope) for _ in range(self.one(1, 2, 2, 3, 4))))
        order = ", ".join(column + self.direction() for column in columns)
        if kind == "grouped":
            aggregates = [self.ordered_aggregate(scope) for _ in range(self.one(0, 1, 2))]
            keys = self.random.sample(columns, len(columns))
            having = f" having count(*) {self.one('>', '<')} {self.one(1, 3)}" if self.chance(0.2) else ""
            return (f"select {', '.join(columns + aggregates)} from {source}{where} group by {', '.join(keys)}{having} "
                    f"order by {order}{limit}")
        if kind == "distinct":
            return f"select distinct {', '.join(columns)} from {source}{where} order by {order}{limit}"
        if kind == "distinct_on":
            on = ", ".join(columns[:self.random.randrange(len(columns)) + 1])
            return f"select distinct on ({on}) {', '.join(columns)} from {source}{where} order by {order}{limit}"
        return f"select {', '.join(columns)} from {source}{where} order by {order}{limit}"

    def direction(self):
        return self.one("", "", "", " desc", " desc", " nulls first", " desc nulls last")

    def joined_big_tables(self):
        scope = [("y1", BIG_COLUMNS)]
        text = f"{self.one(*BIG)} y1"
        for number in range(2, self.one(1, 2, 2, 3) + 2):
            join = self.weighted(**{"join": 40, "left join": 20, "right join": 10, "full join": 15})
            right = [(f"y{number}", BIG_COLUMNS)]
            keys = [f"{self.big_column(scope, number=True)} = {self.big_column(right, number=True)}" for _ in range(self.one(1, 1, 2))]
            if self.chance(0.2):
                keys = [f"{self.one(*scope)[0]}.s = y{number}.s"]
            if join != "full join" and self.chance(0.2):
                keys.append(f"{self.big_column(scope, number=True)} {self.one('<', '<>', '>=')} {self.big_column(right, number=True)}")
            text += f" {join} {self.one(*BIG)} y{number} on {' and '.join(keys)}"
            scope = scope + right
        return text, scope

    def big_column(self, scope, number=False):
        alias, columns = self.random.choice(scope)
        return f"{alias}.{self.one(*(columns[:4] if number else columns))}"

    def big_condition(self, scope):
        parts = []
        for _ in range(self.one(1, 1, 2)):
            column, other = self.big_column(scope, number=True), self.big_column(scope, number=True)
            table, key = self.one(*BIG), self.one("a", "b", "c", "d")
            parts.append(self.one(
                f"{column} = {self.number(12)}", f"{column} < {self.number(40)}", f"{column} between {self.number(9)} and {self.number(60)}",
                f"{column} is {self.one('', 'not ')}null", f"{column} = {other}", f"{column} in ({self.number(9)}, {self.number(90)})",
                f"{self.one('', 'not ')}exists (select 1 from {table} z where z.{key} = {column})",
                f"exists (select 1 from {table} z join {self.one(*BIG)} zz on zz.b = z.{key} where z.d = {column})",
                f"{column} in (select z.{key} from {table} z where z.d < {self.number(30)})"))
        return " and ".join(parts)

    def ordered_aggregate(self, scope):
        column, by = self.big_column(scope), self.big_column(scope)
        number = self.big_column(scope, number=True)
        return self.one("count(*)", f"sum({number})", f"count(distinct {column})", f"min({column})", f"max({number})",
                        f"sum(distinct {number})", f"string_agg(distinct {column}::text, ',')",
                        f"string_agg({by}::text, ',' order by {by}{self.direction()})",
                        f"count(distinct {column}) filter (where {number} > 3)")
