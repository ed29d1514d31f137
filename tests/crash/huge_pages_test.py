#!/usr/bin/env python3
"""The setting huge_pages (docs/decisions/memory-retention.md): rows lie in huge pages with `try` and `on`, and not with `off`; where
the system gives none, `on` is refused.

usage: huge_pages_test.py PGSILO     (not of a sanitizer's build, whose allocator asks for none)
"""
import argparse
import subprocess

from kill_bed import Bed, fail

SYSTEM = "/sys/kernel/mm/transparent_hugepage/enabled"


def huge_megabytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("AnonHugePages")) // 1024


def megabytes_with(options, setting):
    """What some 70 MB of rows take of huge pages."""
    options.flags = f"-c worker_threads=2 -c huge_pages={setting}"
    bed = Bed(options)
    try:
        bed.start()
        if bed.sql("SHOW huge_pages") != [[setting]]:
            fail(f"SHOW huge_pages is not {setting}")
        bed.sql("CREATE TABLE t AS SELECT i, repeat('x', 600) FROM generate_series(1, 100000) i")
        found = huge_megabytes(bed.process.pid)
        bed.stop()
        return found
    finally:
        bed.remove()


def refusal(options):
    bed = Bed(options)
    try:
        started = subprocess.run([options.binary, "-D", bed.directory, "-p", bed.port, "-k", bed.root, "-c", "huge_pages=on"],
                                 capture_output=True, text=True, timeout=60)
        return started.returncode, started.stderr
    finally:
        bed.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    options = parser.parse_args()
    if megabytes_with(options, "off") > 8:  # what was touched before the setting was read
        fail("huge pages, which were not wanted")
    try:
        with open(SYSTEM) as file:
            gives = "[never]" not in file.read()
    except FileNotFoundError:
        gives = False
    if gives:
        for setting in ["try", "on"]:
            if (found := megabytes_with(options, setting)) < 40:
                fail(f"{found} MB of huge pages with {setting}")
    else:
        code, said = refusal(options)
        if code == 0 or "huge_pages is on" not in said:
            fail(f"huge_pages=on: {code}, {said}")
    print("passed")


if __name__ == "__main__":
    main()
