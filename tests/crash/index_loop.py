#!/usr/bin/env python3
"""Kills the server with SIGKILL while an index is built beside writers, restarts it, and looks at what is left of the index.

usage: index_loop.py PGSILO_BINARY [--runs 5] [--rows 60000] [--clients 3] [--seed N]

Each run goes on with the data directory of the run before. After a restart the index is not there, or it is valid and agrees
with its table; one whose creation was acknowledged is there; and if it is not, its name is free.
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


def psql(bed, name, **streams):
    return subprocess.Popen([f"{PROGRAMS}/psql", "-X", "-A", "-t", "-q", "-h", bed.root, "-p", bed.port, "-U", "postgres", "-f",
                             name, "postgres"], stderr=subprocess.DEVNULL, **streams)


def start_writers(bed, options):
    """Changes of single rows, until the server has gone."""
    writers = []
    for client in range(options.clients):
        name = f"{bed.root}/writer{client}.sql"
        with open(name, "w") as file:
            for _ in range(20000):
                row, value = random.randrange(options.rows), random.randrange(1000)
                file.write(random.choice([
                    f"UPDATE item SET v = {value} WHERE id = {row};\n",
                    f"DELETE FROM item WHERE id = {row};\n",
                    f"INSERT INTO item VALUES ({row}, {value}) ON CONFLICT DO NOTHING;\n",
                    f"BEGIN; UPDATE item SET v = {value} WHERE id = {row}; ROLLBACK;\n",
                ]))
        writers.append(psql(bed, name, stdout=subprocess.DEVNULL))
    return writers


def build_and_kill(bed, options):
    """Whether the index was acknowledged."""
    name = f"{bed.root}/build.sql"
    with open(name, "w") as file:
        file.write("CREATE INDEX made ON item (v);\n\\echo built\n")
    writers = start_writers(bed, options)
    time.sleep(0.1)
    builder = psql(bed, name, stdout=subprocess.PIPE, text=True)
    time.sleep(random.uniform(0, options.patience))
    os.kill(bed.process.pid, signal.SIGKILL)
    bed.process.wait()
    for writer in writers:
        writer.wait()
    # psql goes on behind what failed.
    said = builder.communicate()[0]
    return "built" in said and builder.returncode == 0


def fail(message):
    sys.exit(f"index_loop: {message}")


def check(bed, run, acknowledged):
    """Whether it is there."""
    found = bed.sql("SELECT indisvalid FROM pg_index WHERE indexrelid = (SELECT oid FROM pg_class WHERE relname = 'made')")
    if [row[0] for row in found] not in ([], ["t"]):
        fail(f"run {run}: the index is there and not valid")
    if not found and acknowledged:
        fail(f"run {run}: the index was acknowledged and is not there")
    if not found:
        bed.sql("CREATE INDEX made ON item (v)")
    by_table = bed.sql("SELECT count(*), sum(id) FROM item")
    settings = "SET enable_seqscan = off; SET enable_hashjoin = off; "
    by_index = bed.sql(settings + "SELECT count(*), sum(id) FROM item WHERE v >= 0")
    lost = bed.sql(settings + "SELECT count(*) FROM item i WHERE NOT EXISTS (SELECT 1 FROM item j WHERE j.v = i.v AND j.id + 0 = i.id)"
                   " AND i.id % 100 = 0")
    if by_index[-1] != by_table[-1] or lost[-1][0] != "0":
        fail(f"run {run}: {by_table} by the table, {by_index} by the index, {lost} not found")
    bed.sql("DROP INDEX made")
    return bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}", flush=True)
    bed = Bed(options)
    try:
        bed.start()
        bed.sql("CREATE TABLE item (id int PRIMARY KEY, v int)")
        bed.sql(f"INSERT INTO item SELECT i, i % 1000 FROM generate_series(1, {options.rows}) i")
        began = time.time()
        bed.sql("CREATE INDEX made ON item (v)")
        options.patience = 3 * (time.time() - began)
        bed.sql("DROP INDEX made")
        for run in range(1, options.runs + 1):
            acknowledged = build_and_kill(bed, options)
            bed.start()
            there = check(bed, run, acknowledged)
            print(f"run {run}: {'acknowledged' if acknowledged else 'cut short'}, {'valid' if there else 'none'}", flush=True)
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
