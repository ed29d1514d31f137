#!/usr/bin/env python3
"""Kills the server with SIGKILL while an index is built beside writers, restarts it, and looks at what is left of the index.

usage: index_loop.py PGSILO_BINARY [--runs 5] [--rows 60000] [--clients 3] [--seed N]

Each run goes on with the data directory of the run before. After a restart the index is not there, or it is valid and agrees
with its table; one whose creation was acknowledged is there; and if it is not, its name is free.
"""
import random
import subprocess
import time

from kill_bed import fail, loop


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
        writers.append(bed.psql(name, stdout=subprocess.DEVNULL))
    return writers


def build_and_kill(bed, options):
    """Whether the index was acknowledged."""
    name = f"{bed.root}/build.sql"
    with open(name, "w") as file:
        file.write("CREATE INDEX made ON item (v);\n\\echo built\n")
    writers = start_writers(bed, options)
    time.sleep(0.1)
    builder = bed.psql(name, stdout=subprocess.PIPE, text=True)
    time.sleep(random.uniform(0, options.patience))
    bed.kill()
    for writer in writers:
        writer.wait()
    # psql goes on behind what failed.
    said = builder.communicate()[0]
    return "built" in said and builder.returncode == 0


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


def prepare(bed):
    bed.sql("CREATE TABLE item (id int PRIMARY KEY, v int)")
    bed.sql(f"INSERT INTO item SELECT i, i % 1000 FROM generate_series(1, {bed.options.rows}) i")
    began = time.time()
    bed.sql("CREATE INDEX made ON item (v)")
    bed.options.patience = 3 * (time.time() - began)
    bed.sql("DROP INDEX made")


def run(bed, number):
    acknowledged = build_and_kill(bed, bed.options)
    bed.start()
    there = check(bed, number, acknowledged)
    return f"{'acknowledged' if acknowledged else 'cut short'}, {'valid' if there else 'none'}"


if __name__ == "__main__":
    loop(__doc__, {"runs": 5, "rows": 60000, "clients": 3}, prepare, run)
