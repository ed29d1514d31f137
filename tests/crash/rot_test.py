#!/usr/bin/env python3
"""Bytes of a checkpoint's files change while the server runs, on the real binary.

usage: rot_test.py PGSILO

The server finds it, says so, and writes them anew from memory: after SIGKILL everything is there. Without that the start is
refused.
"""
import argparse
import glob
import os
import subprocess
import time

from kill_bed import Bed, fail

ROWS = 20000


def checkpoint_file(bed):
    names = glob.glob(f"{bed.root}/data/checkpoint/*.checkpoint")
    if len(names) != 1:
        fail(f"there are {len(names)} files of checkpoints")
    return names[0]


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x10]))
        file.flush()
        os.fsync(file.fileno())


def wait_for(bed, sql, wanted):
    found = None
    for _ in range(600):
        found = bed.sql(sql)
        if found == [wanted]:
            return
        time.sleep(0.05)
    fail(f"{sql}: {found} instead of {wanted}; the log:\n{bed.newest_log()}")


def refused(bed):
    """What a start that must be refused says."""
    done = subprocess.run([bed.options.binary, "-D", f"{bed.root}/data", "-p", bed.port, "-k", bed.root]
                          + bed.options.flags.split(), capture_output=True, text=True, timeout=120)
    if done.returncode == 0:
        fail("the server started")
    return done.stdout + done.stderr


def fill(bed):
    bed.sql(f"create table rows as select i, repeat('r', 90) as text from generate_series(1, {ROWS}) i")
    bed.sql("checkpoint")


def found_and_repaired(binary):
    bed = Bed(argparse.Namespace(binary=binary, flags="-c scrub_interval=1"))
    try:
        bed.start()
        fill(bed)
        wait_for(bed, "select passes > 0, checkpoint_bytes > 1000000, damaged, last_fault is null from pgsilo_scrub",
                 ["t", "t", "0", "t"])
        path = checkpoint_file(bed)
        flip(path, os.path.getsize(path) // 2)
        wait_for(bed, "select cause, state from pgsilo_checkpoints order by number desc limit 1", ["damage", "complete"])
        wait_for(bed, "select damaged, unreadable, repairs, last_fault_time <= now() from pgsilo_scrub", ["1", "0", "1", "t"])
        fault = " ".join(bed.sql("select last_fault from pgsilo_scrub")[0])
        relation, = bed.sql("select relfilenode from pg_class where relname = 'rows'")[0]
        if path not in fault or not fault.endswith(f", of relation {relation}"):
            fail(f"it says only: {fault}")
        if f"WARNING:  {fault}" not in bed.newest_log() or "HINT:  A new checkpoint is made" not in bed.newest_log():
            fail(f"the log does not say so:\n{bed.newest_log()}")
        bed.kill()
        bed.start()
        if bed.sql("select count(*) from rows") != [[str(ROWS)]]:
            fail("rows are missing")
        bed.stop()
    finally:
        bed.remove()


def refused_without(binary):
    bed = Bed(argparse.Namespace(binary=binary, flags="-c scrub_interval=0"))
    try:
        bed.start()
        fill(bed)
        path = checkpoint_file(bed)
        flip(path, os.path.getsize(path) // 2)
        time.sleep(2)
        bed.kill()
        if f'checkpoint file "{path}" is damaged at offset' not in refused(bed):
            fail("a start over damage does not say where it is")
    finally:
        bed.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    binary = parser.parse_args().binary
    found_and_repaired(binary)
    refused_without(binary)
    print("rot_test: passed")


if __name__ == "__main__":
    main()
