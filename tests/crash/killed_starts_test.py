#!/usr/bin/env python3
"""The log stays short however often the server is killed: each start begins a segment of its own, and what is too much is checkpointed.

usage: killed_starts_test.py PGSILO [--starts N] [--max-wal-size MB]
Each start takes one INSERT and a SIGKILL right behind its answer.
"""
import argparse
import os
import time

from kill_bed import Bed, fail

SPARE_BYTES = 64 << 20  # empty segments that a start keeps ready, and the one that it writes to


def log_bytes(bed):
    directory = f"{bed.root}/data/wal"
    return sum(os.path.getsize(f"{directory}/{name}") for name in os.listdir(directory))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--starts", type=int, default=40)
    parser.add_argument("--max-wal-size", type=int, default=64)
    options = parser.parse_args()
    options.flags = f"-c worker_threads=2 -c max_wal_size={options.max_wal_size}MB"
    bed = Bed(options)
    try:
        bed.start()
        bed.sql("CREATE TABLE kept (id int PRIMARY KEY)")
        most = longest = 0
        for number in range(1, options.starts + 1):
            bed.sql(f"INSERT INTO kept VALUES ({number})")
            bed.kill()
            begun = time.time()
            bed.start()
            longest = max(longest, time.time() - begun)
            most = max(most, log_bytes(bed))
        told = f"{most >> 20} MB of log at most, {log_bytes(bed) >> 20} MB at the end, {longest:.2f} s for the longest start"
        if most > 2 * (options.max_wal_size << 20) + SPARE_BYTES:
            fail(told)
        if bed.sql("SELECT count(*), max(id) FROM kept") != [[str(options.starts)] * 2]:
            fail("rows are missing")
        bed.stop()
        print(f"passed: {options.starts} starts, {told}")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
