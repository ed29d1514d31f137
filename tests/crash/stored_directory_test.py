#!/usr/bin/env python3
"""Data directories as servers of earlier formats left them, killed with work in their logs: each is found sound, opened, and gone on with.

usage: stored_directory_test.py PGSILO [--keep ARCHIVE]

tests/crash/stored holds one for each format that a directory may have, named after it. With --keep a new one is made by this
server, before a change of the format. What is in them is always what WORK leaves, replication slots apart, of which the oldest know
nothing.
"""
import argparse
import glob
import lzma
import os
import shutil
import subprocess
import tarfile

from kill_bed import Bed, fail

STORED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stored")
WORK = ["CREATE TABLE accounts (id int PRIMARY KEY, owner text NOT NULL, balance numeric(12,2))",
        "CREATE INDEX accounts_owner ON accounts (owner)",
        "CREATE SEQUENCE numbers",
        "INSERT INTO accounts SELECT i, 'owner ' || i % 7, i * 1.25 FROM generate_series(1, 200) i",
        "SELECT nextval('numbers'), nextval('numbers')",
        "CHECKPOINT",
        "SELECT * FROM pg_create_physical_replication_slot('kept', true)",
        "UPDATE accounts SET balance = balance + 1 WHERE id <= 50",
        "DELETE FROM accounts WHERE id > 190",
        "INSERT INTO accounts VALUES (1000, repeat('long ', 1000), NULL)",
        "CREATE TABLE later (t text)",
        "INSERT INTO later VALUES ('after the checkpoint')",
        "SELECT nextval('numbers')"]


def unpack(archive, directory):
    """With holes where there are zeros: segments are mostly empty."""
    with tarfile.open(archive) as tar:
        for member in tar:
            path = os.path.join(directory, member.name)
            if member.isdir():
                os.makedirs(path, mode=0o700, exist_ok=True)
                continue
            with tar.extractfile(member) as source, open(path, "wb") as target:
                while piece := source.read(1 << 20):
                    if piece.strip(b"\0"):
                        target.write(piece)
                    else:
                        target.seek(len(piece), os.SEEK_CUR)
                target.truncate(member.size)


def expect(bed, what, query, rows):
    found = bed.sql(query)
    if found != rows:
        fail(f"{what}: {query}: {found}, not {rows}")


def check(bed, what, more, slots):
    expect(bed, what, "SELECT count(*), sum(balance) FROM accounts WHERE id < 1000", [["190", "22731.25"]])
    expect(bed, what, "SELECT length(owner) FROM accounts WHERE id = 1000", [["5000"]])
    expect(bed, what, "SELECT count(*) FROM accounts WHERE owner = 'owner 3'", [["27"]])
    expect(bed, what, "SELECT count(*) FROM later", [[str(1 + more)]])
    expect(bed, what, "SELECT slot_name, wal_status FROM pg_replication_slots", slots)


def open_stored(bed, archive):
    name = os.path.basename(archive)
    shutil.rmtree(f"{bed.root}/data", ignore_errors=True)
    unpack(archive, f"{bed.root}/data")
    slots = [["kept", "reserved"]] if os.path.exists(f"{bed.root}/data/pgsilo.slots") else []
    verify = os.path.join(os.path.dirname(os.path.abspath(bed.options.binary)), "pgsilo-verify")
    verified = subprocess.run([verify, f"{bed.root}/data"], capture_output=True, text=True)
    if verified.returncode != 0:
        fail(f"{name}: pgsilo-verify: {verified.stderr}")
    for more in range(3):
        bed.start()
        check(bed, f"{name}, start {more + 1}", more, slots)
        if more == 0 and int(bed.sql("SELECT nextval('numbers')")[0][0]) <= 3:
            fail(f"{name}: a sequence gives a number twice")
        bed.sql(f"INSERT INTO later VALUES ('start {more + 1}')")
        if more == 1:
            bed.sql("CHECKPOINT")
        bed.kill()
    print(f"{name}: opened, and gone on with")


def keep(bed, archive):
    bed.start()
    for statement in WORK:
        bed.sql(statement)
    bed.kill()
    os.remove(f"{bed.root}/data/postmaster.pid")
    with lzma.open(archive, "wb", preset=9 | lzma.PRESET_EXTREME) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(f"{bed.root}/data", arcname=".")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.flags = ""
    bed = Bed(options)
    try:
        if options.keep:
            return keep(bed, options.keep)
        archives = sorted(glob.glob(f"{STORED}/*.tar.xz"))
        if not archives:
            fail(f"{STORED} holds no directory")
        for archive in archives:
            open_stored(bed, archive)
    finally:
        bed.remove()


main()
