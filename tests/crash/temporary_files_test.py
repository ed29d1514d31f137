#!/usr/bin/env python3
"""Temporary files: there while a portal sorts, counted and gone behind it, and gone at the start behind SIGKILL; refused by
temp_file_limit, by a full disk (as root, to mount a small one) and when descriptors are few, which ends the statement alone;
a cancelled sort leaves none, and one whose blocks were overwritten is told so.

usage: temporary_files_test.py PGSILO
"""
import argparse
import contextlib
import os
import resource
import struct
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from kill_bed import Bed, fail
from wire_client import ServerError, WireClient

SORT = "SELECT g FROM generate_series(1, 100000) g ORDER BY -g"


def client(bed):
    one = WireClient(bed.root, bed.port, patience=120)
    one.ask("SET work_mem = '64kB'")
    return one


def names(bed):
    directory = f"{bed.directory}/temporary"
    return os.listdir(directory) if os.path.isdir(directory) else []


def await_files(bed, what, is_right, patience=20):
    end = time.monotonic() + patience
    while not is_right(names(bed)):
        if time.monotonic() > end:
            fail(f"{what}: {names(bed)}")
        time.sleep(0.01)


def expect_error(state, ask, *sql):
    try:
        ask(*sql)
    except ServerError as error:
        if error.code != state:
            fail(f"{sql}: {error}")
        return
    fail(f"{sql}: no error, {state} was expected")


def message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def begin_sort(one):
    """Ten rows from a portal, which stays open."""
    one.ask("BEGIN ISOLATION LEVEL SERIALIZABLE")
    one.socket.sendall(message(b"P", b"\0" + SORT.encode() + b"\0\0\0") + message(b"B", b"sorted\0\0" + bytes(6))
                       + message(b"E", b"sorted\0" + struct.pack("!i", 10)) + message(b"S", b""))
    one.answer()


def expect_rest_fails(state, one):
    one.socket.sendall(message(b"E", b"sorted\0" + bytes(4)) + message(b"S", b""))
    expect_error(state, one.answer)


def close_sort(one):
    one.socket.sendall(message(b"C", b"Psorted\0") + message(b"S", b""))
    one.answer()


def portals(bed):
    one = client(bed)
    begin_sort(one)
    await_files(bed, "a portal that sorts", lambda found: len(found) == 1)
    close_sort(one)
    await_files(bed, "a closed portal", lambda found: not found)
    one.ask("ROLLBACK")
    counted = bed.sql("SELECT temp_files >= 1, temp_bytes > 1000000 FROM pg_stat_database WHERE datname = 'postgres'")
    if counted != [["t", "t"]]:
        fail(f"counters: {counted}")
    one.close()


def lost_client(bed):
    one = client(bed)
    begin_sort(one)
    one.close()
    await_files(bed, "a client that is gone", lambda found: not found)


def limits(bed):
    one = client(bed)
    one.ask("SET temp_file_limit = '200kB'")
    expect_error("53400", one.ask, SORT)
    await_files(bed, "a refused sort", lambda found: not found)
    one.ask("RESET temp_file_limit")
    one.ask(SORT)
    one.ask("SET statement_timeout = '300ms'")
    expect_error("57014", one.ask, "SELECT count(*) FROM (SELECT g FROM generate_series(1, 30000000) g ORDER BY -g OFFSET 1) s")
    await_files(bed, "a cancelled sort", lambda found: not found)
    one.close()


def descriptors(bed):
    """Of 400 a sixteenth is 25."""
    many = [client(bed) for _ in range(26)]
    for one in many[:25]:
        begin_sort(one)
    await_files(bed, "portals up to the share", lambda found: len(found) == 25)
    expect_error("53000", many[25].ask, SORT)
    bed.sql("CHECKPOINT")
    many[0].ask("ROLLBACK")
    await_files(bed, "a place that is free", lambda found: len(found) == 24)
    many[25].ask(SORT)
    for one in many:
        one.close()
    await_files(bed, "portals that are gone", lambda found: not found)


def side_by_side(bed):
    """A short statement does not wait for a long sort on the same worker."""
    one, other = client(bed), client(bed)
    turns = 0
    with ThreadPoolExecutor(1) as threads:
        sorting = threads.submit(one.ask, "SELECT count(*) FROM (SELECT g FROM generate_series(1, 700000) g ORDER BY -g OFFSET 1) s")
        while not sorting.done():
            other.ask("SELECT 1")
            turns += 1
    sorting.result()
    if turns < 20:
        fail(f"beside a sort only {turns} short statements came through")


