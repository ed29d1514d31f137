#!/usr/bin/env python3
"""Random patterns against the server that the environment names and against a PostgreSQL: the same values, or the same error.

usage: tests/with_postgres tests/random_patterns/run PGSILO_BINARY [--seed N] [--patterns N] [--texts N]

A statement is a pattern with some texts and what the functions of regular expressions make of them. What takes PostgreSQL
longer than --timeout seconds is passed over, and counted. A difference is told with its statement."""
import argparse
import os
import sys

from random_pattern import RandomPatterns

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "random_queries"))
from psql import Psql, refuses, timed_out  # noqa: E402

BATCH = 500


def quoted(text):
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
    return f"E'{escaped}'"


def rows_of(function, value):
    return f"(select string_agg(coalesce({value}, '~'), ';') from {function} m)"


def statement(made, texts):
    values = ",".join(f"({quoted(made.text())})" for _ in range(texts))
    kind = made.random.randint(0, 19)
    if kind == 0:
        pattern = quoted(made.similar())
        return (f"select t similar to {pattern} escape '#', substring(t similar {pattern} escape '#'), "
                f"t similar to {pattern} from (values {values}) v(t)")
    pattern = quoted(made.noise() if kind == 1 else made.pattern())
    captures = rows_of(f"regexp_matches(t, {pattern}, 'g')", "array_to_string(m, ',', '~')")
    if kind < 16:
        return (f"select t ~ {pattern}, t ~* {pattern}, substring(t from {pattern}), {captures}, "
                f"regexp_replace(t, {pattern}, {quoted(made.replacement())}, 'g'), "
                f"array_to_string(regexp_split_to_array(t, {pattern}), '/') from (values {values}) v(t)")
    flags = quoted(made.flags())
    start, number, capture = made.random.randint(1, 5), made.random.randint(0, 3), made.random.randint(0, 3)
    return (f"select regexp_like(t, {pattern}, {flags}), regexp_count(t, {pattern}, {start}, {flags}), "
            f"regexp_instr(t, {pattern}, {start}, {max(number, 1)}, {made.random.randint(0, 1)}, {flags}, {capture}), "
            f"regexp_substr(t, {pattern}, {start}, {max(number, 1)}, {flags}, {capture}), "
            f"array_to_string(regexp_match(t, {pattern}, {flags}), ',', '~'), "
            f"regexp_replace(t, {pattern}, {quoted(made.replacement())}, {start}, {number}, {flags}), "
            f"{rows_of(f'regexp_split_to_table(t, {pattern}, {flags})', 'm')} from (values {values}) v(t)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patterns", type=int, default=5000)
    parser.add_argument("--texts", type=int, default=4)
    parser.add_argument("--timeout", type=int, default=5)
    parser.add_argument("--show", type=int, default=20)
    arguments = parser.parse_args()
    reference = Psql(os.environ["REFERENCE_HOST"], os.environ["REFERENCE_PORT"], arguments.timeout, messages=True)
    subject = Psql(os.environ["PGHOST"], os.environ["PGPORT"], 4 * arguments.timeout, messages=True)
    made = RandomPatterns(arguments.seed)
    differences = passed_over = refused = 0
    for begin in range(0, arguments.patterns, BATCH):
        statements = [statement(made, arguments.texts) for _ in range(min(BATCH, arguments.patterns - begin))]
        for sent, expected, got in zip(statements, reference.answers(statements), subject.answers(statements)):
            if timed_out(expected):
                passed_over += 1
            elif expected == got:
                refused += refuses(expected)
            else:
                differences += 1
                if differences <= arguments.show:
                    print(f"{sent}\n  PostgreSQL: {expected[:6]}\n  pgsilo:     {got[:6]}")
    print(f"{arguments.patterns} patterns with {arguments.texts} texts each from seed {arguments.seed}: {differences} differ, "
          f"{refused} refused by both, {passed_over} took too long")
    sys.exit(1 if differences or 2 * (passed_over + refused) > arguments.patterns else 0)


if __name__ == "__main__":
    main()
