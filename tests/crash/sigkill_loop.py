#!/usr/bin/env python3
"""Kills the server with SIGKILL under a pgbench load, restarts it, and compares what is there with what was acknowledged.

usage: sigkill_loop.py PGSILO_BINARY [--runs 3] [--seconds 2] [--scale 1] [--clients 8] [--seed N] [--flags "..."]

Each run goes on with the data directory of the run before. The load is pgbench's tpcb-like transaction, which also
writes the client's own running number into the history row. What was acknowledged is noted outside the server, in
pgbench's transaction log. After the restart, for every client:
  - the numbers in history are 1..k without a hole, and k is what was acknowledged or, for a commit whose answer the
    kill cut off, one more;
and over all clients the balances of accounts, tellers and branches each sum to the deltas in history.
"""
import argparse
import glob
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = "/usr/lib/postgresql/15/bin"
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


def free_port():
    """One that is free on loopback too: tests run side by side."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


class Bed:
    def __init__(self, options):
        self.options = options
        self.port = free_port()
        self.root = tempfile.mkdtemp(prefix="pgsilo-kill.")
        self.process = None

    def start(self):
        self.log = open(f"{self.root}/log", "a")
        offset = os.path.getsize(f"{self.root}/log")
        self.process = subprocess.Popen([self.options.binary, "-D", f"{self.root}/data", "-p", self.port, "-k", self.root]
                                        + self.options.flags.split(), stdout=self.log, stderr=self.log)
        for _ in range(2400):
            with open(f"{self.root}/log") as file:
                file.seek(offset)
                if "pgsilo ready" in file.read():
                    return
            if self.process.poll() is not None:
                sys.exit(f"sigkill_loop: the server did not start:\n{open(f'{self.root}/log').read()[-4000:]}")
            time.sleep(0.05)
        sys.exit("sigkill_loop: the server was not ready in time")

    def sql(self, text):
        done = subprocess.run([f"{PROGRAMS}/psql", "-X", "-A", "-t", "-F", " ", "-v", "ON_ERROR_STOP=1", "-h", self.root,
                               "-p", self.port, "-U", "postgres", "-c", text, "postgres"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"sigkill_loop: {text}: {done.stderr}")
        return [line.split(" ") for line in done.stdout.splitlines()]

    def load(self, run):
        return subprocess.Popen([f"{PROGRAMS}/pgbench", "-n", "-h", self.root, "-p", self.port, "-U", "postgres", "-f",
                                 f"{self.root}/script", "-M", random.choice(["simple", "extended", "prepared"]),
                                 "-s", str(self.options.scale), "-c", str(self.options.clients), "-j", "1", "-T", "60",
                                 "-D", "n=0", "-D", f"run={run}", "-l", "--log-prefix", f"{self.root}/run{run}",
                                 "postgres"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def acknowledged(self, run):
        counts = dict.fromkeys(range(self.options.clients), 0)
        for name in glob.glob(f"{self.root}/run{run}.*"):
            with open(name) as file:
                for line in file:
                    if line.endswith("\n") and re.match(r"\d+ ", line):
                        counts[int(line.split(" ", 1)[0])] += 1
        return counts


def check(bed, run, acknowledged):
    present = {client: (0, 0, 0) for client in acknowledged}
    for client, count, low, high in bed.sql(f"SELECT client, count(*), min(n), max(n) FROM acknowledged "
                                            f"WHERE run = {run} GROUP BY client"):
        present[int(client)] = (int(count), int(low), int(high))
    for client, acked in acknowledged.items():
        count, low, high = present[client]
        if count != high or (count > 0 and low != 1):
            sys.exit(f"sigkill_loop: run {run} client {client}: {count} rows, numbers {low}..{high}: a hole")
        if high not in (acked, acked + 1):
            sys.exit(f"sigkill_loop: run {run} client {client}: {acked} acknowledged, {high} present")
    sums = bed.sql("SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), "
                   "(SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history), "
                   "(SELECT coalesce(sum(delta), 0) FROM acknowledged)")[0]
    if len(set(sums)) != 1:
        sys.exit(f"sigkill_loop: run {run}: balances disagree: {sums}")
    return sum(high for _, _, high in present.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}", flush=True)
    bed = Bed(options)
    try:
        bed.start()
        done = subprocess.run([f"{PROGRAMS}/pgbench", "-i", "-q", "-s", str(options.scale), "-h", bed.root, "-p", bed.port,
                               "-U", "postgres", "postgres"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"sigkill_loop: pgbench -i: {done.stderr}")
        bed.sql("CREATE TABLE acknowledged (run int, client int, n int, delta int, PRIMARY KEY (run, client, n))")
        with open(f"{bed.root}/script", "w") as file:
            file.write(SCRIPT)
        for run in range(1, options.runs + 1):
            client = bed.load(run)
            time.sleep(options.seconds * random.uniform(0.3, 1.5))
            os.kill(bed.process.pid, signal.SIGKILL)
            bed.process.wait()
            _, errors = client.communicate()
            bed.start()
            transactions = check(bed, run, bed.acknowledged(run))
            if transactions == 0:
                sys.exit(f"sigkill_loop: run {run}: nothing was committed: {errors[-500:]}")
            print(f"run {run}: {transactions} transactions, all acknowledged ones there, no other", flush=True)
        bed.process.terminate()
        if bed.process.wait() != 0:
            sys.exit(f"sigkill_loop: the server did not stop cleanly:\n{open(f'{bed.root}/log').read()[-4000:]}")
        print(f"{options.runs} passed, 0 failed")
    finally:
        if bed.process and bed.process.poll() is None:
            bed.process.kill()
        shutil.rmtree(bed.root, ignore_errors=True)


if __name__ == "__main__":
    main()
