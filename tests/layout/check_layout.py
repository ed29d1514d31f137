#!/usr/bin/env python3
"""The house's structure: include direction, file heads, a ratchet on function and file length, docs' width and references.

usage: check_layout.py ROOT [--update]     --update rewrites the ratchet file, which may only ever shrink.
"""
import os
import re
import subprocess
import sys

from references import dangling_references

ALLOWED = {  # docs/architecture.md: who may include whom
    "base": [],
    "storage": ["base"],
    "sql": ["base"],
    "sql/regex": ["sql", "base"],
    "wal": ["storage", "base"],
    "catalog": ["sql", "storage", "base"],
    "planner": ["catalog", "sql", "base"],
    "executor": ["planner", "catalog", "sql/regex", "sql", "storage", "base"],
    "server": ["executor", "planner", "catalog", "sql", "wal", "storage", "base"],
    "tpcc": [],
    "tpcc/engine": ["storage", "base"],
}
ORDERS = {  # inside of a library: each folder may include those before it; what lies in none of them, all
    "storage": ["epoch", "record", "index", "relation", "transaction"],
    "wal": ["layout", "log", "checkpoint", "recovery", "backup", "tool"],
}
FUNCTION_LINES = 60
FILE_LINES = 500
DOCS_COLUMNS = 100
RATCHET = "tests/layout/ratchet.txt"


def sources(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.cpp", "*.h"],
                            capture_output=True, text=True, check=True)
    return sorted(f for f in listed.stdout.split("\n") if f and os.path.exists(os.path.join(root, f)))


def room_of(path):
    """The folder of ALLOWED that a file belongs to: a top-level one, or a part of it with edges of its own."""
    part = "/".join(path.split("/")[:2])
    return part if part in ALLOWED else path.split("/")[0]


def order_of(path):
    """Where a file of a library with an order stands; what lies beside the folders stands behind all but the last,
    limits before all."""
    order, part = ORDERS[path.split("/")[0]], path.split("/")[1]
    if part == "limits.h":
        return -1
    return order.index(part) if part in order else len(order) - 1.5


def include_errors(path, lines):
    folder = room_of(path)
    if folder not in ALLOWED:
        return
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not found:
            continue
        target = found.group(1)
        room = room_of(target)
        if room != folder and room not in ALLOWED[folder]:
            yield f"{path}:{number}: {folder} may not include {target}"
        if room == folder and folder in ORDERS and order_of(target) > order_of(path):
            yield f"{path}:{number}: {os.path.dirname(path)} may not include {target}"


def postgres_header_errors(path, lines):
    """PostgreSQL's headers bring macros and names of all kinds: one file has them, one folder sees that."""
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s+(<postgres\.h>|<(?:nodes|utils|pg_query)[/.]|"sql/parser/postgres_tree\.h")', line)
        if not found or path.startswith("sql/parser/postgres_tree."):
            continue
        if found.group(1).startswith("<") or not path.startswith("sql/parser/"):
            yield f"{path}:{number}: only sql/parser sees PostgreSQL's headers, through postgres_tree.h"


def long_functions(path, lines):
    """Functions at namespace level of formatted code: from a line that opens at column 0 to its '}'."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"[A-Za-z_].*\{$", line) and not re.match(
                r"(namespace|class|struct|union|enum|extern|constexpr|const|static const)\b[^()]*$", line):
            start, name = number, line
        elif start is None and re.match(r"[A-Za-z_].*[(,]$", line):
            start, name = number, line
        elif start is not None and line.startswith("}"):
            if number - start + 1 > FUNCTION_LINES:
                found = re.search(r"([\w:~]+)\(", name)
                yield f"{path} {found.group(1) if found else name}", number - start + 1
            start = None
        elif start is not None and line.endswith(";") and not line.startswith(" "):
            start = None


def wide_prose(root):
    """Lines of docs that nobody can read at a glance; tables and examples are as wide as they must be."""
    pages = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split()
    for page in pages:
        fenced = False
        with open(os.path.join(root, page), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                fenced ^= line.lstrip().startswith("```")
                example = fenced or line.startswith("    ") or line.startswith("|")
                if len(line.rstrip("\n")) > DOCS_COLUMNS and not example:
                    yield f"{page}:{number}: wider than {DOCS_COLUMNS} columns"


def main():
    root = sys.argv[1]
    errors, lengths = [], {}
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        errors += include_errors(path, lines)
        errors += postgres_header_errors(path, lines)
        if path.endswith(".h") and "#pragma once" not in lines:
            errors.append(f"{path}: a header needs #pragma once")
        if path.endswith(".h") and not lines[0].startswith("//"):
            errors.append(f"{path}: a header opens with what it is for")
        if path.split("/")[0] in ALLOWED:
            if len(lines) > FILE_LINES:
                lengths[path] = len(lines)
            for name, length in long_functions(path, lines):
                lengths[name] = max(length, lengths.get(name, 0))
    errors += wide_prose(root)
    errors += dangling_references(root)
    ratchet_path = os.path.join(root, RATCHET)
    if "--update" in sys.argv:
        with open(ratchet_path, "w", encoding="utf-8") as file:
            file.write("# Files over %d lines and functions over %d, and how long they may be. Only ever shrinks.\n"
                       % (FILE_LINES, FUNCTION_LINES))
            file.writelines(f"{length} {name}\n" for name, length in sorted(lengths.items()))
        return 0
    ratchet = {}
    if os.path.exists(ratchet_path):
        with open(ratchet_path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    length, name = line.rstrip("\n").split(" ", 1)
                    ratchet[name] = int(length)
    for name, length in sorted(lengths.items()):
        if length > ratchet.get(name, 0):
            errors.append(f"{name}: {length} lines, allowed {ratchet.get(name, FILE_LINES if ' ' not in name else FUNCTION_LINES)}")
    print("\n".join(errors) if errors else f"layout: clean, {len(sources(root))} files")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
