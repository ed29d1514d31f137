#!/usr/bin/env python3
"""A server whose address space ends (RLIMIT_AS): what needs more gets 53200 or 53300 in words, and nothing else notices.

usage: address_space_test.py PGSILO     (not of a sanitizer's build, which needs terabytes)

Sessions insert until they are refused, beside others that read, make checkpoints, come and go: with the memory_limit that the
server finds for itself, and with one that is out of reach, so that it is allocations that fail. With the former the way out is
open: TRUNCATE, CHECKPOINT, and all goes on. After SIGKILL what was acknowledged is there.
"""
import argparse
import collections
import resource
import threading
import time

from kill_bed import Bed, fail
from wire_client import Closed, ServerError, WireClient

SECONDS = 60  # at most, until memory is gone
ROWS = 200


class Load:
    """Sessions beside each other until they are told to stop; what they were refused, by state."""

    def __init__(self, bed):
        self.bed, self.stopping = bed, False
        self.refused, self.served, self.acknowledged = collections.Counter(), collections.Counter(), [0, 0]
        self.threads = [threading.Thread(target=work, args=arguments)
                        for work, *arguments in ((self.insert, 0), (self.insert, 1), (self.check,), (self.read,), (self.knock,))]
        for thread in self.threads:
            thread.start()

    def ask(self, client, what, sql):
        """Whether it was done. A session that was ended comes again."""
        try:
            if client[0] is None:
                client[0] = WireClient(self.bed.root, self.bed.port, patience=60)
            client[0].ask(sql)
            self.served[what] += 1
            return True
        except ServerError as error:
            if error.code not in ("53200", "53300"):
                self.problem(f"{what}: {error}")
            self.refused[what, error.code] += 1
            if error.severity == "FATAL":
                client[0] = None
        except (Closed, OSError) as error:
            self.problem(f"{what}: {error}")
        return False

    def problem(self, words):
        self.stopping = True
        self.refused["problem", words] += 1

    def insert(self, number):
        client = [None]
        while not self.stopping:
            first = self.acknowledged[number]
            sql = f"INSERT INTO grown SELECT {number}, i, repeat(md5(i::text), 400) FROM generate_series({first}, {first + ROWS - 1}) i"
            if self.ask(client, "INSERT", sql):
                self.acknowledged[number] += ROWS
            else:
                time.sleep(0.02)

    def check(self):
        client = [None]
        while not self.stopping:
            self.ask(client, "CHECKPOINT", "CHECKPOINT")
            time.sleep(0.01)

    def read(self):
        client = [None]
        while not self.stopping:
            self.ask(client, "SELECT", "SELECT count(*) FROM small")
            time.sleep(0.01)

    def knock(self):
        others = []
        while not self.stopping:
            client = [None]
            if self.ask(client, "session", "SELECT 1"):
                others.append(client[0])
            if len(others) > 200:
                for other in others[:150]:
                    other.close()
                del others[:150]
            time.sleep(0.005)
        for other in others:
            other.close()

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        for what, words in self.refused:
            if what == "problem":
                fail(f"{words}\n{self.bed.newest_log()}")


def expect_rows(bed, acknowledged):
    client = WireClient(bed.root, bed.port, patience=60)
    for number, count in enumerate(acknowledged):
        rows = client.ask(f"SELECT count(*), coalesce(max(n), -1) FROM grown WHERE c = {number}")
        if rows != [[str(count), str(count - 1)]]:
            fail(f"writer {number}: {rows} instead of {count} rows\n{bed.newest_log()}")
    client.close()


def expect_way_out(bed):
    client = WireClient(bed.root, bed.port, patience=60)
    for sql in "TRUNCATE grown", "CHECKPOINT":
        client.ask(sql)
    client.close()
    load = Load(bed)
    time.sleep(3)
    load.stop()
    if min(load.acknowledged) == 0 or load.served["CHECKPOINT"] == 0:
        fail(f"when memory had come back there was done {dict(load.served)}\n{bed.newest_log()}")
    return load.acknowledged


def run(bed, megabytes, flags):
    bed.options.flags = f"-c worker_threads=2 -c max_connections=1000 {flags}"
    bed.limits = [(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))]
    bed.start()
    client = WireClient(bed.root, bed.port)
    for sql in ("CREATE TABLE grown (c int, n int, pad text, PRIMARY KEY (c, n))", "CREATE TABLE small (n int PRIMARY KEY)",
                "INSERT INTO small SELECT generate_series(1, 100)"):
        client.ask(sql)
    client.close()
    load = Load(bed)
    until = time.monotonic() + SECONDS
    while load.refused["INSERT", "53200"] < 20 and not load.stopping and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)
    load.stop()
    if load.refused["INSERT", "53200"] == 0:
        fail(f"memory did not come to its end: {dict(load.served)}")
    kept = load.acknowledged
    if not flags:
        expect_rows(bed, kept)
        kept = expect_way_out(bed)
    bed.kill()
    bed.limits = []
    bed.start()
    expect_rows(bed, kept)
    bed.stop()
    return f"served {dict(load.served)}, refused {dict(load.refused)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    options = parser.parse_args()
    for megabytes, flags in (1500, ""), (1000, "-c memory_limit=8GB"):
        options.flags = flags
        bed = Bed(options)
        try:
            print(f"{megabytes} MB {flags}: {run(bed, megabytes, flags)}")
        finally:
            bed.remove()
    print("2 passed, 0 failed")


if __name__ == "__main__":
    main()