def damage(bed):
    """A file that somebody has written into, or cut off, is not what was written, and nothing else fails."""
    def overwrite(file):
        for block in range(0, os.path.getsize(file.name), 8192):
            file.seek(block + 100)
            file.write(b"!" * 8)

    one = client(bed)
    for harm in overwrite, lambda file: file.truncate(100000):
        begin_sort(one)
        await_files(bed, "before damage", lambda found: len(found) == 1)
        with open(f"{bed.directory}/temporary/{names(bed)[0]}", "r+b") as file:
            harm(file)
        expect_rest_fails("XX001", one)
        one.ask("ROLLBACK")
        await_files(bed, "behind damage", lambda found: not found)
        one.ask(SORT)
    one.close()


@contextlib.contextmanager
def small_disk(bed, *options):
    """One of four megabytes in place of the directory."""
    directory = f"{bed.directory}/temporary"
    os.makedirs(directory, exist_ok=True)
    mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(("size=4m",) + options), "tmpfs", directory],
                                                   stderr=subprocess.DEVNULL).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", directory], check=True)


def full_disk(bed):
    one, other = client(bed), client(bed)
    counted = "SELECT temp_files FROM pg_stat_database WHERE datname = 'postgres'"
    before = int(bed.sql(counted)[0][0])
    with small_disk(bed) as mounted:
        if not mounted:
            print("no small disk could be mounted: a full one is not tested")
            return
        for _ in range(20):
            expect_error("53100", one.ask, f"SELECT max(r) FROM (SELECT repeat('x', 100) || g AS r FROM generate_series(1, 100000) g ORDER BY -g OFFSET 1) s")
            await_files(bed, "a full disk", lambda found: not found)
            other.ask("SELECT count(*) FROM (SELECT g FROM generate_series(1, 20000) g ORDER BY -g OFFSET 1) s")
    if int(bed.sql(counted)[0][0]) - before != 40:
        fail(f"files that met a full disk are not counted: {before}, then {bed.sql(counted)}")
    # Two files, the directory one of them.
    with small_disk(bed, "nr_inodes=2"):
        begin_sort(one)
        expect_error("53100", other.ask, SORT)
        close_sort(one)
        other.ask(SORT)
        one.ask("ROLLBACK")
        await_files(bed, "a disk that was full of files", lambda found: not found)
    one.close()
    other.close()


def joins_give_way(bed):
    """A hash join in batches, and the merge behind it, see statement_timeout and let others in."""
    one, other = client(bed), client(bed)
    join = "SELECT count(*) FROM (SELECT a.g FROM generate_series(1, 700000) a(g) JOIN generate_series(1, 700000) b(g) ON a.g = b.g OFFSET 1) s"
    for setting in "enable_mergejoin", "enable_nestloop":
        one.ask(f"SET {setting} = off")
    began = time.monotonic()
    one.ask(join)
    whole = time.monotonic() - began
    done = threading.Event()

    def longest_beside():
        longest = 0.0
        while not done.is_set():
            began = time.monotonic()
            other.ask("SELECT 1")
            longest = max(longest, time.monotonic() - began)
        return longest

    late = 0.0
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(longest_beside)
        try:
            for part in 0.2, 0.4, 0.6, 0.8:
                one.ask(f"SET statement_timeout = {int(1000 * part * whole)}")
                began = time.monotonic()
                expect_error("57014", one.ask, join)
                late = max(late, time.monotonic() - began - part * whole)
        finally:
            done.set()
    longest = waiting.result()
    if late > 1 or longest > 1:
        fail(f"statement_timeout came {late:.2f} s late within a join of {whole:.1f} s, and others waited {longest:.2f} s")
    await_files(bed, "a join that was cancelled", lambda found: not found)
    one.close()
    other.close()


def stale_files(bed):
    one = client(bed)
    begin_sort(one)
    await_files(bed, "before SIGKILL", lambda found: len(found) == 1)
    bed.kill()
    await_files(bed, "behind SIGKILL", lambda found: len(found) == 1)
    bed.start()
    await_files(bed, "behind the next start", lambda found: not found, patience=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    options = parser.parse_args()
    options.flags = "-c worker_threads=1"
    bed = Bed(options)
    bed.limits = [(resource.RLIMIT_NOFILE, (400, 400))]
    try:
        bed.start()
        for part in portals, lost_client, limits, descriptors, damage, full_disk, side_by_side, joins_give_way, stale_files:
            part(bed)
        bed.stop()
        print("passed")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
