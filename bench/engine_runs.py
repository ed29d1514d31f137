"""Runs of the engine's benchmark programs: their results, series and databases; and tables of medians."""
import csv
import os
import shutil
import statistics
import subprocess
import sys

from servers import PROGRAM, ROOT, build


class Engines:
    """The programs of a build directory, and the output directory of an experiment. Databases live there, too, one at a time:
    they must lie on the disk that is to be measured."""

    def __init__(self, directory, output):
        if not directory:
            build("ycsb_engine", "tpcc_engine", "recovery_engine")
            directory = f"{ROOT}/build/release/bench"
        self.directory, self.output = directory, output
        os.makedirs(output, exist_ok=True)
        self.database = f"{output}/database"

    def run(self, program, *options, killed=False):
        """What the last line of the report says, {name: number or text}; `killed`: None, for it must end by SIGKILL."""
        command = [f"{self.directory}/{program}", *map(str, options)]
        done = subprocess.run(command, capture_output=True, text=True)
        if killed and done.returncode == -9:
            return None
        if killed and done.returncode == 0:
            sys.exit(f"{PROGRAM}: no checkpoint came to its end; more --seconds or a smaller --max-wal-size: {' '.join(command)}")
        lines = [line for line in done.stdout.splitlines() if line.startswith("result ")]
        if done.returncode != 0 or not lines:
            sys.exit(f"{PROGRAM}: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return {name: as_number(value) for name, value in (pair.split("=", 1) for pair in lines[-1].split()[1:])}

    def remove_database(self):
        shutil.rmtree(self.database, ignore_errors=True)


def as_number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_series(path):
    """The rows of a series: numbers by column."""
    with open(path, newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def write_csv(path, rows):
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def medians(rows, names):
    """Of the rows of each group, which `names` tell apart: those, and the median of every number."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    result = []
    for key, group in groups.items():
        numbers = [name for name in group[0] if name not in names and all(isinstance(row.get(name), (int, float)) for row in group)]
        result.append(dict(zip(names, key)) | {name: statistics.median(row[name] for row in group) for name in numbers})
    return result


def print_table(rows, columns):
    """`columns`: (heading, function of the row) with texts as answers."""
    lines = [[heading for heading, _ in columns]] + [[text(row) for _, text in columns] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)), flush=True)


def column(heading, name, form="{:,.0f}"):
    """A column of print_table(): a number or a text of the row, "-" if it has none."""
    def text(row):
        value = row.get(name)
        if value is None:
            return "-"
        return form.format(value) if isinstance(value, (int, float)) else value
    return heading, text
