#!/usr/bin/env python3
"""Random statements against the server that the environment names and against a PostgreSQL: the same rows, or both refuse.

usage: tests/with_postgres tests/random_queries/run PGSILO_BINARY [--seed N] [--databases N] [--queries N] [--views]

With --views each SELECT is made a view, which is read, shown, and made again of what is shown.

What takes PostgreSQL longer than --timeout seconds is passed over, and counted; pgsilo has four times as long. A difference,
of SQLSTATEs too, is told with its seed and its query; the tables are those of the seed (RandomQueries.tables)."""
import argparse
import os
import re
import sys

from psql import Psql, refuses, timed_out
from random_query import RandomQueries


DROP_VIEWS = "drop view if exists again, viewed"
SHOW_VIEW = "select pg_get_viewdef('viewed')"


def as_view(query):
    """The statements that make a view of a query and look at it. As many names as it has columns: with more it is refused."""
    if not query.startswith(("select", "with", "values")):
        return []
    names = [", ".join(f"c{column}" for column in range(count)) for count in range(10, 0, -1)]
    again = "select format('create view again as %s', pg_get_viewdef('viewed')) \\gexec"
    return [DROP_VIEWS, *(f"create view viewed ({some}) as {query}" for some in names),
            "select * from viewed", SHOW_VIEW, "select pg_get_viewdef('viewed', true)", again,
            "select pg_get_viewdef('again')", "select * from again"]


def shown(query, answer):
    """Lists of rows are ORs of ORs in PostgreSQL, and one OR here: without the parentheses, of which those that count are read
    again for the view made of the text."""
    return [re.sub("[()]", "", line) for line in answer] if "pg_get_viewdef" in query else answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--databases", type=int, default=20)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--timeout", type=int, default=5)
    parser.add_argument("--views", action="store_true")
    arguments = parser.parse_args()
    reference = Psql(os.environ["REFERENCE_HOST"], os.environ["REFERENCE_PORT"], arguments.timeout)
    subject = Psql(os.environ["PGHOST"], os.environ["PGPORT"], 4 * arguments.timeout)
    differences = passed_over = refused = looked_at = 0
    for seed in range(arguments.seed, arguments.seed + arguments.databases):
        made = RandomQueries(seed)
        tables = list(made.tables())
        queries = [made.statement() for _ in range(arguments.queries)]
        if arguments.views:
            queries = [statement for query in queries for statement in as_view(query)] + [DROP_VIEWS]
        answers = [side.answers(tables + queries) for side in (reference, subject)]
        if any(refuses(answer) for side in answers for answer in side[:len(tables)]):
            sys.exit(f"seed {seed}: the tables could not be made")
        for query, expected, got in zip(queries, *(side[len(tables):] for side in answers)):
            if timed_out(expected):
                passed_over += 1
            elif shown(query, expected) == shown(query, got) or query.startswith("begin") and sorted(expected) == sorted(got):
                refused += refuses(expected)
                looked_at += not refuses(expected) and (not arguments.views or query == SHOW_VIEW)
            else:
                differences += 1
                at = next((row for row, (one, other) in enumerate(zip(expected, got)) if one != other), 0)
                print(f"seed {seed}: {query}\n  PostgreSQL, {len(expected)} rows, from {at} on: {expected[at:at + 5]}\n"
                      f"  pgsilo, {len(got)} rows: {got[at:at + 5]}")
    total = arguments.databases * arguments.queries
    print(f"{total} queries from seed {arguments.seed} on: {differences} differ, {refused} refused by both, "
          f"{passed_over} took too long")
    # Of most queries there must be something to compare.
    sys.exit(1 if differences or 2 * looked_at < total else 0)


if __name__ == "__main__":
    main()
