#!/usr/bin/env python3
"""pgsilo-backup over a server under load: what was acknowledged before the backup is in it, across SIGKILL of the server and of
what was restored; earlier states; copies that are not whole; the functions' errors.

usage: backup_test.py PGSILO_BINARY     (the tools lie beside it)
"""
import argparse
import os
import shutil
import subprocess
import threading
import time

from kill_bed import Bed, fail
from tools_test import Tools, expect
from wire_client import ServerError, WireClient


class Writer(threading.Thread):
    """A client that commits row after row and notes how many were acknowledged."""

    def __init__(self, bed, number):
        super().__init__(daemon=True)
        self.client = WireClient(bed.root, bed.port)
        self.number = number
        self.acknowledged = 0
        self.ends = False

    def run(self):
        while not self.ends:
            self.client.ask(f"insert into t values ({self.number}, {self.acknowledged + 1})")
            self.acknowledged += 1

    def end(self):
        self.ends = True
        self.join()
        self.client.close()


def refusal(bed, statements):
    client = WireClient(bed.root, bed.port)
    try:
        for statement in statements:
            client.ask(statement)
    except ServerError as error:
        return str(error)
    finally:
        client.close()
    return fail(f"{statements}: not refused")


def check_functions(bed):
    for statements, words in [(["select * from pg_backup_stop()"], "55000: backup is not in progress"),
                              (["select pg_backup_start('a')", "select pg_backup_start('b')"],
                               "55000: a backup is already in progress in this session"),
                              ([f"select pg_backup_start('{'x' * 1025}')"],
                               "22023: backup label too long (max 1024 bytes)")]:
        said = refusal(bed, statements)
        if said != words:
            fail(f"{statements}: {said}")
    if bed.sql("select pg_current_wal_insert_lsn() >= pg_current_wal_flush_lsn(), pg_is_in_recovery()") != [["t", "f"]]:
        fail("places in the log")


def opened(bed, directory):
    """A second server, on a restored directory."""
    other = Bed(bed.options)
    shutil.rmtree(f"{other.root}/data", ignore_errors=True)
    os.rename(directory, f"{other.root}/data")
    other.start()
    return other


def holds(bed, what, at_least, at_most):
    """Of each writer a prefix, no shorter than `at_least` says, no longer than `at_most`."""
    for number, (least, most) in enumerate(zip(at_least, at_most)):
        count, largest = map(int, bed.sql(f"select count(*), coalesce(max(b), 0) from t where a = {number}")[0])
        if count != largest or not least <= count <= most:
            fail(f"{what}: writer {number} has {count} rows up to {largest}, {least} to {most} were expected")


def check_backup(tools, bed):
    writers = [Writer(bed, number) for number in range(3)]
    for writer in writers:
        writer.start()
    time.sleep(1)
    bed.sql("checkpoint")
    time.sleep(0.5)
    before = [writer.acknowledged for writer in writers]
    taken = tools.run("backup", "take", "-l", "nightly", *bed.address(), f"{bed.root}/backup")
    expect(taken.returncode == 0, "take", taken)
    after = [writer.acknowledged + 1 for writer in writers]
    time.sleep(0.5)
    bed.sql("checkpoint")
    for writer in writers:
        writer.end()
    bed.kill()

    again = tools.run("backup", "take", *bed.address(), f"{bed.root}/other")
    expect(again.returncode == 1 and "pgsilo-backup: error: connection to server" in again.stderr, "no server", again)
    full = tools.run("backup", "restore", f"{bed.root}/backup", f"{bed.root}/data")
    expect(full.returncode == 1 and "exists but is not empty" in full.stderr, "directory is not empty", full)
    shown = tools.run("backup", "show", f"{bed.root}/backup")
    expect(shown.returncode == 0 and shown.stdout.startswith("label: nightly\n"), "show", shown)

    restored = tools.run("backup", "restore", f"{bed.root}/backup", f"{bed.root}/restored")
    expect(restored.returncode == 0 and "start it with: pgsilo -D" in restored.stdout, "restore", restored)
    other = opened(bed, f"{bed.root}/restored")
    holds(other, "restored", before, after)
    other.sql("insert into t values (9, 1)")
    other.kill()
    other.start()
    holds(other, "restored, killed and started", before, after)
    if other.sql("select count(*) from t where a = 9") != [["1"]]:
        fail("what was committed after the restore is gone")
    other.stop()
    other.remove()
    return before, after, shown.stdout


