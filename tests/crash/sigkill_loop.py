#!/usr/bin/env python3
"""Kills the server with SIGKILL under a pgbench load, restarts it, and compares what is there with what was acknowledged.

usage: sigkill_loop.py PGSILO_BINARY [--runs 3] [--seconds 2] [--scale 1] [--clients 8] [--hasty 4] [--seed N] [--flags "..."]

Each run goes on with the data directory of the run before. The load is pgbench's tpcb-like transaction, which also
writes the client's own running number into the history row. What was acknowledged is noted outside the server, in
pgbench's transaction log. After the restart, for every client:
  - the numbers in history are 1..k without a hole, and k is what was acknowledged or, for a commit whose answer the
    kill cut off, one more;
As many clients as --hasty says do the same with synchronous_commit = off, on the same rows. They may lose their newest
transactions, and nothing else: their numbers have no hole either. And over all clients the balances of accounts,
tellers and branches each sum to the deltas in history.
Beside the load a client asks for one checkpoint after the other, and others make, index, change, empty and drop tables
of their own: each is found as one of its statements left it, whatever is asked for it.
"""
import glob
import os
import random
import re
import subprocess
import time

from kill_bed import PROGRAMS, fail, loop

SCRIPT = r"""
\set n :n + 1
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
INSERT INTO acknowledged VALUES (:run, :client_id, :n, :delta);
END;
"""

CHECKPOINTS = r"""
\sleep :pause ms
CHECKPOINT;
"""

SCRATCH_CLIENTS = 2
SCRATCH_SCRIPT = r"""
DROP TABLE IF EXISTS scratch_:client_id;
CREATE TABLE scratch_:client_id AS SELECT i AS id, 2 * i AS twice FROM generate_series(1, 3000) i;
CREATE INDEX scratch_index_:client_id ON scratch_:client_id (twice);
BEGIN;
TRUNCATE scratch_:client_id;
INSERT INTO scratch_:client_id SELECT i, 2 * i FROM generate_series(1, 2000) i;
COMMIT;
UPDATE scratch_:client_id SET twice = twice + 1 WHERE id % 2 = 0;
DELETE FROM scratch_:client_id WHERE id > 1000;
"""
# (rows, sum of twice) after its statements; while it is there.
SCRATCH_STATES = {(3000, 3000 * 3001), (2000, 2000 * 2001), (2000, 2000 * 2001 + 1000), (1000, 1000 * 1001 + 500)}


