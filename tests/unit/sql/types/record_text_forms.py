#!/usr/bin/env python3
"""Fills in the answers of data/text_forms.txt from a PostgreSQL 15 server.

A line is: type, settings, input, expected, binary - separated by tabs. Settings are `name=value` joined by `;`. The expected
text is what the server prints for input::type, or `!SQLSTATE message` when it refuses; binary is the type's send function in
hex. Lines that begin with # are comments. Backslash escapes \\t and \\n stand in inputs.

Usage: record_text_forms.py PSQL_ARGUMENTS... < inputs > data/text_forms.txt
"""
import re
import subprocess
import sys

SEND = {"boolean": "boolsend", "integer": "int4send", "smallint": "int2send", "bigint": "int8send",
        '"char"': "charsend", "text": "textsend", "name": "namesend", "bytea": "byteasend",
        "real": "float4send", "double precision": "float8send", "oid": "oidsend", "tid": "tidsend",
        "date": "date_send", "interval": "interval_send", "xid": "xidsend"}


def send_function(type_name):
    base = re.sub(r"\(.*?\)", "", type_name).strip()
    if base.endswith("[]"):
        return "array_send"
    if base.startswith("timestamp with time zone"):
        return "timestamptz_send"
    if base.startswith("timestamp"):
        return "timestamp_send"
    if base.startswith("time with time zone"):
        return "timetz_send"
    if base.startswith("time"):
        return "time_send"
    if base.startswith("numeric"):
        return "numeric_send"
    if base.startswith("interval"):
        return "interval_send"
    if base.startswith("character varying"):
        return "varcharsend"
    if base.startswith("character"):
        return "bpcharsend"
    return SEND.get(base, base + "send")


def main():
    rows = []
    script = ["\\set VERBOSITY verbose", "\\pset format unaligned", "\\pset tuples_only on", "\\pset fieldsep '\\t'",
              "\\set ON_ERROR_STOP off"]
    for line in sys.stdin:
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            rows.append(line)
            continue
        fields = line.split("\t")
        type_name, settings, text = fields[0], fields[1], fields[2]
        rows.append((type_name, settings, text))
        quoted = "E'" + text.replace("\\", "\\\\").replace("'", "''").replace("\\\\t", "\\t").replace("\\\\n", "\\n") + "'"
        script.append("\\echo @@row")
        script.append("begin;")
        for setting in filter(None, settings.split(";")):
            name, value = setting.split("=", 1)
            script.append(f"set {name} = '{value}';")
        script.append(f"select v, encode({send_function(type_name)}(v), 'hex') from (select cast({quoted} as {type_name}) v) s;")
        script.append("rollback;")
    run = subprocess.run(["psql", "-X", "-q", *sys.argv[1:]], input="\n".join(script), text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=True)
    answers = run.stdout.split("@@row\n")[1:]
    at = iter(answers)
    for row in rows:
        if isinstance(row, str):
            print(row)
            continue
        answer = next(at)
        error = re.search(r"ERROR:\s+(\w{5}): (.*)", answer)
        if error:
            print("\t".join([*row, "!" + error[1] + " " + error[2], ""]))
        else:
            value, binary = answer.rstrip("\n").rsplit("\t", 1)
            print("\t".join([*row, value.replace("\t", "\\t").replace("\n", "\\n"), binary]))


main()
