#!/usr/bin/env python3
"""Breaks the engine on purpose, one defect at a time, and demands that tests notice: at least two, of durability one.

usage: run_defects.py SOURCE COPY [NAME...]    in COPY of the sources, built there in release mode; all defects, or those named
       run_defects.py SOURCE --check           only whether the text that each defect replaces is still there, once

PRESET: another preset. A defect is one replacement in one file of the sources; those of durability are run against some
tests of crash_wal alone. COPY may be SOURCE: then it is broken in place for that long. Tests are counted one by one (a case of a GoogleTest binary, a spec);
a test that crashes or does not end has noticed, too. The build that is broken has no debug checks: what notices are the
tests. Prints a table for docs/testing.md, and to stderr every test that noticed; fails if too few noticed a defect.
"""
import os
import re
import shutil
import subprocess
import sys

from durability_defects import DURABILITY_DEFECTS
from engine_defects import DEFECTS

SPECS = ["long_fork", "lost_update", "phantom_empty", "phantom_index", "queue", "read_skew", "unique_delete_insert", "write_skew"]
BINARIES = ["unit_storage", "stress_storage", "unit_server", "stress_server"]
PRESET = os.environ.get("PRESET", "release")
SECONDS = 120  # for each of the tests below


def replace(source, name):
    """The file with the defect in place, and as it was."""
    file, text, instead = (DEFECTS | DURABILITY_DEFECTS)[name][:3]
    path = os.path.join(source, file)
    with open(path, encoding="utf-8") as opened:
        whole = opened.read()
    if whole.count(text) != 1:
        sys.exit(f"defects: {name}: the text it replaces stands {whole.count(text)} times in {file}; write the defect anew")
    return path, whole.replace(text, instead), whole


def write(path, text):
    with open(path, "w", encoding="utf-8") as opened:
        opened.write(text)


def copy(source, target):
    """The tracked and new files. Unchanged ones are left alone, so that little is built again."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                            check=True).stdout.split("\n")
    for file in filter(None, listed):
        origin, place = os.path.join(source, file), os.path.join(target, file)
        if not os.path.isfile(origin):
            continue
        with open(origin, "rb") as opened:
            content = opened.read()
        if os.path.exists(place):
            with open(place, "rb") as opened:
                if opened.read() == content:
                    continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy(origin, place)


def build(source, targets):
    command = [os.path.join(source, "scripts/build"), PRESET, *targets]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if built.returncode != 0:
        sys.exit(f"defects: it does not build\n{built.stdout[-4000:]}")


def targets(name):
    return ["crash_wal"] if name in DURABILITY_DEFECTS else ["pgsilo", "isolation_runner", *BINARIES]


def tests(source, defect):
    """(name, command) of everything that is run against the defect."""
    binary = os.path.join(source, f"build/{PRESET}/tests")
    if defect in DURABILITY_DEFECTS:
        yield "crash_wal", [os.path.join(binary, "crash_wal"), f"--gtest_filter={DURABILITY_DEFECTS[defect][3]}", "--gtest_color=no"]
        return
    for name in BINARIES:
        yield name, [os.path.join(binary, name), "--gtest_brief=0", "--gtest_color=no"]
    server = os.path.join(source, f"build/{PRESET}/bin/pgsilo")
    specs = [os.path.join(source, "tests/isolation", f"{spec}.spec") for spec in SPECS]
    yield "isolation", [os.path.join(source, "tests/with_server"), server, os.path.join(binary, "isolation_runner"), "", *specs]
    yield "crash_sigkill", [sys.executable, os.path.join(source, "tests/crash/sigkill_loop.py"), server, "--runs", "3",
                            "--seconds", "2"]


def failures(name, command):
    """Of the one test program: the tests in it that failed."""
    # A process group of its own: what does not end is ended with its children.
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said = running.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, 9)
        said = running.communicate()[0]
    if running.returncode == 0:
        return []
    text = said.decode(errors="replace")
    failed = re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+) \(", text, re.M) + re.findall(r"^FAILED  (\w+), ", text, re.M)
    begun = re.findall(r"^\[ RUN      \] (\S+)", text, re.M)
    ended = re.findall(r"^\[ +(?:OK|FAILED|SKIPPED) +\] (\S+) \(", text, re.M)
    failed += [case for case in begun if case not in ended]
    return [f"{name} {case}" for case in dict.fromkeys(failed)] or [name]


def main():
    source = os.path.abspath(sys.argv[1])
    if sys.argv[2] == "--check":
        for name in DEFECTS | DURABILITY_DEFECTS:
            replace(source, name)
        print(f"defects: {len(DEFECTS) + len(DURABILITY_DEFECTS)} can be planted")
        return 0
    copied = os.path.abspath(sys.argv[2])
    copy(source, copied)
    wanted = sys.argv[3:] or [*DEFECTS, *DURABILITY_DEFECTS]
    for kind in {tuple(targets(name)): name for name in wanted}.values():
        build(copied, targets(kind))
    for name, command in {tuple(command): (name, command) for defect in wanted for name, command in tests(copied, defect)}.values():
        if failed := failures(name, command):
            sys.exit(f"defects: without any defect there fails: {', '.join(failed)}")
    print("| defect | tests that notice | among them |\n|---|---|---|", flush=True)
    missed = 0
    for name in wanted:
        path, broken, whole = replace(copied, name)
        write(path, broken)
        try:
            build(copied, targets(name))
            noticed = [test for each, command in tests(copied, name) for test in failures(each, command)]
        finally:
            write(path, whole)
        missed += len(noticed) < (1 if name in DURABILITY_DEFECTS else 2)
        print(f"{name}: {', '.join(noticed)}", file=sys.stderr, flush=True)
        # One of each program, then what is left.
        shown = sorted(noticed, key=lambda test: [other.split()[0] for other in noticed[:noticed.index(test)]].count(test.split()[0]))
        print(f"| {name} | {len(noticed)} | {', '.join(shown[:5])} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
