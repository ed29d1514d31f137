#!/usr/bin/env python3
"""Sets the server's clock by years, to and fro, while clients write and checkpoints run; kills it; restarts it at another time.

usage: clock_loop.py PGSILO_BINARY --clock JUMPING_CLOCK_LIBRARY [--runs 3] [--seconds 2] [--seed N]

Each run goes on with the data directory of the run before.
  - every row whose INSERT was acknowledged is there after the restart, whatever the time of day was then and is now;
  - sleeps, statement_timeout and lock_timeout take as long as they say by a clock that nobody sets;
  - checkpoints go on being made;
  - now() is the time that was set.
"""
import mmap
import os
import random
import struct
import subprocess
import time

from kill_bed import fail, loop

YEAR = 365 * 86400 * 1_000_000
CLIENTS = 4


class Clock:
    """The time of day of the servers that are started while it is there."""

    def __init__(self, bed):
        name = f"{bed.root}/clock"
        with open(name, "wb") as file:
            file.write(bytes(8))
        with open(name, "r+b") as file:
            self.bytes = mmap.mmap(file.fileno(), 8)
        os.environ["JUMPING_CLOCK"] = name

    def set(self, offset_us):
        self.bytes[:8] = struct.pack("q", offset_us)

    def jump(self):
        self.set(random.choice([0, -1_000_000, 3_600_000_000, random.randint(-30 * YEAR, 30 * YEAR)]))

    def now(self):
        return time.time() + struct.unpack("q", self.bytes[:8])[0] / 1_000_000


def start(bed):
    """The library is for the server alone."""
    os.environ["LD_PRELOAD"] = os.path.abspath(bed.options.clock)
    # Where the server is built with a sanitizer, its runtime is not the first library then.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    bed.start()
    del os.environ["LD_PRELOAD"]


def prepare(bed):
    bed.kill()
    bed.options.flags += " -c max_wal_size=8MB"
    bed.clock = Clock(bed)
    start(bed)
    bed.sql("CREATE TABLE written (client int, number int, PRIMARY KEY (client, number))")
    bed.sql("CREATE TABLE held (a int)")
    bed.sql("INSERT INTO held VALUES (1)")
    bed.written = 0


class Load:
    def __init__(self, bed, run):
        self.files = []
        self.processes = []
        for client in range(CLIENTS):
            base = f"{bed.root}/run{run}.{client}"
            with open(f"{base}.sql", "w") as file:
                for number in range(40000):
                    file.write(f"INSERT INTO written VALUES ({client}, {run * 100000 + number}) RETURNING client, number;\n")
            self.files.append(f"{base}.out")
            with open(f"{base}.out", "w") as output:
                self.processes.append(bed.psql(f"{base}.sql", stdout=output))

    def told(self):
        for process in self.processes:
            process.wait()
        for name in self.files:
            with open(name) as file:
                for line in file:
                    if line.endswith("\n") and line.count("|") == 1:
                        yield line.strip()


def expect_duration(bed, clock, text, seconds):
    """The statements take that long, though the clock jumps meanwhile."""
    begun = time.monotonic()
    process = bed.psql("/dev/stdin", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stdin.write(text.encode())
    process.stdin.close()
    while process.poll() is None:
        clock.jump()
        time.sleep(0.02)
        if time.monotonic() - begun > 60:
            fail(f"{text} does not end")
    took = time.monotonic() - begun
    if not seconds <= took < seconds + 10:
        fail(f"{text} took {took:.3f} s instead of {seconds}")


def check_clock(bed, clock):
    clock.jump()
    told = float(bed.sql("SELECT extract(epoch FROM now())")[0][0])
    if abs(told - clock.now()) > 20:
        fail(f"now() is {told}, but the clock says {clock.now()}")


def run(bed, number):
    clock = bed.clock
    load = Load(bed, number)
    expect_duration(bed, clock, "SELECT pg_sleep(0.7);", 0.7)
    expect_duration(bed, clock, "SET statement_timeout = '600ms'; SELECT pg_sleep(50);", 0.6)
    expect_duration(bed, clock, "BEGIN; SELECT * FROM held FOR UPDATE; SELECT pg_sleep(0.5); COMMIT;", 0.5)
    expect_duration(bed, clock, "CHECKPOINT;", 0)
    check_clock(bed, clock)
    begun = time.monotonic()
    while time.monotonic() - begun < bed.options.seconds:
        clock.jump()
        time.sleep(random.random() / 10)
    bed.kill()
    acknowledged = {tuple(line.split("|")) for line in load.told()}
    clock.jump()
    start(bed)
    there = {tuple(row) for row in bed.sql("SELECT client, number FROM written")}
    lost = acknowledged - there
    if lost:
        fail(f"{len(lost)} acknowledged rows are lost, among them {min(lost)}")
    checkpoint = int(bed.sql("SELECT checkpoint FROM pgsilo_recovery")[0][0])
    if checkpoint == 0:
        fail("no checkpoint was made")
    return f"{len(acknowledged)} rows acknowledged, {len(there)} there, checkpoint {checkpoint}"


if __name__ == "__main__":
    loop(__doc__, {"runs": 3, "seconds": 2.0, "clock": ""}, prepare, run)
