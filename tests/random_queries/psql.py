"""What a server answers to a list of statements, as psql shows it: for tests that ask two servers the same."""
import os
import re
import subprocess
import sys


class Psql:
    """One psql for one list of statements: what each of them answered, as text; of errors the SQLSTATE or, with `messages`,
    all but where in the server they were raised."""

    def __init__(self, host, port, timeout, messages=False):
        self.verbosity = "verbose" if messages else "sqlstate"
        self.environment = {**os.environ, "PGHOST": host, "PGPORT": port, "PGCLIENTENCODING": "UTF8",
                            "PGOPTIONS": f"-c statement_timeout={timeout}s -c client_min_messages=error"}

    def answers(self, statements):
        asked = "".join(f"{statement};\n\\echo --{number}\n" for number, statement in enumerate(statements))
        script = f"\\set VERBOSITY {self.verbosity}\n\\pset null ~\n{asked}"
        result = subprocess.run(["psql", "-X", "-At", "-q", "-f", "-"], input=script, env=self.environment, text=True,
                                errors="backslashreplace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        answers, lines = [], []
        for line in result.stdout.split("\n"):
            line = re.sub(r"^psql:<stdin>:\d+: ", "", line)
            if line == f"--{len(answers)}":
                answers.append(lines)
                lines = []
            elif not re.match(r"(LOCATION|CONTEXT):|SQL function ", line):
                lines.append(line)
        if len(answers) != len(statements):
            sys.exit(f"psql ended at: {statements[len(answers)]}\n" + "\n".join(lines[:20]))
        return answers


def refuses(answer):
    return any("ERROR:" in line for line in answer)


def timed_out(answer):
    return any("57014" in line for line in answer)
