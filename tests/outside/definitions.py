"""An actor that makes, changes, renames, empties and drops a table of its own, and knows all of it."""
import dataclasses

from actor import Actor


@dataclasses.dataclass(frozen=True)
class Table:
    name: str
    columns: tuple  # behind id
    rows: frozenset  # of (id, the same text in each column's place)
    indexed: bool = False

    def with_column(self, column, value):
        return dataclasses.replace(self, columns=(*self.columns, column), rows=frozenset((*row, value) for row in self.rows))

    def without_column(self, place):
        keep = [number for number in range(len(self.columns)) if number != place]
        return dataclasses.replace(self, columns=tuple(self.columns[number] for number in keep), indexed=self.indexed and place != 0,
                                   rows=frozenset((row[0], *(row[1 + number] for number in keep)) for row in self.rows))


class Definitions(Actor):
    def prepare(self, client):
        self.state, self.made = None, 0

    def new_name(self):
        self.made += 1
        return f"{self.name}_{self.made}"

    def step(self, client):
        if self.state is None:
            return self.make(self.new_name())
        steps = [self.make_again, self.drop, self.insert, self.insert, self.delete, self.update, self.truncate, self.rename, self.add_column,
                 self.rename_column, self.drop_column, self.index, self.index]
        self.random.choice(steps)(self.state)

    def rows(self, count, columns=1):
        base = self.random.randrange(1000)
        return frozenset((number, *[f"{base + number}"] * columns) for number in range(count))

    def values(self, rows):
        return ", ".join("(" + ", ".join([str(row[0]), *(f"'{value}'" for value in row[1:])]) + ")" for row in sorted(rows))

    def make(self, name, *before):
        if self.random.random() < 0.3:
            rows = frozenset((number, f"x{number}") for number in range(1, 301))
            return self.statements(Table(name, ("a",), rows), *before,
                                   f"CREATE TABLE {name} AS SELECT i AS id, 'x' || i AS a FROM generate_series(1, 300) i",
                                   *(["COMMIT"] if before else []))
        rows = self.rows(100)
        begin = before or ("BEGIN",)
        return self.statements(Table(name, ("a",), rows), *begin, f"CREATE TABLE {name} (id int PRIMARY KEY, a text)",
                               f"INSERT INTO {name} VALUES {self.values(rows)}", "COMMIT")

    def make_again(self, table):
        """Another table of the same name."""
        self.make(table.name, "BEGIN", f"DROP TABLE {table.name}")

    def drop(self, table):
        self.statements(None, f"DROP TABLE {table.name}")

    def insert(self, table):
        above = 1 + max((row[0] for row in table.rows), default=0)
        rows = frozenset((above + row[0], *row[1:]) for row in self.rows(20, len(table.columns)))
        self.statements(dataclasses.replace(table, rows=table.rows | rows), f"INSERT INTO {table.name} VALUES {self.values(rows)}")

    def delete(self, table):
        rest = self.random.randrange(3)
        self.statements(dataclasses.replace(table, rows=frozenset(row for row in table.rows if row[0] % 3 != rest)),
                        f"DELETE FROM {table.name} WHERE id % 3 = {rest}")

    def update(self, table):
        if not table.columns:
            return
        place = self.random.randrange(len(table.columns))
        word = f"u{self.random.randrange(1000)}"
        rows = frozenset((*row[:place + 1], word, *row[place + 2:]) for row in table.rows)
        self.statements(dataclasses.replace(table, rows=rows), f"UPDATE {table.name} SET {table.columns[place]} = '{word}'")

    def truncate(self, table):
        rows = self.rows(30, len(table.columns))
        self.statements(dataclasses.replace(table, rows=rows), "BEGIN", f"TRUNCATE {table.name}",
                        f"INSERT INTO {table.name} VALUES {self.values(rows)}", "COMMIT")

    def rename(self, table):
        name = self.new_name()
        self.statements(dataclasses.replace(table, name=name), f"ALTER TABLE {table.name} RENAME TO {name}")

    def add_column(self, table):
        if len(table.columns) < 4:
            column = f"c{self.random.randrange(10 ** 6)}"
            self.statements(table.with_column(column, "7"), f"ALTER TABLE {table.name} ADD COLUMN {column} text DEFAULT '7'")

    def rename_column(self, table):
        if table.columns:
            column = f"c{self.random.randrange(10 ** 6)}"
            self.statements(dataclasses.replace(table, columns=(column, *table.columns[1:])),
                            f"ALTER TABLE {table.name} RENAME COLUMN {table.columns[0]} TO {column}")

    def drop_column(self, table):
        if len(table.columns) > 1:
            place = self.random.randrange(len(table.columns))
            self.statements(table.without_column(place), f"ALTER TABLE {table.name} DROP COLUMN {table.columns[place]}")

    def index(self, table):
        if table.indexed:
            self.statements(dataclasses.replace(table, indexed=False), f"DROP INDEX {self.name}_index")
        elif table.columns:
            self.statements(dataclasses.replace(table, indexed=True), f"CREATE INDEX {self.name}_index ON {table.name} ({table.columns[0]})")

    def found(self, client, violations):
        names = [name for name, in client.query(f"SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE '{self.name}\\_%'")]
        violations.expect(len(names) <= 1, f"{self.name}: tables {names}")
        if not names:
            return None
        name = names[0]
        columns = [column for column, in client.query(
            f"SELECT attname FROM pg_attribute WHERE attrelid = '{name}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum")]
        rows = client.query(f"SELECT * FROM {name}")
        indexes = client.query(f"SELECT indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relname = '{self.name}_index'")
        violations.expect(columns[:1] == ["id"] and all(valid == "t" for valid, in indexes), f"{self.name}: {columns} {indexes}")
        violations.expect(len(set(rows)) == len(rows), f"{self.name}: a row twice")
        return Table(name, tuple(columns[1:]), frozenset((int(row[0]), *row[1:]) for row in rows), bool(indexes))

    def told(self, state):
        if state is None:
            return "no table"
        return f"{state.name} {state.columns} indexed {state.indexed} {len(state.rows)} rows {sorted(state.rows)[:8]}"
