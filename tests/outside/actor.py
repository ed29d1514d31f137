"""Who changes the database and notes, outside of it, what must be found there: the state that was acknowledged last, and, while a
statement is under way, the one that it leads to.
"""
import random
import threading

from wire_client import Client, Lost, SqlError

NOTHING = object()

# Others were in the way; what was refused so may be sent again.
CONFLICTS = ("40001", "40P01", "55P03")


class Violations:
    def __init__(self):
        self.found = []

    def add(self, text):
        self.found.append(text)

    def expect(self, fact, text):
        if not fact:
            self.add(text)


class Actor:
    """One client with tables of its own, unless it says so. It goes on where it was after each crash."""

    settings = {}

    def __init__(self, name, seed):
        self.name = name
        self.random = random.Random(f"{seed} {name}")
        self.state = NOTHING  # acknowledged last
        self.maybe = NOTHING  # where the statement that is under way leads to
        self.past = []  # the states since the last judgement
        self.done = 0
        self.refused = {}
        self.trouble = None

    def prepare(self, client):
        """Makes the tables."""

    def step(self, client):
        """A change or a few, each through change()."""

    def found(self, client, violations):
        """The state that is there."""

    # How a difference is told.
    def told(self, state):
        return repr(state)[:600]

    def change(self, state, *calls):
        """One call, or a block of them, of which the last one is its COMMIT, leads to the state. If one is refused, they lead to nothing,
        and False is returned."""
        for number, call in enumerate(calls, 1):
            # A block that was not asked to commit will not have.
            self.maybe = state if number == len(calls) else NOTHING
            try:
                call()
            except SqlError as error:
                self.note_refusal(error)
                return False
        self.state, self.maybe = state, NOTHING
        self.remember(state)
        self.done += 1
        return True

    def remember(self, state):
        self.past.append(state)

    def statements(self, state, *texts):
        return self.change(state, *(lambda text=text: self.client.query(text) for text in texts))

    def note_refusal(self, error):
        self.maybe = NOTHING
        self.refused[str(error)] = self.refused.get(str(error), 0) + 1
        if self.client.in_transaction:
            self.client.query("ROLLBACK")

    def say(self, text, *values):
        """By either protocol."""
        if self.random.random() < 0.5:
            return self.client.execute(text, *values)
        for number in range(len(values), 0, -1):
            value = values[number - 1]
            text = text.replace(f"${number}", "NULL" if value is None else f"'{value}'")
        return self.client.query(text)

    def run(self, directory, port, stop, violations):
        """Until the server has gone or `stop` is set."""
        try:
            with Client(directory, port, settings=self.settings) as self.client:
                while not stop.is_set():
                    self.turn()
                    stop.wait(self.random.choice([0, 0, 0, 0.001]))
        except (Lost, SqlError) as end:  # of the server, or of connecting
            self.trouble = str(end)
        except Exception as error:  # a mistake of the actor's own must not pass for a quiet cycle
            violations.add(f"{self.name}: {type(error).__name__} {error}")

    def turn(self):
        try:
            self.step(self.client)
        except SqlError as error:
            self.note_refusal(error)

    def judge(self, client, violations):
        found = self.found(client, violations)
        self.expect_found(found, [self.state], violations)
        self.state, self.maybe, self.past = found, NOTHING, []

    def expect_found(self, found, acknowledged, violations):
        if found not in acknowledged and (self.maybe is NOTHING or found != self.maybe):
            violations.add(f"{self.name}: acknowledged {self.told(acknowledged[0])}, and {len(acknowledged) - 1} later states\n    under way "
                           f"{'nothing' if self.maybe is NOTHING else self.told(self.maybe)}\n    found {self.told(found)}")

    def note(self):
        """What has been acknowledged by now, for judge_since(). From any thread."""
        later = len(self.past)
        return self.state, later

    def judge_since(self, client, violations, note):
        """Of a server whose state is of that moment or a later one."""
        state, later = note
        self.expect_found(self.found(client, violations), [state, *self.past[later:]], violations)


class Load:
    """All actors at once, each in a thread."""

    def __init__(self, actors, directory, port, violations):
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=actor.run, args=(directory, port, self.stop, violations), daemon=True) for actor in actors]
        self.violations = violations
        for thread in self.threads:
            thread.start()

    def end(self):
        """Behind the server's end, or before its stop."""
        self.stop.set()
        for thread in self.threads:
            thread.join(60)
        if any(thread.is_alive() for thread in self.threads):
            self.violations.add("a client waits for an answer for more than 30 seconds")
