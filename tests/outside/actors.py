"""The actors (actor.py) of the mixed load: rows, keys, sums, bulk loads, definitions, references, sequences."""
from actor import CONFLICTS, NOTHING, Actor
from wire_client import SqlError


def ints(rows):
    return [tuple(int(value) for value in row) for row in rows]


def pad(number, size):
    """What can be told from the number alone, so that a mixture of two rows is noticed."""
    word = f"{number}."
    return (word * (size // len(word) + 1))[:size]


def padded(number, size):
    """pad() in SQL."""
    return f"substr(repeat({number} || '.', {size} / length({number} || '.') + 1), 1, {size})"


def expect_count_to(client, violations, source):
    """The rows are numbered from 1 on; how many there are."""
    count, distinct, low, high = ints(client.query(f"SELECT count(*), count(DISTINCT n), coalesce(min(n), 1), coalesce(max(n), 0) FROM {source}"))[0]
    violations.expect(count == distinct == high and low == 1, f"{source}: {count} rows, {distinct} numbers from {low} to {high}")
    return high


class Inserter(Actor):
    """Numbers its transactions from 1 on, with rows in two tables; what is rolled back goes to a third, which stays empty."""

    def prepare(self, client):
        client.query("CREATE TABLE IF NOT EXISTS numbered (actor text, n int, size int, body text, PRIMARY KEY (actor, n));"
                     "CREATE TABLE IF NOT EXISTS keyless (actor text, n int); CREATE TABLE IF NOT EXISTS never (actor text, n int)")
        self.state = 0

    def step(self, client):
        n = self.state + 1
        size = self.random.choice([0, 20, 200, 3000, 3000, 300_000 if self.random.random() < 0.02 else 0])
        rows = [lambda: self.say("INSERT INTO numbered VALUES ($1, $2, $3, $4)", self.name, n, size, pad(n, size)),
                lambda: self.say("INSERT INTO keyless VALUES ($1, $2)", self.name, n)]
        never = [lambda: self.say("INSERT INTO never VALUES ($1, $2)", self.name, n)]
        words = {word: (lambda word=word: client.query(word)) for word in ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s")}
        kind = self.random.randrange(4)
        if kind == 0:
            self.change(n, lambda: client.query(f"INSERT INTO numbered VALUES ('{self.name}', {n}, {size}, '{pad(n, size)}');"
                                                f"INSERT INTO keyless VALUES ('{self.name}', {n})"))
        elif kind == 1:
            self.change(n, words["BEGIN"], *rows, words["SAVEPOINT s"], *never, words["ROLLBACK TO s"], words["COMMIT"])
        elif kind == 2:
            self.change(n, words["BEGIN"], *rows, words["COMMIT"])
        else:
            self.change(self.state, words["BEGIN"], *rows, *never, words["ROLLBACK"])

    def found(self, client, violations):
        expect_count_to(client, violations, f"numbered WHERE actor = '{self.name}'")
        wrong = client.query(f"SELECT n, size FROM numbered WHERE actor = '{self.name}' AND (body <> {padded('n', 'size')} OR length(body) <> size)")
        violations.expect(not wrong, f"{self.name}: rows that nobody wrote: {wrong[:5]}")
        rolled_back = client.query("SELECT * FROM never")
        violations.expect(not rolled_back, f"{self.name}: rolled back and found: {rolled_back[:5]}")
        return expect_count_to(client, violations, f"keyless WHERE actor = '{self.name}'")


class Hasty(Actor):
    """Does not wait for the log, except now and then: it may lose its newest numbers, but none before one that it waited for."""

    settings = {"synchronous_commit": "off"}

    def prepare(self, client):
        client.query("CREATE TABLE IF NOT EXISTS hasty (actor text, n int, PRIMARY KEY (actor, n));"
                     "CREATE TABLE IF NOT EXISTS hasty_last (actor text PRIMARY KEY, n int);"
                     f"INSERT INTO hasty_last VALUES ('{self.name}', 0)")
        self.state = self.floor = self.newest = 0

    def step(self, client):
        waits = self.random.random() < 0.02
        self.newest += 1
        setting = "SET LOCAL synchronous_commit = on;" if waits else ""
        if not self.change(self.newest, lambda: client.query(
                f"BEGIN; {setting} INSERT INTO hasty VALUES ('{self.name}', {self.newest});"
                f"UPDATE hasty_last SET n = {self.newest} WHERE actor = '{self.name}'; COMMIT")):
            self.newest -= 1
        elif waits:
            self.floor = self.newest

    def remember(self, state):
        """Numbers have an order."""

    def note(self):
        return self.floor

    def judge_since(self, client, violations, note):
        self.floor = note
        self.judge(client, violations)

    def judge(self, client, violations):
        highest = expect_count_to(client, violations, f"hasty WHERE actor = '{self.name}'")
        last = int(client.value(f"SELECT n FROM hasty_last WHERE actor = '{self.name}'"))
        violations.expect(last == highest, f"{self.name}: {highest} rows, noted {last}")
        violations.expect(self.floor <= last <= self.newest, f"{self.name}: waited for {self.floor}, sent {self.newest}, found {last}")
        self.state = self.floor = self.newest = last
        self.maybe = NOTHING


class Keys(Actor):
    """Inserts, changes and deletes the same keys again and again, one or some at a time."""

    count = 50

    def prepare(self, client):
        client.query("CREATE TABLE IF NOT EXISTS pairs (actor text, k int, v bigint, body text, PRIMARY KEY (actor, k));"
                     "CREATE INDEX IF NOT EXISTS pairs_v ON pairs (v)")
        self.state = {}

    def step(self, client):
        keys = self.random.sample(range(self.count), self.random.choice([1, 1, 1, 2, 5]))
        state, calls = dict(self.state), []
        for key in keys:
            value = self.random.getrandbits(40)
            body = pad(value, self.random.choice([0, 10, 500, 5000]))
            if key not in state:
                calls.append(lambda key=key, value=value, body=body: self.say(
                    "INSERT INTO pairs VALUES ($1, $2, $3, $4)", self.name, key, value, body))
                state[key] = value
            elif self.random.random() < 0.4:
                calls.append(lambda key=key: self.say("DELETE FROM pairs WHERE actor = $1 AND k = $2", self.name, key))
                del state[key]
            else:
                calls.append(lambda key=key, value=value, body=body: self.say(
                    "UPDATE pairs SET v = $3, body = $4 WHERE actor = $1 AND k = $2", self.name, key, value, body))
                state[key] = value
        if len(calls) > 1:
            calls = [lambda: client.query("BEGIN"), *calls, lambda: client.query("COMMIT")]
        self.change(state, *calls)

    def found(self, client, violations):
        rows = ints(client.query(f"SELECT k, v FROM pairs WHERE actor = '{self.name}'"))
        wrong = client.query(f"SELECT k, v FROM pairs WHERE actor = '{self.name}' AND body <> {padded('v', 'length(body)')}")
        violations.expect(not wrong, f"{self.name}: rows that nobody wrote: {wrong}")
        return dict(rows)

    def told(self, state):
        return repr(sorted(state.items()))[:3000]


class Transfers(Actor):
    """Moves money between accounts that all of them share, and notes each move in a table, too."""

    accounts = 60
    each = 1000

    def prepare(self, client):
        client.query("CREATE TABLE IF NOT EXISTS account (id int PRIMARY KEY, balance bigint NOT NULL);"
                     "CREATE TABLE IF NOT EXISTS move (actor text, n int, source int, target int, amount int, PRIMARY KEY (actor, n));"
                     "CREATE INDEX IF NOT EXISTS move_source ON move (source)")
        if client.value("SELECT count(*) FROM account") == "0":
            client.query(f"INSERT INTO account SELECT i, {self.each} FROM generate_series(1, {self.accounts}) i")
        self.state = 0

    def step(self, client):
        source, target = self.random.sample(range(1, self.accounts + 1), 2)
        amount, n = self.random.randrange(100), self.state + 1
        lock = [lambda: client.query(f"SELECT * FROM account WHERE id IN ({source}, {target}) ORDER BY id FOR UPDATE")]
        calls = [lambda: self.say("UPDATE account SET balance = balance - $1 WHERE id = $2", amount, source),
                 lambda: self.say("UPDATE account SET balance = balance + $1 WHERE id = $2", amount, target),
                 lambda: self.say("INSERT INTO move VALUES ($1, $2, $3, $4, $5)", self.name, n, source, target, amount)]
        self.change(n, lambda: client.query("BEGIN"), *(lock if self.random.random() < 0.3 else []), *calls,
                    lambda: client.query("COMMIT"))

    def found(self, client, violations):
        balances = dict(ints(client.query("SELECT id, balance FROM account")))
        expected = dict.fromkeys(range(1, self.accounts + 1), self.each)
        for account, sign in ("source", -1), ("target", 1):
            for number, amount in ints(client.query(f"SELECT {account}, sum(amount) FROM move GROUP BY {account}")):
                expected[number] += sign * amount
        wrong = {account: (balances.get(account), balance) for account, balance in expected.items() if balances.get(account) != balance}
        violations.expect(not wrong and len(balances) == self.accounts, f"{self.name}: balances, and what the moves say: {wrong}")
        return expect_count_to(client, violations, f"move WHERE actor = '{self.name}'")


class Loader(Actor):
    """COPY and INSERT SELECT of some thousand rows; whole batches go, and are changed as a whole."""

    rows = 2000

    def prepare(self, client):
        client.query("CREATE TABLE IF NOT EXISTS loaded (batch int, i int, version int, body text);"
                     "CREATE INDEX IF NOT EXISTS loaded_batch ON loaded (batch)")
        self.state, self.next = {}, 0

    def step(self, client):
        self.next += 1
        batch = self.next
        old = self.random.choice(sorted(self.state)) if self.state else None
        kind = self.random.randrange(4) if len(self.state) < 8 else 3
        if old is None or kind == 0:
            self.change({**self.state, batch: 0}, lambda: client.copy_in(
                "COPY loaded FROM STDIN", (f"{batch}\t{i}\t0\tbody {i}\n" for i in range(self.rows))))
        elif kind == 1:
            self.statements({**self.state, batch: 0}, f"INSERT INTO loaded SELECT {batch}, i, 0, 'body ' || i "
                                                      f"FROM generate_series(0, {self.rows - 1}) i")
        elif kind == 2:
            self.statements({**self.state, old: self.state[old] + 1}, f"UPDATE loaded SET version = version + 1 WHERE batch = {old}")
        else:
            self.statements({one: version for one, version in self.state.items() if one != old}, f"DELETE FROM loaded WHERE batch = {old}")

    def found(self, client, violations):
        batches = {}
        for batch, version, count, distinct in ints(client.query(
                "SELECT batch, version, count(*), count(DISTINCT i) FROM loaded GROUP BY batch, version")):
            violations.expect(count == distinct == self.rows and batch not in batches,
                              f"{self.name}: of batch {batch} version {version} there are {count} rows")
            batches[batch] = version
        return batches


class Sequences(Actor):
    """Takes values, which are never given again once they were told, and rows with a serial key."""

    def prepare(self, client):
        client.query(f"CREATE SEQUENCE {self.name}; CREATE TABLE {self.name}_row (id serial PRIMARY KEY, v bigint)")
        self.state, self.highest, self.ids = {}, 0, 0

    def take(self, client, violations=None):
        value = int(client.value(f"SELECT nextval('{self.name}')"))
        if value <= self.highest:
            self.wrong = f"{self.name}: nextval() told {value} behind {self.highest}"
        self.highest = max(self.highest, value)
        return value

    wrong = None

    def step(self, client):
        value = self.take(client)
        made = []
        state = dict(self.state)
        if not self.change(state, lambda: made.extend(client.query(f"INSERT INTO {self.name}_row (v) VALUES ({value}) RETURNING id"))):
            return
        self.state[int(made[0][0])] = value

    def remember(self, state):
        """Of rows that never change all are in the last one."""

    def note(self):
        return dict(self.state), self.highest

    def judge_since(self, client, violations, note):
        """What came later may be there."""
        later, self.highest = self.state, note[1]
        rows = dict(ints(client.query(f"SELECT id, v FROM {self.name}_row")))
        there = [key in rows for key in sorted(later)]
        violations.expect(there == sorted(there, reverse=True), f"{self.name}: rows, but not all that came before them")
        self.state = {**note[0], **{key: value for key, value in later.items() if key in rows}}
        self.judge(client, violations)

    def judge(self, client, violations):
        rows = dict(ints(client.query(f"SELECT id, v FROM {self.name}_row")))
        lost = {key: value for key, value in self.state.items() if rows.get(key) != value}
        violations.expect(not lost, f"{self.name}: lost {lost}")
        violations.expect(len(rows) - len(self.state) <= 1, f"{self.name}: {len(rows) - len(self.state)} rows more than were acknowledged")
        violations.expect(len(set(rows.values())) == len(rows), f"{self.name}: a value twice")
        self.take(client)
        made = int(client.value(f"INSERT INTO {self.name}_row (v) VALUES (-1) RETURNING id"))
        violations.expect(made > max(rows, default=0), f"{self.name}: the serial key {made} behind {max(rows, default=0)}")
        client.query(f"DELETE FROM {self.name}_row WHERE id = {made}")
        violations.expect(self.wrong is None, self.wrong)
        self.state, self.maybe, self.wrong = rows, NOTHING, None


class References(Actor):
    """Parents and children, which go with them."""

    def prepare(self, client):
        client.query("CREATE TABLE IF NOT EXISTS parent (id int PRIMARY KEY, name text);"
                     "CREATE TABLE IF NOT EXISTS child (id serial PRIMARY KEY, parent int NOT NULL REFERENCES parent ON DELETE CASCADE);"
                     "CREATE INDEX IF NOT EXISTS child_parent ON child (parent)")
        self.state, self.first = {}, 1000 * int(self.name[-1])

    def step(self, client):
        parent = self.first + self.random.randrange(30)
        children = self.random.randrange(4)
        begin, commit = (lambda: client.query("BEGIN")), (lambda: client.query("COMMIT"))
        bear = lambda count: (lambda: client.query(f"INSERT INTO child (parent) SELECT {parent} FROM generate_series(1, {count})"))
        if parent not in self.state:
            self.refuse(client, parent)
            self.change({**self.state, parent: children}, begin, lambda: self.say("INSERT INTO parent VALUES ($1, $2)", parent, "x"),
                        bear(children), commit)
        elif self.random.random() < 0.5:
            self.change({one: count for one, count in self.state.items() if one != parent},
                        lambda: self.say("DELETE FROM parent WHERE id = $1", parent))
        else:
            self.change({**self.state, parent: self.state[parent] + children}, bear(children))

    def refuse(self, client, parent):
        """A child of nobody is never there."""
        try:
            client.query(f"INSERT INTO child (parent) VALUES ({parent})")
        except SqlError as error:
            if error.code != "23503" and error.code not in CONFLICTS:
                raise
        else:
            raise AssertionError(f"a child of parent {parent}, who is not there")

    def found(self, client, violations):
        orphans = client.query("SELECT * FROM child WHERE NOT EXISTS (SELECT 1 FROM parent WHERE parent.id = child.parent)")
        violations.expect(not orphans, f"{self.name}: orphans {orphans[:5]}")
        return dict(ints(client.query("SELECT parent.id, count(child.id) FROM parent LEFT JOIN child ON child.parent = parent.id "
                                      f"WHERE parent.id >= {self.first} AND parent.id < {self.first + 1000} GROUP BY parent.id")))


class Truncater(Actor):
    """Empties a table and fills it again in one transaction; then some rows by themselves."""

    def prepare(self, client):
        client.query("CREATE TABLE emptied (id int PRIMARY KEY, generation int); CREATE INDEX emptied_generation ON emptied (generation)")
        self.state = (0, 0)

    def step(self, client):
        generation, rows = self.state
        if self.random.random() < 0.2:
            self.statements((generation + 1, 150), "BEGIN", "TRUNCATE emptied",
                            f"INSERT INTO emptied SELECT i, {generation + 1} FROM generate_series(1, 150) i", "COMMIT")
        elif rows:
            self.statements((generation, rows + 1), f"INSERT INTO emptied VALUES ({rows + 1}, {generation})")

    def found(self, client, violations):
        groups = ints(client.query("SELECT generation, count(*) FROM emptied GROUP BY generation"))
        violations.expect(len(groups) <= 1, f"{self.name}: generations side by side {groups}")
        return groups[0] if groups else (0, 0)


class Unlogged(Actor):
    """Its rows go with the server, all of them."""

    def prepare(self, client):
        client.query("CREATE UNLOGGED TABLE unlogged_row (id serial PRIMARY KEY, v text); CREATE INDEX unlogged_v ON unlogged_row (v)")
        self.state = 0

    def step(self, client):
        client.query("INSERT INTO unlogged_row (v) SELECT 'v' || i FROM generate_series(1, 50) i")
        self.done += 1

    def found(self, client, violations):
        return int(client.value("SELECT count(*) FROM unlogged_row"))


class Checkpoints(Actor):
    def step(self, client):
        client.query("CHECKPOINT")
        self.done += 1
        client.query(f"SELECT pg_sleep({self.random.choice([0, 0, 0.05, 0.3])})")

    def judge(self, client, violations):
        pass

    def judge_since(self, client, violations, note):
        pass


class Indexes(Actor):
    """Builds and drops indexes of tables that others write."""

    made = {"pairs_body": "pairs (body)", "numbered_size": "numbered (size)", "account_balance": "account (balance)"}

    def prepare(self, client):
        self.state = frozenset()

    def step(self, client):
        name = self.random.choice(sorted(self.made))
        if name in self.state:
            self.statements(self.state - {name}, f"DROP INDEX {name}")
        else:
            self.statements(self.state | {name}, f"CREATE INDEX {name} ON {self.made[name]}")

    def found(self, client, violations):
        names = ", ".join(f"'{name}'" for name in self.made)
        rows = client.query("SELECT relname, indisvalid FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid "
                            f"WHERE relname IN ({names})")
        violations.expect(all(valid == "t" for _, valid in rows), f"{self.name}: not valid: {rows}")
        return frozenset(name for name, _ in rows)