def start_script(bed, name, clients, *more):
    return subprocess.Popen([f"{PROGRAMS}/pgbench", "-n", *bed.address(), "-f", f"{bed.root}/{name}", "-c", str(clients),
                             "-T", "60", *more, "postgres"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def start_disturbances(bed):
    return [start_script(bed, "checkpoints", 1, "-D", f"pause={random.choice([0, 50, 300])}"),
            start_script(bed, "scratch", SCRATCH_CLIENTS)]


def check_scratch(bed):
    there = {name for (name,) in bed.sql("SELECT relname FROM pg_class WHERE relname LIKE 'scratch%'")}
    for client in range(SCRATCH_CLIENTS):
        if f"scratch_{client}" not in there:
            continue
        by_table, by_index = (
            tuple(int(number) for number in bed.sql(f"SELECT count(*), coalesce(sum(twice), 0) FROM scratch_{client} {where}")[0])
            for where in ("", "WHERE twice > 0"))
        if by_table not in SCRATCH_STATES or by_table != by_index:
            fail(f"scratch_{client} has (rows, sum) {by_table}, by its index {by_index}")


def start_load(bed, run, clients, setting):
    return subprocess.Popen([f"{PROGRAMS}/pgbench", "-n", *bed.address(), "-f", f"{bed.root}/script",
                             "-M", random.choice(["simple", "extended", "prepared"]),
                             "-s", str(bed.options.scale), "-c", str(clients), "-j", "1", "-T", "60",
                             "-D", "n=0", "-D", f"run={run}", "-l", "--log-prefix", f"{bed.root}/run{run}",
                             "postgres"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, PGOPTIONS=f"-c synchronous_commit={setting}"))


def acknowledged_in(bed, run, clients):
    counts = dict.fromkeys(range(clients), 0)
    for name in glob.glob(f"{bed.root}/run{run}.*"):
        with open(name) as file:
            for line in file:
                if line.endswith("\n") and re.match(r"\d+ ", line):
                    counts[int(line.split(" ", 1)[0])] += 1
    return counts


def check(bed, run, acknowledged, may_lose):
    """How many transactions there are, and how many of those acknowledged have gone."""
    present = {client: (0, 0, 0) for client in acknowledged}
    for client, count, low, high in bed.sql(f"SELECT client, count(*), min(n), max(n) FROM acknowledged "
                                            f"WHERE run = {run} GROUP BY client"):
        present[int(client)] = (int(count), int(low), int(high))
    for client, acked in acknowledged.items():
        count, low, high = present[client]
        if count != high or (count > 0 and low != 1):
            fail(f"run {run} client {client}: {count} rows, numbers {low}..{high}: a hole")
        if high > acked + 1 or (high < acked and not may_lose):
            fail(f"run {run} client {client}: {acked} acknowledged, {high} present")
    return (sum(high for _, _, high in present.values()),
            sum(max(0, acked - present[client][2]) for client, acked in acknowledged.items()))


def check_sums(bed, run):
    sums = bed.sql("SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), "
                   "(SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history), "
                   "(SELECT coalesce(sum(delta), 0) FROM acknowledged)")[0]
    if len(set(sums)) != 1:
        fail(f"run {run}: balances disagree: {sums}")


def prepare(bed):
    done = subprocess.run([f"{PROGRAMS}/pgbench", "-i", "-q", "-s", str(bed.options.scale), *bed.address(), "postgres"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"pgbench -i: {done.stderr}")
    bed.sql("CREATE TABLE acknowledged (run int, client int, n int, delta int, PRIMARY KEY (run, client, n))")
    for name, script in ("script", SCRIPT), ("checkpoints", CHECKPOINTS), ("scratch", SCRATCH_SCRIPT):
        with open(f"{bed.root}/{name}", "w") as file:
            file.write(script)


def wait_for_commits(bed, runs):
    """A kill before anything was committed shows little; on a busy machine that takes a while."""
    for run in runs:
        for _ in range(300):
            if bed.sql(f"SELECT count(*) FROM acknowledged WHERE run = {run}")[0][0] != "0":
                break
            time.sleep(0.1)


def run(bed, number):
    clients, hasty = bed.options.clients, bed.options.hasty
    loads = [start_load(bed, number, clients, "on")]
    if hasty:
        loads.append(start_load(bed, -number, hasty, "off"))
    disturbances = start_disturbances(bed)
    wait_for_commits(bed, [number, -number] if hasty else [number])
    time.sleep(bed.options.seconds * random.uniform(0.3, 1.5))
    bed.kill()
    errors = [load.communicate()[1] for load in loads]
    for disturbance in disturbances:
        disturbance.wait()
    bed.start()
    check_scratch(bed)
    transactions, _ = check(bed, number, acknowledged_in(bed, number, clients), may_lose=False)
    hasty_ones, lost = check(bed, -number, acknowledged_in(bed, -number, hasty), may_lose=True)
    check_sums(bed, number)
    if transactions == 0 or (hasty and hasty_ones == 0):
        fail(f"run {number}: nothing was committed: {errors[0][-500:]}")
    return (f"{transactions} transactions, all acknowledged ones there, no other; {hasty_ones} that did not wait, "
            f"{lost} of them lost")


if __name__ == "__main__":
    loop(__doc__, {"runs": 3, "seconds": 2.0, "scale": 1, "clients": 8, "hasty": 4}, prepare, run)
