#!/usr/bin/env python3
"""docs/compatibility.md: everything the sources refuse with 0A000, by name. The page is generated; the test holds it
against the sources.

usage: compatibility_page.py ROOT [--write]
"""
import os
import re
import subprocess
import sys

HEAD = """# What PostgreSQL has and pgsilo refuses

Each of these is answered with SQLSTATE 0A000 and `<name> is not supported`; types, catalogs,
functions and settings that there are not are in [missing.md](missing.md). Generated from the
sources by `tests/layout/compatibility_page.py . --write`; a test fails when it is out of date. What
differs without being refused:

- SERIALIZABLE is the default, and strict: in real-time order. REPEATABLE READ runs as SERIALIZABLE.
  Under READ COMMITTED a statement that runs by itself is serializable, and a join that meets a row
  which changed meanwhile reads all its rows again, where PostgreSQL reads that one.
  DECLARE of a query that reads tables makes all of its rows at once there.
- `SELECT ... FOR ... SKIP LOCKED` under SERIALIZABLE does not conflict with changes of the rows it
  passes over.
- No transaction rests on a name having been free or taken (IF [NOT] EXISTS that does nothing,
  `to_regclass`), at SERIALIZABLE either; PostgreSQL likewise. Queries of `pg_class` conflict like
  others.
- `ROLLBACK TO` keeps the locks of rows and tables taken since the savepoint, but not under READ
  COMMITTED; ANALYZE takes none. An advisory lock that is unlocked is free when the statement has
  ended.
- CREATE INDEX lets writers go on while it is filled, if it is alone in its transaction and not
  UNIQUE; CREATE INDEX CONCURRENTLY does so always, and leaves no invalid index when it fails. DROP
  TABLE and ALTER TABLE do not wait for such a build, which fails with 55000 if that takes away the
  index.
- Text is ordered by its bytes (collation "C"), identifiers are ASCII-folded.
- UNLOGGED tables are empty after every start, a clean stop too: nothing of them is on disk.
- A multi-statement simple query is one transaction that the server runs again by itself on a
  conflict.

"""
FOLDERS = ["sql", "catalog", "planner", "executor", "server"]
CALL = re.compile(r'\b(?:throw_unsupported|unsupported|unsupported_statement|refuse)\(\s*"((?:[^"\\]|\\.)+)"')
TABLE = re.compile(r'\{\s*(?:UnsupportedFeature::\w+|(?:T|OBJECT|AT|LCS)_\w+),\s*"((?:[^"\\]|\\.)+)"\s*\}')


def names(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"] + FOLDERS,
                            capture_output=True, text=True, check=True).stdout.split("\n")
    found = set()
    for path in listed:
        full = os.path.join(root, path)
        if not path.endswith((".cpp", ".h")) or not os.path.exists(full):
            continue
        with open(full, encoding="utf-8") as file:
            text = file.read()
        code = re.sub(r"//[^\n]*", "", text)
        found.update(match.replace('\\"', '"') for match in CALL.findall(code) + TABLE.findall(code))
    return sorted(found - {"this"}, key=lambda name: (name.lower(), name))


def main():
    root = sys.argv[1]
    page = HEAD + "".join(f"- {name}\n" for name in names(root))
    path = os.path.join(root, "docs/compatibility.md")
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return 0
    with open(path, encoding="utf-8") as file:
        current = file.read()
    if current != page:
        print("docs/compatibility.md is out of date: run tests/layout/compatibility_page.py . --write")
        return 1
    print(f"compatibility page: {len(names(root))} features")
    return 0


if __name__ == "__main__":
    sys.exit(main())
