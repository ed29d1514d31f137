#!/usr/bin/env python3
"""A server whose disk is full, on a small file system of its own: the way out is open, from inside, and nothing is lost.

usage: full_disk_test.py PGSILO     (as root, to mount the file system; else it is skipped)

Clients insert until they are refused (53100), beside readers that notice nothing. Then DELETE, TRUNCATE and CHECKPOINT make room
and writers go on by themselves. A server that is killed on a full disk starts there, serves reads, and writes when there is space.
"""
import argparse
import contextlib
import os
import subprocess
import sys
import threading
import time

from kill_bed import Bed, fail
from wire_client import ServerError, WireClient

MEGABYTES = 450
BALLAST = 120  # megabytes
SKIPPED = 77


class SmallDisk:
    """An ext4 of its own at the place of the data directory."""

    def __init__(self, bed):
        self.image, self.directory = f"{bed.root}/image", f"{bed.root}/data"
        os.mkdir(self.directory)
        with open(self.image, "wb") as file:
            file.truncate(MEGABYTES << 20)
        self.mounted = self.command("mkfs.ext4", "-q", "-m0", self.image) and self.command("mount", "-o", "loop", self.image, self.directory)
        if self.mounted:
            os.rmdir(f"{self.directory}/lost+found")

    @staticmethod
    def command(*words):
        try:
            return subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0
        except FileNotFoundError:
            return False

    def free(self):
        status = os.statvfs(self.directory)
        return status.f_bavail * status.f_frsize

    def take(self, megabytes):
        """What others have there: so much, or half of what is free if that is less."""
        with open(f"{self.directory}/wal/ballast", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, min(megabytes << 20, self.free() // 2))

    def give_back(self):
        os.remove(f"{self.directory}/wal/ballast")

    @contextlib.contextmanager
    def full_to_the_last_block(self):
        path = f"{self.directory}/wal/last blocks"
        with open(path, "wb", buffering=0) as file:
            for piece in 1 << 20, 4096:
                with contextlib.suppress(OSError):
                    while True:
                        file.write(b"x" * piece)
        yield
        os.remove(path)

    def remove(self):
        if self.mounted:
            self.command("umount", self.directory)


class Clients:
    """They insert into `grown`, each its own numbers from 1 on, and one reads, until they are told to stop."""

    def __init__(self, bed, count=3):
        self.bed, self.stopping, self.acknowledged, self.refused, self.problems = bed, False, [0] * count, 0, []
        self.longest_read = 0.0
        self.threads = [threading.Thread(target=self.write, args=(number,)) for number in range(count)]
        self.threads.append(threading.Thread(target=self.read))
        for thread in self.threads:
            thread.start()

    def write(self, number):
        client = WireClient(self.bed.root, self.bed.port, patience=60)
        while not self.stopping:
            first = self.acknowledged[number] + 1
            # Nothing that an index or compression would make small.
            sql = f"INSERT INTO grown SELECT {number}, i, (SELECT string_agg(md5(i::text || j::text), '') FROM generate_series(1, 60) j) " \
                  f"FROM generate_series({first}, {first + 39}) i"
            try:
                client.ask(sql)
                self.acknowledged[number] += 40
            except ServerError as error:
                if error.code != "53100":
                    self.problems.append(f"a writer met {error}")
                    return
                self.refused += 1
                time.sleep(0.05)

    def read(self):
        client = WireClient(self.bed.root, self.bed.port, patience=60)
        while not self.stopping:
            begun = time.monotonic()
            if client.ask("SELECT count(*) FROM small") != [["100"]]:
                self.problems.append("a reader found something else")
            self.longest_read = max(self.longest_read, time.monotonic() - begun)
            time.sleep(0.01)

    def wait_for(self, fact, what, seconds=90):
        until = time.monotonic() + seconds
        while not fact():
            if time.monotonic() > until:
                self.problems.append(f"in {seconds} seconds there was no {what}")
                break
            time.sleep(0.02)

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        for problem in self.problems:
            fail(f"{problem}\n{self.bed.newest_log()}")


def ask(bed, sql):
    client = WireClient(bed.root, bed.port, patience=60)
    try:
        return client.ask(sql)
    finally:
        client.close()


def code_of(bed, sql):
    try:
        ask(bed, sql)
    except ServerError as error:
        return error.code
    return None


def expect(fact, what, bed):
    if not fact:
        told = [line for line in bed.log_text().splitlines() if "53100" not in line and "could not write to the log" not in line and "STATEMENT" not in line]
        fail("\n".join([what, *told[-40:]]))


def make_tables(bed):
    ask(bed, "DROP TABLE IF EXISTS grown")
    ask(bed, "CREATE TABLE grown (c int, n int, pad text, PRIMARY KEY (c, n))")


def fill_up(bed):
    """Until checkpoints, too, find no more room for a while."""
    clients = Clients(bed)
    count, since = 0, time.monotonic()

    def stuck():
        nonlocal count, since
        if sum(clients.acknowledged) != count:
            count, since = sum(clients.acknowledged), time.monotonic()
        return clients.refused > 20 and time.monotonic() - since > 3

    clients.wait_for(stuck, "end of space", seconds=200)
    clients.stop()
    return clients


def expect_rows(bed, acknowledged):
    for number, count in enumerate(acknowledged):
        rows = ask(bed, f"SELECT count(*), coalesce(max(n), 0) FROM grown WHERE c = {number}")
        expect(rows == [[str(count), str(count)]], f"writer {number}: {rows} instead of {count} rows", bed)


def expect_writers_go_on(bed):
    begun = time.monotonic()
    while code_of(bed, "INSERT INTO small VALUES (101)") is not None:
        expect(time.monotonic() < begun + 5, "writers do not go on when there is space", bed)
        time.sleep(0.05)
    ask(bed, "DELETE FROM small WHERE n = 101")
    return time.monotonic() - begun


def run(bed, disk):
    bed.start()
    make_tables(bed)
    ask(bed, "CREATE TABLE small (n int PRIMARY KEY)")
    ask(bed, "INSERT INTO small SELECT generate_series(1, 100)")
    ask(bed, "SELECT * FROM pg_create_physical_replication_slot('kept', true)")
    disk.take(BALLAST)
    full = fill_up(bed)
    expect("is filling up" in bed.log_text(), "there was no warning", bed)

    # Killed there: the next start serves reads, and writers when there is space.
    with disk.full_to_the_last_block():
        expect_rows(bed, full.acknowledged)
        expect(code_of(bed, "INSERT INTO small VALUES (101)") == "53100", "a writer was not refused on a full disk", bed)
        expect(code_of(bed, "CHECKPOINT") == "53100", "a checkpoint for which there is no room", bed)
        bed.kill()
        bed.start()
        expect_rows(bed, full.acknowledged)
        expect(code_of(bed, "INSERT INTO small VALUES (101)") == "53100", "a writer was not refused after a start on a full disk", bed)
        # What gives log back is not refused.
        for sql in "SELECT * FROM pg_replication_slot_advance('kept', pg_current_wal_flush_lsn())", "SELECT pg_drop_replication_slot('kept')":
            expect(code_of(bed, sql) is None, f"{sql} on a full disk", bed)
    disk.give_back()
    waited = expect_writers_go_on(bed)

    # From inside.
    disk.take(BALLAST // 4)
    for ways_out in ["DELETE FROM grown WHERE n % 2 = 0", "DELETE FROM grown"], ["TRUNCATE grown"], ["DROP TABLE grown"]:
        make_tables(bed)
        fill_up(bed)
        with disk.full_to_the_last_block():
            for sql in *ways_out, "CHECKPOINT":
                expect(code_of(bed, sql) is None, f"{sql} on a full disk", bed)
            expect_writers_go_on(bed)
    make_tables(bed)
    clients = Clients(bed)
    clients.wait_for(lambda: min(clients.acknowledged) >= 200, "row of each writer")
    clients.stop()
    bed.kill()
    bed.start()
    expect_rows(bed, clients.acknowledged)
    bed.stop()
    return f"{sum(full.acknowledged)} rows until the disk was full, longest read {full.longest_read:.3f} s, writers went on {waited:.2f} s " \
           "after there was space"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--flags", default="-c worker_threads=2 -c max_wal_size=128MB")
    bed = Bed(parser.parse_args())
    disk = SmallDisk(bed)
    try:
        if not disk.mounted:
            print("skipped: no file system can be mounted here")
            return SKIPPED
        print(f"1 passed, 0 failed: {run(bed, disk)}")
        return 0
    finally:
        if bed.process and bed.process.poll() is None:
            bed.kill()
        disk.remove()
        bed.remove()


if __name__ == "__main__":
    sys.exit(main())
