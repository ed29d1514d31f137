#!/usr/bin/env python3
"""The programs pgsilo-dump-log and pgsilo-verify, over a server's directory: beside it, after SIGKILL, damaged, and after a restart.

usage: tools_test.py PGSILO_BINARY     (the tools lie beside it)
"""
import argparse
import os
import shutil
import subprocess

from kill_bed import Bed, fail

BLOCK = 4096


def expect(fact, what, done):
    if not fact:
        fail(f"{what}: exit status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


class Tools:
    def __init__(self, binary):
        self.directory = os.path.dirname(os.path.abspath(binary))

    def run(self, name, *arguments, cwd=None, **environment):
        return subprocess.run([f"{self.directory}/pgsilo-{name}", *arguments], capture_output=True, text=True, cwd=cwd,
                              env={**os.environ, **environment})

    def start(self, name, *arguments):
        return subprocess.Popen([f"{self.directory}/pgsilo-{name}", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def snapshot(directory):
    """Bytes, times and inodes of everything in it."""
    found = {}
    for base, folders, files in os.walk(directory):
        for name in [".", *folders, *files]:
            path = os.path.join(base, name)
            facts = os.stat(path)
            content = None
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    content = file.read()
            found[path] = (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, content)
    return found


def check_dump(tools, bed, data, relation):
    segment = f"{data}/wal/0000000000000001.segment"
    rows = tools.run("dump-log", "-D", data, "-r", relation)
    lines = rows.stdout.splitlines()
    expect(rows.returncode == 0 and rows.stderr == "", "dump of one table", rows)
    expect(len(lines) == 4 and lines[-1].endswith(", tombstone"), "three rows and a delete", rows)
    expect(all(f"log: {data}/wal, segment: 0000000000000001, offset: " in line for line in lines), "places", rows)
    expect(sorted("first" in line for line in lines) == [False, False, False, True], "text of a row", rows)
    expect(tools.run("dump-log", segment, f"--relation={relation}").stdout.splitlines() == lines, "dump of a file", rows)
    expect(tools.run("dump-log", "--relation", relation, PGDATA=data).stdout.splitlines() == lines, "$PGDATA", rows)
    limited = tools.run("dump-log", "-D", data, "-r", relation, "--limit=2")
    expect(limited.stdout.splitlines() == lines[:2], "--limit", limited)
    epoch = lines[-1].split("tid: ")[1].split(".")[0]
    late = tools.run("dump-log", "-D", data, f"--epoch={epoch}-", "-r", relation)
    expect(late.stdout.splitlines() == lines[-1:], "--epoch", late)
    counts = tools.run("dump-log", "-D", data, "--stats", "-r", relation)
    expect(counts.stdout.splitlines()[-1].split()[:4] == [relation, "2", "4", "1"], "--stats", counts)
    blocks = tools.run("dump-log", "-b", "-D", data, "-r", relation)
    expect("block: 0, incarnation: 1" in blocks.stdout and "trailer complete: " in blocks.stdout, "--blocks", blocks)
    return lines


def check_command_lines(tools, data):
    for name, arguments in [("dump-log", ["-D", data, "--epoch=7-5"]), ("dump-log", ["--limit", "x", "-D", data]),
                            ("dump-log", ["--nonsense"]), ("dump-log", ["-D", data, "file"]), ("verify", []),
                            ("verify", [data, data]), ("verify", ["-j", "0", data]), ("verify", ["--nonsense", data])]:
        done = tools.run(name, *arguments, PGDATA="")
        expect(done.returncode == 2 and done.stdout == "" and f"pgsilo-{name}" in done.stderr, f"{name} {arguments}", done)
    for name in ["dump-log", "verify"]:
        for word in ["--help", "-?"]:
            done = tools.run(name, word)
            expect(done.returncode == 0 and done.stdout.startswith(f"pgsilo-{name} ") and done.stderr == "", word, done)
    gone = tools.run("dump-log", f"{data}/none")
    expect(gone.returncode == 1 and "pgsilo-dump-log: error: could not read file" in gone.stderr, "no such file", gone)
    gone = tools.run("verify", f"{data}/none")
    expect(gone.returncode == 2 and "pgsilo-verify: error: could not read directory" in gone.stderr, "no directory", gone)


def check_sound(tools, data, what):
    before = snapshot(data)
    done = tools.run("verify", data)
    expect(done.returncode == 0 and done.stderr == "", what, done)
    expect("recovery would replay" in done.stdout, what, done)
    quiet = tools.run("verify", "-q", "-P", "-j", "1", data)
    expect(quiet.returncode == 0 and quiet.stdout == "" and "100%" in quiet.stderr, "--quiet --progress", quiet)
    expect(snapshot(data) == before, "something was written", done)
    return done.stdout


def start_refusal(bed, data):
    """What the server says of a directory that it refuses."""
    done = subprocess.run([bed.options.binary, "-D", data, "-p", bed.port, "-k", bed.root, "-h", ""],
                          capture_output=True, text=True, timeout=60)
    expect(done.returncode == 1, "a damaged log was accepted", done)
    # Each line begins with a time and the number of the process.
    told = [line.split("] ", 1)[-1] for line in done.stderr.splitlines()]
    return [line.removeprefix("FATAL:  ") for line in told if not line.startswith("LOG:  ")]


def verify_refusal(verified):
    """What pgsilo-verify says of one that a start would refuse."""
    expect(verified.returncode == 1, "damage not seen", verified)
    told = [line.split(": ", 1)[1].removeprefix("error: ") for line in verified.stderr.splitlines()]
    expect(told[-1] == "the data directory is damaged: a start would refuse", "the verdict", verified)
    return told[:-1]


def check_damage(tools, bed, data, lines):
    """A byte of an old block is wrong: both tools and the server name the place."""
    segment = f"{data}/wal/0000000000000001.segment"
    offset = int(lines[0].split("offset: ")[1].split(",")[0]) // BLOCK * BLOCK
    with open(segment, "r+b") as file:
        file.seek(offset + 100)
        byte = file.read(1)
        file.seek(offset + 100)
        file.write(bytes([byte[0] ^ 1]))
    dump = tools.run("dump-log", "-D", data)
    expect(dump.returncode == 0 and f'damaged: file "{segment}", offset {offset}: ' in dump.stdout, "dump of damage", dump)
    before = snapshot(data)
    verified = tools.run("verify", data)
    told = verify_refusal(verified)
    expect(snapshot(data) == before, "something was written", verified)
    expect(f'log file "{segment}" is damaged at offset {offset}' == told[0], "the place", verified)
    expect(told == start_refusal(bed, data), "not the words of the start", verified)
    with open(segment, "r+b") as file:
        file.seek(offset + 100)
        file.write(byte)


def check_copies(tools, bed, data):
    """A copy is judged by what lies in it, not by the original, which is sound; and however it is spelled."""
    copy = f"{bed.root}/copy"
    shutil.copytree(data, copy)
    absolute = tools.run("verify", copy)
    expect(absolute.returncode == 0 and f'log "{copy}/wal"' in absolute.stdout, "a sound copy", absolute)
    for spelling in ["copy", "./copy", "../" + os.path.basename(bed.root) + "/copy/"]:
        relative = tools.run("verify", spelling, cwd=bed.root)
        expect(relative.returncode == 0, f"a sound copy as {spelling}", relative)
        expect(relative.stdout.splitlines()[-1] == absolute.stdout.splitlines()[-1], f"a sound copy as {spelling}", relative)
    for name, damage in [("without wal", lambda: shutil.rmtree(f"{copy}/wal")),
                         ("with an empty wal", lambda: [os.remove(file.path) for file in os.scandir(f"{copy}/wal")]),
                         ("without log.identity", lambda: os.remove(f"{copy}/wal/log.identity"))]:
        shutil.rmtree(copy)
        shutil.copytree(data, copy)
        damage()
        verified = tools.run("verify", copy)
        expect(verify_refusal(verified) == start_refusal(bed, copy), f"not the words of the start: {name}", verified)
    # What lies elsewhere is to be named; then it is found.
    os.rename(f"{bed.root}/copy", f"{bed.root}/bare")
    shutil.rmtree(f"{bed.root}/bare/wal")
    shutil.copytree(f"{data}/wal", f"{bed.root}/elsewhere")
    named = tools.run("verify", "-L", f"{bed.root}/elsewhere", f"{bed.root}/bare")
    expect(named.returncode == 0, "a log elsewhere", named)
    dump = tools.run("dump-log", "-D", f"{bed.root}/bare")
    expect(dump.returncode == 1 and "name it with --log-directory" in dump.stderr, "dump of a log elsewhere", dump)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    tools = Tools(options.binary)
    bed = Bed(options)
    data = f"{bed.root}/data"
    try:
        bed.start()
        bed.sql("CREATE TABLE t (a int, b text)")
        bed.sql("INSERT INTO t VALUES (1, 'first'), (2, 'second'), (3, 'third')")
        bed.sql("DELETE FROM t WHERE a = 2")
        bed.sql("SELECT 1")
        relation = bed.sql("SELECT relfilenode FROM pg_class WHERE relname = 't'")[0][0]
        lines = check_dump(tools, bed, data, relation)
        busy = tools.run("verify", data)
        expect(busy.returncode == 2 and f"is in use by another server (process {bed.process.pid})" in busy.stderr, "busy", busy)
        bed.sql("CREATE TABLE later (a int)")
        bed.kill()
        report = check_sound(tools, data, "after SIGKILL")
        expect("ended without a shutdown, not recovered since" in report, "after SIGKILL", busy)
        check_damage(tools, bed, data, lines)
        check_copies(tools, bed, data)
        check_sound(tools, data, "mended")
        bed.start()
        bed.stop()
        report = check_sound(tools, data, "after a clean shutdown")
        if " rows to load\n" not in report or "would replay 0 bytes: 0 records, 0 entries" not in report:
            fail(f"after a clean shutdown there is a checkpoint, and nothing to replay:\n{report}")
        check_command_lines(tools, data)
        print("1 passed, 0 failed")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
