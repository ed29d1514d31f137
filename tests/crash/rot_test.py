#!/usr/bin/env python3
"""Bytes of a checkpoint's files change while the server runs, on the real binary.

usage: rot_test.py PGSILO

The server finds it, says so, and writes them anew from memory: after SIGKILL everything is there. Without that the start is
refused; with recovery_skip_damaged_blocks it leaves out the rows of one block, says which, and indexes agree with the rest.
"""
import argparse
import glob
import os
import re
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


def expect_in_log(bed, words):
    """The server writes its log behind what it does."""
    for _ in range(600):
        if words in bed.newest_log():
            return
        time.sleep(0.05)
    fail(f"the log does not say {words}:\n{bed.newest_log()}")


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
        if path not in fault or not re.search(r' is damaged at offset \d+: \d+ rows of table "public\.rows", from .+ to .+', fault):
            fail(f"it says only: {fault}")
        expect_in_log(bed, f"WARNING:  {fault}")
        expect_in_log(bed, "HINT:  A new checkpoint is made")
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


def fill_with_references(bed):
    bed.sql("create table parents (id integer primary key, j integer not null, t text)")
    bed.sql("create index parents_t on parents (t, j)")
    bed.sql("create unique index parents_j on parents (j)")
    bed.sql("create index parents_even on parents ((j + 1)) where id % 2 = 0")
    bed.sql(f"insert into parents select i, i * 7, 'needle ' || i from generate_series(1, {ROWS}) i")
    bed.sql("create table children (id integer primary key, parent integer constraint to_parents references parents)")
    bed.sql("insert into children select i, i from generate_series(1, 100) i")
    bed.sql("create table others as select i from generate_series(1, 1000) i")
    bed.sql("checkpoint")
    bed.sql(f"insert into parents values ({ROWS + 1}, {7 * (ROWS + 1)}, 'new')")
    bed.sql(f"update parents set t = 'changed' where id = {ROWS // 2 + 1}")


def check_what_is_left(bed):
    if bed.sql("select count(*) from others") != [["1000"]] or bed.sql("select count(*) from children") != [["100"]]:
        fail("rows of other tables are missing")
    left = int(bed.sql("select count(*) from parents")[0][0])
    if not ROWS // 2 < left <= ROWS:
        fail(f"{left} rows are left")
    if bed.sql(f"select id from parents where id = {ROWS // 2} or j = {7 * (ROWS // 2)}"):
        fail("a row is there that was lost")
    if bed.sql(f"select id, t from parents where j >= {7 * (ROWS // 2 + 1)} and (id = {ROWS // 2 + 1} or t = 'new')") \
            != [[str(ROWS // 2 + 1), "changed"], [str(ROWS + 1), "new"]]:
        fail("what was changed since the checkpoint is not there")
    # Each index, by itself.
    for condition in ("p.j = i * 7", "p.t = 'needle ' || i"):
        found = int(bed.sql(f"select count(p.id) from generate_series(1, {ROWS + 1}) i, parents p where {condition}")[0][0])
        if found != left - (0 if "j" in condition else 2):
            fail(f"{found} rows of {left} by {condition}")
    even = int(bed.sql("select sum(1 - id % 2) from parents")[0][0])
    found = int(bed.sql(f"select count(p.id) from generate_series(1, {ROWS + 1}) i, parents p"
                        " where p.j + 1 = i * 7 + 1 and p.id % 2 = 0")[0][0])
    if found != even:
        fail(f"{found} rows of {even} by an expression")
    # No entry is left that would keep a row away.
    bed.sql(f"insert into parents select i, i * 7, 'again' from generate_series(1, {ROWS}) i on conflict do nothing")
    if bed.sql("select count(*), count(distinct j), sum(case when t = 'again' then 1 else 0 end) from parents") \
            != [[str(ROWS + 1), str(ROWS + 1), str(ROWS + 1 - left)]]:
        fail("rows cannot be inserted again")


def left_out(binary):
    bed = Bed(argparse.Namespace(binary=binary, flags="-c scrub_interval=0"))
    try:
        bed.start()
        fill_with_references(bed)
        bed.kill()
        path = checkpoint_file(bed)
        with open(path, "rb") as file:
            place = file.read().find(f"needle {ROWS // 2}".encode())
        if place < 0:
            fail("there is no such row in the checkpoint")
        flip(path, place)
        if "recovery_skip_damaged_blocks=on" not in refused(bed):
            fail("the refusal does not say what to do")
        plain = bed.options.flags
        bed.options.flags = plain + " -c recovery_skip_damaged_blocks=on"
        bed.start()
        for words in (f'WARNING:  checkpoint file "{path}" is damaged at offset ',
                      ' rows of table "public.parents" were left out, from (id)=(', " to (id)=(",
                      'rows of table "public.children" may refer by foreign key "to_parents" to rows of "public.parents"',
                      'index "public.parents_j" agrees with its table again: ',
                      'index "public.parents_even" agrees with its table again: '):
            expect_in_log(bed, words)
        if bed.sql("select data_loss like 'damaged blocks of the checkpoint were left out: 1 with % records' from pgsilo_recovery") \
                != [["t"]]:
            fail("pgsilo_recovery does not say so")
        check_what_is_left(bed)
        wait_for(bed, "select count(*) from pgsilo_checkpoints where cause = 'damage' and state = 'complete'", ["1"])
        bed.kill()
        bed.options.flags = plain
        bed.start()
        if bed.sql("select count(*) from parents") != [[str(ROWS + 1)]]:
            fail("rows are missing after the checkpoint")
        bed.stop()
    finally:
        bed.remove()


def found_without_a_footer(binary):
    bed = Bed(argparse.Namespace(binary=binary, flags="-c scrub_interval=0"))
    try:
        bed.start()
        fill_with_references(bed)
        bed.kill()
        path = checkpoint_file(bed)
        with open(path, "rb") as file:
            flip(path, file.read().rfind(b"PSCF") + 40)
        if "recovery_skip_damaged_blocks=on" not in refused(bed):
            fail("the refusal does not say what to do")
        bed.options.flags += " -c recovery_skip_damaged_blocks=on"
        bed.start()
        expect_in_log(bed, ": it was searched, and all of its blocks were found")
        if bed.sql("select count(*), max(j) from parents") != [[str(ROWS + 1), str(7 * (ROWS + 1))]]:
            fail("rows are missing")
        bed.stop()
    finally:
        bed.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    binary = parser.parse_args().binary
    found_and_repaired(binary)
    refused_without(binary)
    left_out(binary)
    found_without_a_footer(binary)
    print("rot_test: passed")


if __name__ == "__main__":
    main()
