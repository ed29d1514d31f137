#!/usr/bin/env python3
"""What pgsilo-backup finds out about its server: where its files are, however it was started, when states were there, whatever its
clock once said, and whether it is worth waiting for.

usage: backup_server_test.py PGSILO_BINARY --clock JUMPING_CLOCK_LIBRARY     (the tools lie beside the binary)
"""
import argparse
import os
import socket
import struct
import subprocess
import tempfile
import threading

import clock_loop
from kill_bed import Bed, fail
from tools_test import Tools, expect


def check_directory(tools, options):
    """The server tells the directory as everybody may use it, as PostgreSQL does."""
    bed = Bed(options)
    bed.home = bed.root
    bed.directory = "../" + os.path.basename(bed.root) + "/./data/"
    try:
        bed.start()
        [[told]] = bed.sql("show data_directory")
        if not os.path.isabs(told) or not os.path.samefile(told, f"{bed.root}/data"):
            fail(f"data_directory is {told}")
        with open(f"{bed.root}/data/postmaster.pid") as file:
            if file.read().splitlines()[1] != told:
                fail("postmaster.pid does not tell the directory as data_directory does")
        bed.sql("create table t (a int primary key)")
        for command in [["take", "-C", "-S", "archive", *bed.address(), f"{bed.root}/backup"],
                        ["follow", "--once", "-S", "archive", *bed.address(), f"{bed.root}/archive"]]:
            done = tools.run("backup", *command, cwd="/")
            expect(done.returncode == 0, f"{command[0]} from another directory", done)
        bed.stop()
    finally:
        bed.remove()


def check_clock_before_1970(tools, options):
    """While the clock is set to before 1970 nobody knows the time of a state; later ones are known again."""
    bed = Bed(options)
    bed.clock = clock_loop.Clock(bed)
    try:
        bed.clock.set(-60 * clock_loop.YEAR)
        clock_loop.start(bed)
        bed.sql("create table ticks (n int primary key)")
        slot = ["-S", "clock", *bed.address()]
        taken = tools.run("backup", "take", "-C", *slot, f"{bed.root}/base")
        expect(taken.returncode == 0, "take", taken)
        bed.sql("insert into ticks values (0)")
        bed.kill()
        bed.clock.set(0)
        clock_loop.start(bed)
        moments = []
        for n in (1, 2):
            bed.sql(f"insert into ticks values ({n})")
            moments.append(" ".join(bed.sql("select clock_timestamp()")[0]))
        followed = tools.run("backup", "follow", "--once", *slot, f"{bed.root}/ticks")
        expect(followed.returncode == 0, "follow", followed)
        shown = tools.run("backup", "show", "-A", f"{bed.root}/ticks", f"{bed.root}/base")
        expect(shown.returncode == 0 and "times of states: 20" in shown.stdout, "show", shown)
        for when, rows in [(moments[0], 2), (None, 3)]:
            restored = f"{bed.root}/restored{rows}"
            chosen = [] if when is None else ["-t", when]
            done = tools.run("backup", "restore", "-A", f"{bed.root}/ticks", *chosen, f"{bed.root}/base", restored)
            expect(done.returncode == 0, f"restore to {when}", done)
            other = Bed(options)
            other.directory = restored
            other.start()
            if other.sql("select count(*), max(n) from ticks") != [[str(rows), str(rows - 1)]]:
                fail(f"at {when} there are {other.sql('select n from ticks')}")
            other.stop()
            other.remove()
        bed.stop()
    finally:
        bed.remove()


class Refusing(threading.Thread):
    """Says one FATAL after the other to those who connect, the last one for good."""

    def __init__(self, directory, codes):
        super().__init__(daemon=True)
        self.codes = codes
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(f"{directory}/.s.PGSQL.1")
        self.listening.listen(10)
        self.said = []

    def run(self):
        while True:
            client = self.listening.accept()[0]
            length = struct.unpack("!i", client.recv(4))[0]
            if struct.unpack("!i", client.recv(length - 4)[:4])[0] in (80877103, 80877104):
                client.sendall(b"N")
                client.recv(struct.unpack("!i", client.recv(4))[0] - 4)
            code = self.codes[0]
            fields = b"SFATAL\0VFATAL\0C" + code.encode() + b"\0Mrefused with " + code.encode() + b"\0\0"
            client.sendall(b"E" + struct.pack("!i", len(fields) + 4) + fields)
            client.close()
            self.said.append(code)
            # Each is asked for twice, the second time for its code.
            if len(self.codes) > 1 and len(self.said) % 2 == 0:
                self.codes.pop(0)


def check_refusals(tools, options):
    """What the server lacks is waited for; who is not let in is told so, and that is all."""
    bed = Bed(options)
    try:
        for last in ("28P01", "42501", "3D000", "22023", "0A000"):
            home = tempfile.mkdtemp(dir=bed.root)
            server = Refusing(home, ["57P03", "53300", "08006", last])
            server.start()
            follower = subprocess.Popen([f"{tools.directory}/pgsilo-backup", "follow", "-S", "s", "-h", home, "-p", "1", "-U", "u", f"{bed.root}/archive"],
                                        stderr=subprocess.PIPE, text=True)
            try:
                said = follower.communicate(timeout=30)[1]
            except subprocess.TimeoutExpired:
                follower.kill()
                fail(f"{last}: is tried again for ever: {follower.communicate()[1]}")
            if follower.returncode != 1 or said.count("It is tried again") != 3 or said.splitlines()[-1].count(f"refused with {last}") != 1:
                fail(f"{last}: ended with {follower.returncode}: {said}")
        bed.start()
        follower = subprocess.run([f"{tools.directory}/pgsilo-backup", "follow", "-S", "s", *bed.address()[:-1], "nobody", f"{bed.root}/archive"],
                                  capture_output=True, text=True, timeout=30)
        expect(follower.returncode == 1 and 'role "nobody" does not exist' in follower.stderr, "a role that is not there", follower)
        bed.stop()
    finally:
        bed.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--clock", required=True)
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    options.flags = "-c worker_threads=2"
    tools = Tools(options.binary)
    check_directory(tools, options)
    check_clock_before_1970(tools, options)
    check_refusals(tools, options)
    print("passed")


if __name__ == "__main__":
    main()