def check_targets(tools, bed, before, after, shown):
    numbers = [int(line.split("epoch ")[1].split()[0]) for line in shown.splitlines() if "epoch" in line]
    latest, earliest = numbers
    early = tools.run("backup", "restore", "-e", str(earliest - 1), f"{bed.root}/backup", f"{bed.root}/early")
    expect(early.returncode == 1 and "holds no state before epoch" in early.stderr, "too early", early)
    late = tools.run("backup", "restore", "-e", str(latest + 10 ** 6), f"{bed.root}/backup", f"{bed.root}/late")
    expect(late.returncode == 1 and "the backup is not whole, or damaged" in late.stderr, "too late", late)
    done = tools.run("backup", "restore", "-e", str(earliest), f"{bed.root}/backup", f"{bed.root}/first")
    expect(done.returncode == 0, "earliest state", done)
    other = opened(bed, f"{bed.root}/first")
    holds(other, "earliest state", [1] * len(before), after)
    other.stop()
    other.remove()


def clock(bed):
    return " ".join(bed.sql("select clock_timestamp()")[0])


def check_times(tools, bed):
    """Rows whose moments are known from both sides, before the backup and while it is copied."""
    bed.sql("create table moments (n int primary key)")
    bed.sql("checkpoint")
    moments = []
    for n in range(6):
        bed.sql(f"insert into moments values ({n})")
        moments.append(clock(bed))
        time.sleep(0.02)
    bed.sql("insert into moments values (6)")
    taken = tools.run("backup", "take", *bed.address(), f"{bed.root}/timed")
    expect(taken.returncode == 0, "take", taken)
    shown = tools.run("backup", "show", f"{bed.root}/timed")
    expect("times of states: 20" in shown.stdout, "show", shown)
    for n in (0, 3, 5):
        target = f"{bed.root}/moment{n}"
        done = tools.run("backup", "restore", "-t", moments[n], f"{bed.root}/timed", target)
        expect(done.returncode == 0, f"restore to {moments[n]}", done)
        other = opened(bed, target)
        found = other.sql("select n from moments order by n")
        if found != [[str(i)] for i in range(n + 1)]:
            fail(f"at {moments[n]} there are {found}, not all up to {n}")
        other.stop()
        other.remove()
    for when, words in [("2001-01-01 00:00Z", "the backup holds no state before 20"),
                        (clock(bed), "the backup holds no state after 20")]:
        done = tools.run("backup", "restore", "--target-time", when, f"{bed.root}/timed", f"{bed.root}/never")
        expect(done.returncode == 1 and words in done.stderr and "It holds those from 20" in done.stderr, when, done)
    for arguments in [["-t", "noon"], ["-t", "2026-11-24 14:03"], ["-t", "2026-11-24 14:03Z", "-e", "7"]]:
        done = tools.run("backup", "restore", *arguments, f"{bed.root}/timed", f"{bed.root}/never")
        expect(done.returncode == 2 and "--target-time" in done.stderr, f"restore {arguments}", done)
    bed.sql("checkpoint")
    bed.sql("checkpoint")
    time.sleep(0.5)
    at_rest = tools.run("backup", "take", *bed.address(), f"{bed.root}/rest")
    expect(at_rest.returncode == 0, "take", at_rest)
    shown = tools.run("backup", "show", f"{bed.root}/rest")
    expect(shown.returncode == 0 and "times of states: 20" in shown.stdout, "show a backup of a server at rest", shown)
    state, earliest = (int(line.split("epoch ")[1].split()[0]) for line in shown.stdout.splitlines() if "epoch" in line)
    if state < earliest:
        fail(f"a backup of a server at rest is of an epoch before the earliest that it holds: {shown.stdout}")
    if os.path.exists(f"{bed.root}/never"):
        fail("a refused restore left a directory")


