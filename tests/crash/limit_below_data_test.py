#!/usr/bin/env python3
"""A database far larger than the memory_limit that it is started with (docs/memory.md): it is served, nothing grows, no row is deleted
by its key, and the ways out are open: TRUNCATE, DROP, DELETE of all rows, and a larger limit.

usage: limit_below_data_test.py PGSILO     (not of a sanitizer's build, whose memory is not counted)
"""
import argparse

from kill_bed import Bed, fail
from wire_client import ServerError, WireClient

TABLES = ["truncated", "dropped", "deleted", "kept"]
LARGE, SMALL = "-c worker_threads=2 -c memory_limit=1GB", "-c worker_threads=2 -c memory_limit=64MB"


def outcome(bed, statement):
    """The SQLSTATE of a refusal."""
    client = WireClient(bed.root, bed.port, patience=60)
    try:
        client.ask(statement)
        return "done"
    except ServerError as error:
        return error.code
    finally:
        client.close()


def expect(bed, statement, wanted):
    said = outcome(bed, statement)
    if said != wanted:
        fail(f"{statement}: {said}, not {wanted}")


def count(bed, table, wanted):
    found = bed.sql(f"SELECT count(*), coalesce(sum(length(body)), 0) FROM {table}")
    if found != [[str(wanted), str(wanted * 960)]]:
        fail(f"{table}: {found}, not {wanted} rows")


def restart(bed, flags):
    bed.stop()
    bed.options.flags = flags
    bed.start()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    options = parser.parse_args()
    options.flags = LARGE
    bed = Bed(options)
    try:
        bed.start()
        for table in TABLES:
            bed.sql(f"CREATE TABLE {table} (id int PRIMARY KEY, body text)")
            bed.sql(f"INSERT INTO {table} SELECT i, repeat(md5(i::text), 30) FROM generate_series(1, 50000) i")
        restart(bed, SMALL)
        if "more than memory_limit, 64 MB" not in bed.newest_log():
            fail(f"the log does not say that the limit is too small:\n{bed.newest_log()}")
        for table in TABLES:
            count(bed, table, 50000)
        for statement in ["INSERT INTO kept VALUES (0, 'x')", "DELETE FROM kept WHERE id = 7", "DELETE FROM kept WHERE id <= 100"]:
            expect(bed, statement, "53200")
        expect(bed, "DELETE FROM deleted", "done")
        expect(bed, "TRUNCATE truncated", "done")
        expect(bed, "DROP TABLE dropped", "done")
        count(bed, "deleted", 0)
        count(bed, "truncated", 0)
        restart(bed, LARGE)
        expect(bed, "DELETE FROM kept WHERE id = 7", "done")
        count(bed, "kept", 49999)
        bed.stop()
        print("passed")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
