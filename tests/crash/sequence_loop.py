#!/usr/bin/env python3
"""Kills the server with SIGKILL while clients take values of sequences, restarts it, and looks for values handed out twice.

usage: sequence_loop.py PGSILO_BINARY [--runs 3] [--seconds 1] [--clients 6] [--seed N]

Each run goes on with the data directory of the run before. What a client was told is noted outside the server, by psql's
output. Over all lives of the server:
  - no value of a sequence was told to two clients, or twice to one;
  - after a restart the next value lies behind all that were told before;
  - a row numbered by a serial column and acknowledged is there, under that number.
"""
import random
import time

from kill_bed import fail, loop

SEQUENCES = ["plain", "cached", "restarted"]


def statements(client):
    """What one client sends: values alone, in rows, in blocks that end either way."""
    kinds = [
        *[f"SELECT '{name} ' || nextval('{name}');" for name in SEQUENCES],
        f"INSERT INTO numbered (client) VALUES ({client}) RETURNING 'row ' || id;",
        f"BEGIN; SELECT 'plain ' || nextval('plain'); INSERT INTO numbered (client) VALUES ({client}); ROLLBACK;",
        "BEGIN; SELECT 'plain ' || nextval('plain'); SELECT 'cached ' || nextval('cached'); COMMIT;",
        "SELECT 'plain ' || nextval('plain') FROM generate_series(1, 50);",
    ]
    return "\n".join(random.choice(kinds) for _ in range(40000)) + "\n"


class Load:
    """Clients, each with a file of what it sends and one of what it was told."""

    def __init__(self, bed, run, clients):
        self.files = []
        self.processes = []
        for client in range(clients):
            base = f"{bed.root}/run{run}.{client}"
            with open(f"{base}.sql", "w") as file:
                file.write(statements(client))
            self.files.append(f"{base}.out")
            with open(f"{base}.out", "w") as output:
                self.processes.append(bed.psql(f"{base}.sql", stdout=output))

    def told(self):
        """(name, value) for every value that a client was told."""
        for process in self.processes:
            process.wait()
        for name in self.files:
            with open(name) as file:
                for line in file:
                    words = line.split()
                    if line.endswith("\n") and len(words) == 2:
                        yield words[0], int(words[1])


def check(bed, run, told, seen):
    rows = {int(row[0]) for row in bed.sql("SELECT id FROM numbered")}
    for name, value in told:
        if value in seen[name]:
            fail(f"run {run}: {name} handed out {value} twice")
        seen[name].add(value)
        if name == "row" and value not in rows:
            fail(f"run {run}: row {value} was acknowledged and is not there")
    for name in SEQUENCES:
        value = int(bed.sql(f"SELECT nextval('{name}')")[0][0])
        newest = max(seen[name], default=0)
        if value <= newest:
            fail(f"run {run}: {name} goes on with {value}, {newest} was handed out before")
        seen[name].add(value)


def prepare(bed):
    bed.sql("CREATE SEQUENCE plain")
    bed.sql("CREATE SEQUENCE cached CACHE 20")
    bed.sql("CREATE SEQUENCE restarted")
    bed.sql("CREATE TABLE numbered (id bigserial PRIMARY KEY, client int)")


def run(bed, number, seen):
    # A new state, values of which a definition's own transaction has taken.
    start = max(seen["restarted"], default=0) + 1000
    first = bed.sql(f"BEGIN; ALTER SEQUENCE restarted RESTART WITH {start}; SELECT nextval('restarted'); COMMIT")
    seen["restarted"].add(int([line[0] for line in first if line[0].isdigit()][0]))
    load = Load(bed, number, bed.options.clients)
    time.sleep(bed.options.seconds * random.uniform(0.3, 1.5))
    bed.kill()
    told = list(load.told())
    bed.start()
    check(bed, number, told, seen)
    if not told:
        fail(f"run {number}: nobody was told anything")
    return f"{len(told)} values told, none twice"


if __name__ == "__main__":
    seen_values = {name: set() for name in SEQUENCES + ["row"]}  # in all runs
    loop(__doc__, {"runs": 3, "seconds": 1.0, "clients": 6}, prepare, lambda bed, number: run(bed, number, seen_values))