def lay(files, directory):
    for name, content in files.items():
        with open(f"{directory}/{name}", "wb") as file:
            file.write(content)


def segments(directory):
    found = {}
    for name in os.listdir(directory):
        if name.endswith(".segment"):
            with open(f"{directory}/{name}", "rb") as file:
                found[name] = file.read()
    return found


def check_fork(tools, bed, shown):
    """The log of what was restored to an earlier state and went on is none of the original's."""
    earliest = shown.split("earliest state: epoch ")[1].split()[0]
    done = tools.run("backup", "restore", "-e", earliest, f"{bed.root}/backup", f"{bed.root}/fork")
    expect(done.returncode == 0, "fork", done)
    other = opened(bed, f"{bed.root}/fork")
    other.sql("insert into t values (77, 1)")
    other.kill()
    bed.start()
    bed.sql("insert into t values (88, 1)")
    bed.kill()
    right = segments(f"{bed.root}/data/wal")
    lay(segments(f"{other.root}/data/wal"), f"{bed.root}/data/wal")
    refused = subprocess.run([bed.options.binary, "-D", f"{bed.root}/data", "-p", bed.port, "-k", bed.root], capture_output=True, text=True)
    said = refused.stdout + refused.stderr
    if refused.returncode == 0 or f"{bed.root}/data/wal/" not in said or "another copy of this database" not in said:
        fail(f"a fork's log was not refused by name: {said}")
    lay(right, f"{bed.root}/data/wal")
    bed.start()
    if bed.sql("select a from t where a in (77, 88)") != [["88"]]:
        fail("with its own log again the original is another one")
    bed.kill()
    other.remove()


def check_damage(tools, bed):
    segment = sorted(name for name in os.listdir(f"{bed.root}/backup/wal") if name.endswith(".segment"))[0]
    os.rename(f"{bed.root}/backup/wal/{segment}", f"{bed.root}/{segment}")
    lacks = tools.run("backup", "restore", f"{bed.root}/backup", f"{bed.root}/lacks")
    expect(lacks.returncode == 1 and "the backup is not whole, or damaged" in lacks.stderr, "without a segment", lacks)
    os.rename(f"{bed.root}/{segment}", f"{bed.root}/backup/wal/{segment}")
    with open(f"{bed.root}/backup/backup_label", "r+b") as label:
        label.seek(100)
        label.write(b"!")
    torn = tools.run("backup", "show", f"{bed.root}/backup")
    expect(torn.returncode == 1 and "is damaged, or not whole" in torn.stderr, "damaged label", torn)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    options = parser.parse_args()
    options.flags = "-c worker_threads=2"
    tools = Tools(options.binary)
    bed = Bed(options)
    try:
        bed.start()
        bed.sql("create table t (a int, b int, primary key (a, b))")
        check_functions(bed)
        check_times(tools, bed)
        before, after, shown = check_backup(tools, bed)
        check_targets(tools, bed, before, after, shown)
        check_fork(tools, bed, shown)
        check_damage(tools, bed)
        bed.start()
        bed.stop()
        for arguments in [[], ["take"], ["restore", "x"], ["nonsense", "x"], ["show", "-e", "x", "y"]]:
            done = tools.run("backup", *arguments)
            expect(done.returncode == 2 and "pgsilo-backup" in done.stderr, f"backup {arguments}", done)
        done = tools.run("backup", "--help")
        expect(done.returncode == 0 and done.stdout.startswith("pgsilo-backup "), "--help", done)
        print("passed")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
