#!/usr/bin/env python3
"""docs/missing.md: the types, catalogs, functions and settings of PostgreSQL 15 that there are not here.

What PostgreSQL has is read from its own catalogs and kept in tests/compatibility/postgres.txt; what we have is asked of a server
that runs. The test holds the page against both.

usage, from the top of the sources, beside a server that PGHOST and so on name:
  tests/with_postgres tests/compatibility/missing.py --record     writes postgres.txt
  tests/with_server BINARY tests/compatibility/missing.py --write writes the page; without --write it is compared
"""
import os
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "postgres.txt")
PAGE = os.path.join(HERE, "..", "..", "docs", "missing.md")

# Kind, and a query that both servers understand. Functions are those that people write: none that stands behind a type, an
# operator, a cast, an index method or a language only, which PostgreSQL's record leaves out by the second list.
QUERIES = {
    "type": "select t.typname from pg_type t join pg_namespace n on n.oid = t.typnamespace where n.nspname = 'pg_catalog' "
            "and t.typtype in ('b', 'r', 'm', 'p', 'd') and t.typname not like '\\_%'",
    "catalog": "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'pg_catalog' "
               "and c.relkind in ('r', 'v')",
    "view": "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace "
            "where n.nspname = 'information_schema' and c.relkind in ('r', 'v') and c.relname not like '\\_pg%'",
    "function": "select distinct p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
                "where n.nspname = 'pg_catalog'",
    "setting": None,
}
INTERNAL_FUNCTIONS = """select p.proname from pg_proc p where p.oid in (
  select typinput from pg_type union select typoutput from pg_type union select typreceive from pg_type union
  select typsend from pg_type union select typmodin from pg_type union select typmodout from pg_type union
  select typanalyze from pg_type union select typsubscript from pg_type union
  select oprcode from pg_operator union select oprrest from pg_operator union select oprjoin from pg_operator union
  select amproc from pg_amproc union select castfunc from pg_cast union select amhandler from pg_am union
  select lanplcallfoid from pg_language union select laninline from pg_language union select lanvalidator from pg_language union
  select aggtransfn from pg_aggregate union select aggfinalfn from pg_aggregate union select aggcombinefn from pg_aggregate union
  select aggserialfn from pg_aggregate union select aggdeserialfn from pg_aggregate union
  select aggmtransfn from pg_aggregate union select aggminvtransfn from pg_aggregate union select aggmfinalfn from pg_aggregate union
  select conproc from pg_conversion union select prsstart from pg_ts_parser union select prstoken from pg_ts_parser union
  select prsend from pg_ts_parser union select prsheadline from pg_ts_parser union select prslextype from pg_ts_parser union
  select tmplinit from pg_ts_template union select tmpllexize from pg_ts_template union
  select prosupport from pg_proc union select rngsubdiff from pg_range union select rngcanonical from pg_range)
  or p.prorettype in (2279, 3838, 325, 269, 2280, 3115, 3310) or p.proname like 'binary\\_upgrade%'"""

TITLES = {
    "type": ("Types", "A name of one of these is refused with 42704."),
    "catalog": ("Tables and views of pg_catalog", "A query of one of these is refused with 42P01."),
    "view": ("Views of information_schema", "42P01, too."),
    "function": ("Functions", "A call of one of these is refused with 42883; by families, in which one name may stand for functions of several types."),
    "setting": ("Settings", "SET and SHOW of one of these are refused with 42704. Of those that there are some are accepted without an effect: SHOW ALL says which."),
}


def ask(query):
    done = subprocess.run(["psql", "-X", "-A", "-t", "-F", "\t", "-c", query], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"missing.py: {query}: {done.stderr}")
    return [line for line in done.stdout.splitlines() if line]


def names(kind):
    if kind == "setting":
        return {line.split("\t")[0] for line in ask("show all")}
    return set(ask(QUERIES[kind]))


def record():
    with open(RECORD, "w", encoding="utf-8") as file:
        for kind in QUERIES:
            found = names(kind)
            if kind == "function":
                found -= set(ask(INTERNAL_FUNCTIONS))
            file.writelines(f"{kind} {name}\n" for name in sorted(found))


def families(found):
    """Names that begin alike, up to the first underscore (of pg_stat_get_... and the like the second); the rest by letters."""
    groups = {}
    for name in found:
        words = name.split("_")
        depth = 2 if words[0] == "pg" and len(words) > 2 else 1
        groups.setdefault("_".join(words[:depth]) if len(words) > depth else "", []).append(name)
    # A family of one is none.
    for key in [key for key, members in groups.items() if key and len(members) == 1]:
        groups.setdefault("", []).extend(groups.pop(key))
    return groups


def wrapped(words, lead="", indent=""):
    return textwrap.fill(lead + ", ".join(words), width=100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def section(kind, wanted):
    missing = sorted(wanted - names(kind))
    title, explanation = TITLES[kind]
    text = f"## {title}: {len(missing)} of {len(wanted)} are missing\n{wrapped([explanation])}\n\n"
    if kind != "function":
        return text + wrapped(missing) + "\n"
    groups = families(missing)
    lines = [wrapped(sorted(members), f"- {key}_...: ", "  ") for key, members in sorted(groups.items()) if key]
    lines.append(wrapped(sorted(groups.get("", [])), "- others: ", "  "))
    return text + "\n".join(lines) + "\n"


def page():
    wanted = {}
    with open(RECORD, encoding="utf-8") as file:
        for line in file:
            kind, name = line.split()
            wanted.setdefault(kind, set()).add(name)
    head = ("# What PostgreSQL 15 has and pgsilo does not know\n\n"
            + wrapped(["Names that there are not, as opposed to what is known and refused ([compatibility.md](compatibility.md)). "
                       "Generated by `tests/with_server BINARY tests/compatibility/missing.py --write` from PostgreSQL's own "
                       "catalogs and ours; a test fails when it is out of date."]) + "\n\n")
    return head + "\n".join(section(kind, wanted[kind]) for kind in QUERIES)


def main():
    if "--record" in sys.argv:
        return record()
    text = page()
    if "--write" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
        return None
    with open(PAGE, encoding="utf-8") as file:
        if file.read() == text:
            return None
    return "docs/missing.md is out of date: run tests/with_server build/release/bin/pgsilo tests/compatibility/missing.py --write"


sys.exit(main())
