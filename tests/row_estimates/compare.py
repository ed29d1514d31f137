#!/usr/bin/env python3
"""How many rows are expected, here and by PostgreSQL, of queries over skewed tables, and how many there are.

usage: compare.py [--all] [--least SHARE]     beside both servers, see run
Fails if fewer than SHARE of the estimates lie within a factor of two of PostgreSQL's or of the truth: of two samples
neither is the other's measure where they differ, and PostgreSQL's is fifteen times as large.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outside"))
from wire_client import Client  # noqa: E402

from queries import TABLES, queries  # noqa: E402


def expected(client, query):
    first = client.query("explain " + query)[0][0]
    return float(re.search(r" rows=(\d+)", first).group(1))


def factor(left, right):
    left, right = max(left, 1.0), max(right, 1.0)
    return max(left, right) / min(left, right)


def distribution(name, factors):
    shares = [sum(f <= most for f in factors) / len(factors) for most in (1.1, 1.25, 1.5, 2, 4, 10)]
    ordered = sorted(factors)
    print(f"{name:24} " + " ".join(f"{share:7.1%}" for share in shares)
          + f" {ordered[len(ordered) // 2]:8.2f} {ordered[int(len(ordered) * 0.95)]:8.2f} {ordered[-1]:10.1f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="print every query")
    parser.add_argument("--least", type=float, default=0.9)
    options = parser.parse_args()
    here = Client(os.environ["PGHOST"], os.environ["PGPORT"], timeout=120)
    there = Client(os.environ["REFERENCE_HOST"], os.environ["REFERENCE_PORT"], timeout=120)
    for client in (here, there):
        for statement in TABLES:
            client.query(statement)
        client.query("analyze")
    there.query("set max_parallel_workers_per_gather = 0")
    results = []
    for query in queries():
        ours, theirs = expected(here, query), expected(there, query)
        truth = float(there.value(f"select count(*) from ({query}) q"))
        results.append((query, ours, theirs, truth))
    print(f"{len(results)} queries {'within a factor of':16} 1.1    1.25     1.5       2       4      10   median      95%        max")
    distribution("here and PostgreSQL", [factor(ours, theirs) for _, ours, theirs, _ in results])
    distribution("here and the truth", [factor(ours, truth) for _, ours, _, truth in results])
    distribution("PostgreSQL and the truth", [factor(theirs, truth) for _, _, theirs, truth in results])
    far = [r for r in results if factor(r[1], r[2]) > 2]
    wrong = [r for r in far if factor(r[1], r[3]) > 2]
    for query, ours, theirs, truth in sorted(results if options.all else far, key=lambda r: -factor(r[1], r[2])):
        print(f"{ours:12.0f} here {theirs:12.0f} PostgreSQL {truth:12.0f} rows  {query}")
    share = 1 - len(wrong) / len(results)
    print(f"{share:.1%} within a factor of two of PostgreSQL's or of the truth")
    if share < options.least:
        sys.exit("too few")
    together = [r for r in results if re.search("from (places|pairs)", r[0])]
    wrong_together = [r for r in wrong if r in together]
    print(f"{1 - len(wrong_together) / len(together):.1%} of {len(together)} over columns that CREATE STATISTICS names")
    if len(wrong_together) > 0.05 * len(together):
        sys.exit("too few of these")


if __name__ == "__main__":
    main()
