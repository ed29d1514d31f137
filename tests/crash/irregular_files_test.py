#!/usr/bin/env python3
"""What is no regular file in a file's place is refused by name, by the server and by the tools: nobody waits for it.

usage: irregular_files_test.py PGSILO_BINARY     (the tools lie beside it)
"""
import argparse
import contextlib
import os
import socket
import subprocess

from kill_bed import Bed, fail
from tools_test import Tools, expect

PATIENCE = 30  # seconds


def put_socket(path):
    """By a short name: that of a socket is."""
    with socket.socket(socket.AF_UNIX) as made:
        directory = os.open(os.path.dirname(path), os.O_RDONLY)
        made.bind(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
        os.close(directory)


KINDS = {"FIFO": os.mkfifo, "socket": put_socket, "device": lambda path: os.symlink("/dev/zero", path), "directory": os.mkdir}


@contextlib.contextmanager
def replaced(path, put):
    os.rename(path, f"{path}.away")
    put(path)
    yield
    if os.path.isdir(path):
        os.rmdir(path)
    else:
        os.remove(path)
    os.rename(f"{path}.away", path)


class Programs:
    def __init__(self, binary):
        self.tools = os.path.dirname(os.path.abspath(binary))

    def refuses(self, what, path, *command):
        program = command[0]
        full = [program if "/" in program else f"{self.tools}/{program}", *command[1:]]
        try:
            done = subprocess.run(full, capture_output=True, text=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            fail(f"{what} in the place of {path}: {program} hangs")
        said = done.stdout + done.stderr
        if done.returncode not in (1, 2) or "not a regular file" not in said or os.path.basename(path) not in said:
            fail(f"{what} in the place of {path}: {program}: exit status {done.returncode}: {said[-2000:]}")

    def check(self, files, *commands):
        for path in files:
            for what, put in KINDS.items():
                for command in commands:
                    with replaced(path, put):
                        self.refuses(what, path, *command)


def only(directory, end):
    names = sorted(name for name in os.listdir(directory) if name.endswith(end))
    if not names:
        fail(f"{directory} has no *{end}")
    return f"{directory}/{names[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    options = parser.parse_args()
    options.flags = "-c worker_threads=2"
    bed = Bed(options)
    programs = Programs(options.binary)
    tools = Tools(options.binary)
    data, backup, archive = f"{bed.root}/data", f"{bed.root}/backup", f"{bed.root}/archive"
    try:
        bed.start()
        bed.sql("create table t (a int primary key)")
        bed.sql("insert into t values (1)")
        bed.sql("checkpoint")
        taken = tools.run("backup", "take", "-C", "-S", "archive", *bed.address(), backup)
        expect(taken.returncode == 0, "take", taken)
        bed.sql("insert into t values (2)")
        followed = tools.run("backup", "follow", "--once", "-S", "archive", *bed.address(), archive)
        expect(followed.returncode == 0, "follow", followed)
        bed.kill()

        server = [options.binary, "-D", data, "-p", bed.port, "-k", bed.root]
        needed = [f"{data}/{name}" for name in ("pgsilo.control", "pgsilo.progress", "wal/log.identity")]
        needed += [only(f"{data}/wal", ".segment"), only(f"{data}/checkpoint", ".checkpoint")]
        programs.check(needed, server, ["pgsilo-verify", data])
        programs.check([f"{data}/pgsilo.slots", f"{data}/pgsilo.lock"], server)
        programs.check([f"{archive}/archive.progress", f"{archive}/wal/log.identity", only(f"{archive}/wal", ".segment"),
                        f"{backup}/backup_label"],
                       ["pgsilo-backup", "show", "-A", archive, backup])
        programs.check([only(f"{archive}/wal", ".segment")], ["pgsilo-backup", "restore", "-A", archive, backup, f"{bed.root}/restored"])
        programs.check([only(f"{data}/wal", ".segment")], ["pgsilo-dump-log", "-D", data])

        bed.start()
        programs.check([f"{archive}/wal/log.identity", only(f"{archive}/wal", ".segment")],
                       ["pgsilo-backup", "follow", "--once", "-S", "archive", *bed.address(), archive])
        bed.stop()
        programs.check([f"{data}/pgsilo.control"], server)
        bed.start()
        if bed.sql("select count(*) from t") != [["2"]]:
            fail("rows are missing")
        bed.stop()
        print("passed")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
