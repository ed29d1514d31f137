#!/usr/bin/env python3
"""Random statements against the server that the environment names and against a PostgreSQL: the same rows, or both refuse.

usage: tests/with_postgres tests/random_queries/run PGSILO_BINARY [--seed N] [--databases N] [--queries N]

What takes PostgreSQL longer than --timeout seconds is passed over, and counted; pgsilo has four times as long. A difference,
of SQLSTATEs too, is told with its seed and its query; the tables are those of the seed (RandomQueries.tables)."""
import argparse
import os
import sys

from psql import Psql, refuses, timed_out
from random_query import RandomQueries


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--databases", type=int, default=20)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--timeout", type=int, default=5)
    arguments = parser.parse_args()
    reference = Psql(os.environ["REFERENCE_HOST"], os.environ["REFERENCE_PORT"], arguments.timeout)
    subject = Psql(os.environ["PGHOST"], os.environ["PGPORT"], 4 * arguments.timeout)
    differences = passed_over = refused = 0
    for seed in range(arguments.seed, arguments.seed + arguments.databases):
        made = RandomQueries(seed)
        tables = list(made.tables())
        queries = [made.statement() for _ in range(arguments.queries)]
        answers = [side.answers(tables + queries) for side in (reference, subject)]
        if any(refuses(answer) for side in answers for answer in side[:len(tables)]):
            sys.exit(f"seed {seed}: the tables could not be made")
        for query, expected, got in zip(queries, *(side[len(tables):] for side in answers)):
            if timed_out(expected):
                passed_over += 1
            elif expected == got or query.startswith("begin") and sorted(expected) == sorted(got):
                refused += refuses(expected)
            else:
                differences += 1
                print(f"seed {seed}: {query}\n  PostgreSQL, {len(expected)} rows: {expected[:5]}\n"
                      f"  pgsilo, {len(got)} rows: {got[:5]}")
    total = arguments.databases * arguments.queries
    print(f"{total} queries from seed {arguments.seed} on: {differences} differ, {refused} refused by both, "
          f"{passed_over} took too long")
    sys.exit(1 if differences or 2 * (passed_over + refused) > total else 0)


if __name__ == "__main__":
    main()
