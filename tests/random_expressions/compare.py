#!/usr/bin/env python3
"""Random expressions against the server that the environment names and against a PostgreSQL: the same value, type and name, or
the same error.

usage: tests/with_postgres tests/random_expressions/run PGSILO_BINARY [--seed N] [--expressions N]

Each is asked of a row of a table, under settings that change from batch to batch. Of an expression whose answers differ the
smallest part is told that differs by itself, once for each shape. What takes PostgreSQL longer than --timeout seconds is
passed over, and counted."""
import argparse
import collections
import os
import re
import sys

from catalog import Catalog
from random_expression import ROWS, Expression, RandomExpressions, quoted, spelled

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "random_queries"))
from psql import Psql, refuses, timed_out  # noqa: E402

BATCH = 500


class Servers:
    """Both, with the settings of a batch before each list of statements."""

    def __init__(self, timeout):
        self.reference = Psql(os.environ["REFERENCE_HOST"], os.environ["REFERENCE_PORT"], timeout, messages=True)
        self.subject = Psql(os.environ["PGHOST"], os.environ["PGPORT"], 4 * timeout, messages=True)
        self.settings = []

    def answers(self, statements):
        before = len(self.settings)
        return [side.answers(self.settings + statements)[before:] for side in (self.reference, self.subject)]


def statement(expression, row):
    text = expression.text()
    return f"select {text}, pg_typeof({text}) from t where id = {row}"


def lacks_candidates(expected, got):
    """An unknown literal beside an operator that PostgreSQL has for types, too, that there are not here."""
    return bool(expected and got) and "42725: operator is not unique: " in expected[0] and "42883: operator does not exist: " in got[0]


def are_same(expected, got):
    return timed_out(expected) or expected == got or lacks_candidates(expected, got)


def differing(servers, expressions, row):
    """The first of them with different answers, and these."""
    expected, got = servers.answers([statement(expression, row) for expression in expressions])
    for expression, *answers in zip(expressions, expected, got):
        if not are_same(*answers):
            return expression, answers
    return None, None


def narrowed(servers, expression, row):
    """The smallest part that differs by itself, with values in place of expressions where it still differs then."""
    part, answers = differing(servers, expression.parts(), row)
    if part is None:
        return expression, None
    for position, child in enumerate(part.pieces):
        if isinstance(child, str):
            continue
        (value,) = servers.reference.answers(servers.settings + [f"select quote_nullable(({child.text()})::text) from t where id = {row}"])[-1:]
        if refuses(value) or not value:
            continue
        type_name = spelled(child.type)
        literal = Expression(child.type, ["\n".join(value).strip("\n") + "::" + type_name])
        simpler, its_answers = differing(servers, [part.with_child(position, literal)], row)
        if simpler is not None:
            part, answers = simpler, its_answers
    return part, answers


def outcome(answer):
    first = answer[0] if answer else ""
    if "ERROR:" not in first:
        return "a value"
    return re.sub(r"\"[^\"]*\"|'[^']*'|\d+", "#", first.split("ERROR:")[1][2:])[:60]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--expressions", type=int, default=5000)
    parser.add_argument("--timeout", type=int, default=5)
    parser.add_argument("--show", type=int, default=40)
    arguments = parser.parse_args()
    servers = Servers(arguments.timeout)
    for side in servers.reference, servers.subject:
        side.answers(["create type mood as enum ('sad', 'ok', 'happy')"])
    made = RandomExpressions(arguments.seed, Catalog(servers.subject, servers.reference))
    for answers in servers.answers(list(made.table())[1:]):
        if any(refuses(answer) for answer in answers):
            sys.exit(f"the table could not be made: {[answer for answer in answers if refuses(answer)][:3]}")
    counts, shapes = collections.Counter(), collections.Counter()
    for begin in range(0, arguments.expressions, BATCH):
        servers.settings = list(made.settings())
        batch = [(made.expression(), made.random.randrange(ROWS)) for _ in range(min(BATCH, arguments.expressions - begin))]
        answers = servers.answers([statement(*asked) for asked in batch])
        for (expression, row), expected, got in zip(batch, *answers):
            if timed_out(expected):
                counts["passed over"] += 1
            elif are_same(expected, got):
                counts["refused"] += refuses(expected)
            else:
                counts["different"] += 1
                tell(servers, shapes, expression, row, expected, got, arguments.show)
    for shape, count in shapes.most_common(arguments.show):
        print(f"{count} times {shape}")
    print(f"{arguments.expressions} expressions from seed {arguments.seed}: {counts['different']} differ in {len(shapes)} shapes, "
          f"{counts['refused']} refused by both, {counts['passed over']} took too long")
    sys.exit(1 if counts["different"] or 4 * (counts["passed over"] + counts["refused"]) > 3 * arguments.expressions else 0)


def tell(servers, shapes, expression, row, expected, got, limit):
    part, answers = narrowed(servers, expression, row)
    expected, got = answers or (expected, got)
    shape = f"{part.shape}: {outcome(expected)} / {outcome(got)}"
    shapes[shape] += 1
    if shapes[shape] == 1 and len(shapes) <= limit:
        print(f"{'; '.join(servers.settings)};\n{statement(part, row)};\n  PostgreSQL: {expected[:6]}\n  pgsilo:     {got[:6]}", flush=True)


if __name__ == "__main__":
    main()
