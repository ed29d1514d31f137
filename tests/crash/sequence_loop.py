#!/usr/bin/env python3
"""Kills the server with SIGKILL while clients take values of sequences, restarts it, and looks for values handed out twice.

usage: sequence_loop.py PGSILO_BINARY [--runs 3] [--seconds 1] [--clients 6] [--seed N]

Each run goes on with the data directory of the run before. What a client was told is noted outside the server, by psql's
output. Over all lives of the server:
  - no value of a sequence was told to two clients, or twice to one;
  - after a restart the next value lies behind all that were told before;
  - a row numbered by a serial column and acknowledged is there, under that number.
"""
import argparse
import os
import random
import signal
import shutil
import subprocess
import sys
import time

from sigkill_loop import PROGRAMS, Bed

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
                self.processes.append(subprocess.Popen(
                    [f"{PROGRAMS}/psql", "-X", "-A", "-t", "-q", "-h", bed.root, "-p", bed.port, "-U", "postgres", "-f",
                     f"{base}.sql", "postgres"], stdout=output, stderr=subprocess.DEVNULL))

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


def fail(message):
    sys.exit(f"sequence_loop: {message}")


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}", flush=True)
    bed = Bed(options)
    try:
        bed.start()
        bed.sql("CREATE SEQUENCE plain")
        bed.sql("CREATE SEQUENCE cached CACHE 20")
        bed.sql("CREATE SEQUENCE restarted")
        bed.sql("CREATE TABLE numbered (id bigserial PRIMARY KEY, client int)")
        seen = {name: set() for name in SEQUENCES + ["row"]}
        for run in range(1, options.runs + 1):
            # A new state, values of which a definition's own transaction has taken.
            start = max(seen["restarted"], default=0) + 1000
            first = bed.sql(f"BEGIN; ALTER SEQUENCE restarted RESTART WITH {start}; SELECT nextval('restarted'); COMMIT")
            seen["restarted"].add(int([line[0] for line in first if line[0].isdigit()][0]))
            load = Load(bed, run, options.clients)
            time.sleep(options.seconds * random.uniform(0.3, 1.5))
            os.kill(bed.process.pid, signal.SIGKILL)
            bed.process.wait()
            told = list(load.told())
            bed.start()
            check(bed, run, told, seen)
            if not told:
                fail(f"run {run}: nobody was told anything")
            print(f"run {run}: {len(told)} values told, none twice", flush=True)
        bed.process.terminate()
        if bed.process.wait() != 0:
            fail("the server did not stop cleanly")
        print(f"{options.runs} passed, 0 failed")
    finally:
        if bed.process and bed.process.poll() is None:
            bed.process.kill()
        shutil.rmtree(bed.root, ignore_errors=True)


if __name__ == "__main__":
    main()
