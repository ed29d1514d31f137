#!/usr/bin/env python3
"""UNLOGGED tables are there after every start, and empty: behind a crash as in PostgreSQL, behind a clean stop, too. Temporary
ones are not there any more.

usage: unlogged_test.py PGSILO
"""
import argparse
import subprocess

from kill_bed import Bed, fail


def expect(bed, what, query, rows):
    found = bed.sql(query)
    if found != rows:
        fail(f"{what}: {query}: {found}, not {rows}")


def fill(bed):
    bed.sql("INSERT INTO passing SELECT i, 'word ' || i FROM generate_series(1, 1000) i")
    bed.sql("INSERT INTO staying SELECT count(*) FROM passing WHERE word LIKE 'word %'")
    expect(bed, "filled", "SELECT count(*) FROM passing", [["1000"]])


def hold_temporary(bed):
    """A session that has temporary objects, until the server ends."""
    holder = subprocess.Popen(["psql", "-XAtq", "-h", bed.root, "-p", str(bed.port), "postgres", "postgres"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    holder.stdin.write("CREATE TEMP TABLE brief (id serial PRIMARY KEY, word text);\n"
                       "CREATE TEMP VIEW brief_view AS SELECT word FROM brief;\n"
                       "CREATE TYPE pg_temp.brief_type AS ENUM ('a');\n"
                       "INSERT INTO brief (word) SELECT 'x' FROM generate_series(1, 1000);\n"
                       "SELECT 'ready ' || count(*) FROM brief_view;\n")
    holder.stdin.flush()
    found = holder.stdout.readline().strip()
    if found != "ready 1000":
        fail(f"temporary objects: {found}")
    return holder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    options = parser.parse_args()
    options.flags = "-c worker_threads=2"
    bed = Bed(options)
    try:
        bed.start()
        bed.sql("CREATE UNLOGGED TABLE passing (id int PRIMARY KEY, word text UNIQUE)")
        bed.sql("CREATE INDEX passing_word ON passing (word, id)")
        bed.sql("CREATE TABLE staying (rows int)")
        for number, (what, end) in enumerate([("a stop", bed.stop), ("SIGKILL", bed.kill), ("a checkpoint and a stop", bed.stop)], 1):
            fill(bed)
            holder = hold_temporary(bed)
            if "checkpoint" in what:
                bed.sql("CHECKPOINT")
            end()
            holder.communicate()
            bed.start()
            expect(bed, what, "SELECT relname FROM pg_class WHERE relname LIKE 'brief%'", [])
            expect(bed, what, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pg!_temp!_%' ESCAPE '!'", [])
            expect(bed, what, "SELECT count(*) FROM passing", [["0"]])
            expect(bed, what, "SELECT count(*) FROM passing WHERE word > 'w'", [["0"]])
            expect(bed, what, "SELECT relpersistence, relkind FROM pg_class WHERE relname LIKE 'passing%' ORDER BY relname",
                   [["u", "r"], ["u", "i"], ["u", "i"], ["u", "i"]])
            expect(bed, what, "SELECT count(*), min(rows) FROM staying", [[str(number), "1000"]])
        fill(bed)
        bed.stop()
        print("passed")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
