#!/usr/bin/env python3
"""Narrows a finding of session_fuzz down: which session, and which of its batches.

usage: narrow.py SESSION_FUZZ PGSILO SEED ROUND [PATTERN] [OPTION...]     PATTERN: of the finding's line (died)
Runs the round again and again, each time on a new server, with one session and ever fewer batches. What needs several
sessions at once, or what rounds before have left behind, it says and leaves as it is. OPTIONs are session_fuzz's.
"""
import re
import subprocess
import sys


def main():
    program, binary, seed, number = sys.argv[1:5]
    pattern = re.compile(sys.argv[5] if len(sys.argv) > 5 else "died")
    options = sys.argv[6:]
    batches = int(options[options.index("--batches") + 1]) if "--batches" in options else 60
    sessions = int(options[options.index("--sessions") + 1]) if "--sessions" in options else 6

    def finding(*more):
        command = [program, binary, "", "--seed", seed, "--first-round", number, "--rounds", "1", *options, *more]
        said = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout
        found = [line for line in said.splitlines() if line.startswith("FOUND") and pattern.search(line)]
        return found[0].split()[1] if found else None

    only = next((["--only", str(i)] for i in range(sessions) if finding("--only", str(i))), [])
    if not only and not finding():
        sys.exit("it does not happen again")
    print("session " + only[1] if only else "needs several sessions", flush=True)
    low, end = 0, batches
    while end - low > 1:
        middle = (low + end) // 2
        low, end = (low, middle) if finding(*only, "--to", str(middle)) else (middle, end)
    begin, high = 0, end
    while high - begin > 1:
        middle = (begin + high) // 2
        begin, high = (middle, high) if finding(*only, "--from", str(middle), "--to", str(end)) else (begin, middle)
    print(f"batches {begin} to {end}")
    report = finding(*only, "--from", str(begin), "--to", str(end))
    if report:
        print(open(report, encoding="utf-8", errors="replace").read())


if __name__ == "__main__":
    main()
