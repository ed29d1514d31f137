#!/usr/bin/env python3
"""bench/silor, every experiment at a size of seconds: its tables, its series and its plots are whole.

usage: silor_test.py ROOT DIRECTORY_OF_THE_PROGRAMS SCRATCH
"""
import csv
import shutil
import subprocess
import sys
import xml.etree.ElementTree

ROOT, PROGRAMS, SCRATCH = sys.argv[1:]
SMALL = ["--rounds", "1", "--keys", "20000", "--items", "500", "--customers", "60", "--max-wal-size", "2", "--segment-size", "1"]


def silor(*arguments):
    experiment, *rest = arguments
    done = subprocess.run([sys.executable, f"{ROOT}/bench/silor", experiment, "--binaries", PROGRAMS, "--output", SCRATCH, *SMALL,
                           *rest], capture_output=True, text=True)
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def rows(name):
    with open(f"{SCRATCH}/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def polylines(name):
    return xml.etree.ElementTree.parse(f"{SCRATCH}/{name}.svg").findall(".//{http://www.w3.org/2000/svg}polyline")


def check_throughput(workload):
    printed = silor("throughput", workload, "--modes", "memory,log,continuous", "--workers", "2", "--seconds", "1")
    assert "% of memory" in printed, printed
    runs = {row["mode"]: row for row in rows(f"throughput-{workload}")}
    assert set(runs) == {"memory", "log", "continuous"}, runs
    assert int(runs["log"]["checkpoints"]) == 0 < int(runs["continuous"]["checkpoints"]), runs
    for mode, run in runs.items():
        series = rows(f"throughput-{workload}-2-{mode}-1")
        assert len(series) == 10, series
        committed = sum(int(row["committed"]) for row in series)
        assert 0 < committed <= int(run["transactions"]), (committed, run)
        # The workers' ends take a moment more, on a busy machine a long one.
        assert sum(int(row["answered"]) for row in series) > 0, series
        assert any(row["checkpoint"] == "1" for row in series) == (mode == "continuous"), (mode, series)
        assert (sum(int(row["log_bytes"]) for row in series) > 0) == (mode != "memory"), (mode, series)
    assert len(polylines(f"throughput-{workload}-2")) >= 7


def check_recovery(workload, sizes):
    printed = silor("recovery", workload, "--sizes", sizes)
    assert "page cache" in printed, printed
    for row in rows(f"recovery-{workload}"):
        for name in ("checkpoint_rows", "records", "log_mb", "peak_mb", "resident_mb", "cpu_seconds", "rows"):
            assert float(row[name]) > 0, (name, row)
    assert len(polylines(f"recovery-{workload}")) == 4


def check_settings():
    silor("sync", "--intervals", "2,20", "--seconds", "1", "--segment-size", "16")
    found = {(row["method"], row["interval_ms"]): row for row in rows("sync")}
    assert len(found) == 4 and all(float(row["waited_p50_ms"]) > 0 for row in found.values()), found
    # Nobody but the interval asks for syncs, unless the device is so slow that buffers fill.
    assert all(int(row["syncs"]) <= 1100 / int(row["interval_ms"]) + 5 for row in found.values() if row["buffer_waits"] == "0"), found
    assert len(polylines("sync")) == 6
    silor("compression", "--noise", "0", "--seconds", "1")
    found = {(row["of"], row["compression"]): row for row in rows("compression")}
    assert float(found["log", "lz4"]["log_bytes"]) < 0.5 * float(found["log", "off"]["log_bytes"]), found
    assert float(found["checkpoints", "lz4"]["checkpoint_mb"]) < 0.5 * float(found["checkpoints", "off"]["checkpoint_mb"]), found
    assert len(polylines("compression")) == 14


shutil.rmtree(SCRATCH, ignore_errors=True)
check_throughput("ycsb")
check_throughput("tpcc")
check_recovery("ycsb", "10000,20000")
check_recovery("tpcc", "1,2")
check_settings()
shutil.rmtree(SCRATCH)
