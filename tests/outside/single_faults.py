#!/usr/bin/env python3
"""One call of the server fails, or is short or slow, at run time or at a start, and what must come of it, in words.

usage: single_faults.py PGSILO --library FAULT_LIBRARY --power-cut POWER_CUT [--seed N] [--keep DIRECTORY] [--only BEGINNING]...

Whatever the fault: nothing acknowledged is lost, nothing refused is found, after a power cut, too, and the next start finds
everything. Besides, as each case says:
  unseen    nobody notices
  goes on   the server goes on, who is refused is told by one of the codes, and everything is done again when the fault has passed
  stops     the process ends at once, with words, for nobody can tell what a file holds now; nothing is tried again
"""
import argparse
import dataclasses
import os
import shutil
import sys
import tempfile
import threading
import time

from actor import CONFLICTS, Actor, Load, Violations
from actors import Checkpoints, Inserter, Keys, Loader
from definitions import Definitions
from judge import judge_indexes
from machine import KINDS, Machine, Rule
from server_bed import ServerBed, StartRefused
from wire_client import Lost, SqlError

SEGMENT, NEW_SEGMENT, CHECKPOINT, NEW_CONTROL, CONTROL = "*.segment", "*.segment.new", "*.checkpoint", "*/pgsilo.control.new", "*/pgsilo.control"
WAL, DATA, CHECKPOINTS = "*/wal", "*/data", "*/data/checkpoint"
# What fails of these is never passed over.
TOLD = {"read", "sync", "sync_directory"}
CHECKPOINT_GIVEN_UP = ("XX000", "53100", "58030")


@dataclasses.dataclass
class Case:
    name: str
    rule: Rule
    comes: str
    codes: tuple = ()
    kind: str = "ordinary"  # of the life that it happens in


# The server's settings, and who there is beside the others. A log takes segments that were not there before while no checkpoint
# gives any back.
LIVES = {"ordinary": {"max_wal_size": "64MB"}, "buffered": {"max_wal_size": "64MB", "wal_sync_method": "fdatasync"},
         "growing": {"max_wal_size": "64GB"}}


class Bulk(Actor):
    """Makes much log."""

    def prepare(self, client):
        client.query("CREATE TABLE bulk (i int, body text)")

    def step(self, client):
        client.query("BEGIN; TRUNCATE bulk; INSERT INTO bulk SELECT i, repeat('x', 8000) FROM generate_series(1, 1500) i; COMMIT")
        self.done += 1

    def judge(self, client, violations):
        count = client.value("SELECT count(*) FROM bulk")
        violations.expect(count in ("0", "1500"), f"{self.name}: {count} rows")


def failing(kind, pattern, error, count=1, first=1):
    return Rule([kind], "fail", error=error, pattern=pattern, count=count, first=first)


def run_time_cases():
    yield Case("log write EIO", failing("write", SEGMENT, "EIO"), "stops")
    yield Case("log write ENOSPC", failing("write", SEGMENT, "ENOSPC"), "stops")
    yield Case("log write EIO behind a part", Rule(["write"], "fail", error="EIO", pattern=SEGMENT, amount=4096), "stops")
    yield Case("log write EIO with fdatasync", failing("write", SEGMENT, "EIO"), "stops", kind="buffered")
    yield Case("log sync EIO", failing("sync", SEGMENT, "EIO"), "stops", kind="buffered")
    yield Case("log sync EINTR", failing("sync", SEGMENT, "EINTR"), "stops", kind="buffered")
    yield Case("log write EINTR", failing("write", SEGMENT, "EINTR", 3), "unseen")
    yield Case("log write short", Rule(["write"], "shorten", amount=4096, count=50, pattern=SEGMENT), "unseen")
    yield Case("log write slow", Rule(["write"], "delay", amount=50_000, count=10, pattern=SEGMENT), "unseen")
    for kind in "open", "write", "sync":
        for error in "EIO", "ENOSPC", "EMFILE":
            yield Case(f"checkpoint {kind} {error}", failing(kind, CHECKPOINT, error), "goes on", CHECKPOINT_GIVEN_UP)
            yield Case(f"control file {kind} {error}", failing(kind, NEW_CONTROL, error), "goes on", CHECKPOINT_GIVEN_UP)
    yield Case("checkpoint write short", Rule(["write"], "shorten", amount=4096, count=50, pattern=CHECKPOINT), "unseen")
    yield Case("checkpoint removal EIO", failing("unlink", CHECKPOINT, "EIO"), "goes on", CHECKPOINT_GIVEN_UP)
    yield Case("checkpoint directory sync EIO", failing("sync_directory", CHECKPOINTS, "EIO"), "goes on", CHECKPOINT_GIVEN_UP)
    yield Case("control file rename EIO", failing("rename", CONTROL, "EIO"), "goes on", CHECKPOINT_GIVEN_UP)
    yield Case("control file directory sync EIO", failing("sync_directory", DATA, "EIO"), "stops")
    for kind, pattern in [("open", NEW_SEGMENT), ("allocate", NEW_SEGMENT), ("write", NEW_SEGMENT), ("sync", NEW_SEGMENT),
                          ("rename", SEGMENT), ("sync_directory", WAL)]:
        for error in "EIO", "ENOSPC":
            yield Case(f"segment {kind} {error}", failing(kind, pattern, error, 2), "goes on", ("53100",), kind="growing")
    yield Case("truncation EIO", failing("truncate", "*", "EIO"), "goes on", CHECKPOINT_GIVEN_UP)
    yield Case("close EIO", failing("close", "*", "EIO", 5), "goes on", CHECKPOINT_GIVEN_UP)
    yield Case("all descriptors taken", failing("open", "*", "EMFILE", 20), "goes on", (*CHECKPOINT_GIVEN_UP, "53100", "53000"))


class Laboratory:
    """One database, which goes through all cases."""

    def __init__(self, options):
        self.options = options
        self.root = tempfile.mkdtemp(prefix="faults.", dir=options.keep)
        self.machine = Machine(f"{self.root}/server_and_disk", options.fault_library, options.power_cut)
        self.bed = ServerBed(self.machine, options.binary)
        self.actors = [kind(f"{kind.__name__.lower()}{number}", options.seed) for kind, count in
                       [(Inserter, 2), (Keys, 2), (Loader, 1), (Definitions, 1), (Checkpoints, 1), (Bulk, 1)] for number in range(count)]
        self.cuts = 0
        self.bed.start({})
        with self.bed.client() as client:
            for actor in self.actors:
                actor.prepare(client)
        self.bed.kill()

    def begin(self, life):
        """A server and its clients, all of whom have been served."""
        self.violations = Violations()
        self.bed.start(LIVES[life])
        absent = Checkpoints if life == "growing" else Bulk
        self.active = [actor for actor in self.actors if not isinstance(actor, absent)]
        self.before = {actor.name: actor.done for actor in self.active}
        self.load = Load(self.active, self.machine.root, self.bed.port, self.violations)
        self.wait_for(self.all_served)

    def all_served(self):
        """Since `before` was noted."""
        return all(actor.done > self.before[actor.name] for actor in self.active)

    def wait_for(self, fact, seconds=30.0):
        until = time.monotonic() + seconds
        while not fact():
            if time.monotonic() > until or self.bed.process.poll() is not None:
                return False
            time.sleep(0.01)
        return True

    def judge(self, violations):
        """After the power has gone, too."""
        self.bed.kill()
        self.machine.schedule.clear()
        self.cuts += 1
        self.machine.cut(self.options.seed * 1000 + self.cuts)
        try:
            self.bed.start({})
            with self.bed.client() as client:
                for actor in self.actors:
                    actor.judge(client, violations)
                    actor.refused = {}
                judge_indexes(client, violations)
        except (StartRefused, Lost, SqlError) as trouble:
            violations.add(f"behind it: {trouble!r}")
        self.bed.kill()

    def told(self):
        """The codes of what was refused since the last time, conflicts apart."""
        words = {words for actor in self.actors for words in list(actor.refused)}
        for actor in self.actors:
            actor.refused = {}
        return {one for one in words if one[:5] not in CONFLICTS}

    def run(self, case, violations):
        """In the midst of a life; False if that has ended with it."""
        self.machine.schedule.arm(case.rule)
        if not self.wait_for(self.machine.schedule.fired):
            violations.expect(self.machine.schedule.fired(), f"there was no such call: {self.machine.schedule.calls()}")
        if case.comes == "stops":
            violations.expect(self.bed.wait(30), "the process goes on")
            violations.expect(self.machine.schedule.fired() == 1, "what failed was tried again")
            violations.expect("could not" in self.bed.said(), f"no words: {self.bed.said()[-500:]}")
        else:
            self.goes_on(case, violations)
        told = self.told()
        violations.expect(all(words[:5] in case.codes for words in told), f"clients were told {told}")
        return self.bed.process.poll() is None

    def run_together(self, life, cases, report):
        """One life behind another, as long as there are cases."""
        cases = list(cases)
        while cases:
            self.begin(life)
            goes_on = True
            while goes_on and cases:
                case = cases.pop(0)
                violations = Violations()
                goes_on = self.run(case, violations)
                report(case.name, violations.found)
            self.bed.kill()
            self.load.end()
            self.judge(self.violations)
            report(f"what {case.name} leaves behind", self.violations.found)

    def goes_on(self, case, violations):
        """When the fault has passed, everybody is served, checkpoints too."""
        self.wait_for(lambda: self.machine.schedule.fired() >= case.rule.count)
        self.machine.schedule.disarm()
        self.before = {actor.name: actor.done for actor in self.active}
        served = self.wait_for(self.all_served)
        late = [actor.name for actor in self.active if actor.done == self.before[actor.name]]
        violations.expect(served, f"ended with {self.bed.process.poll()}, or not served again: {late}: {self.bed.said()[-800:]}")

    def run_start(self, rule):
        """A start of which a call fails says so and ends, or goes on; it does not die, nor try again in silence what may not be tried again."""
        violations = Violations()
        self.machine.schedule.arm(rule)
        self.bed.launch({})
        ready = self.bed.is_ready()
        said = self.bed.said()
        if ready and self.machine.schedule.fired() and set(rule.kinds) & TOLD:
            violations.expect("could not" in said, "ready, without a word of what failed")
        if not ready:
            violations.expect(self.bed.process.returncode == 1 and "FATAL" in said, f"ended with {self.bed.process.returncode}: {said[-500:]}")
        self.bed.kill()
        self.machine.schedule.clear()
        self.judge(violations)
        return violations

    def run_stall(self, who):
        """A log that does not answer holds back who waits for it, and nobody else: `who` are sessions that come, or that were there."""
        violations = Violations()
        self.bed.start({"worker_threads": 2})
        for _ in range(4):
            self.stall_once(who, violations)
        self.judge(violations)
        return violations

    def stall_once(self, who, violations):
        # Enough to be on all workers.
        readers = [self.bed.client(timeout=5.0) for _ in range(4)] if who == "there" else [None] * 4
        with self.bed.client() as writer:
            self.machine.schedule.arm(Rule(["write", "sync"], "stall", count=0, pattern=SEGMENT))
            waiting = threading.Thread(target=writer.query, args=("INSERT INTO keyless VALUES ('stalled', 0)",), daemon=True)
            waiting.start()
            violations.expect(self.wait_for(self.machine.schedule.waiting), "no write of the log")
            served = [self.is_served(reader) for reader in readers]
            violations.expect(all(served), f"served beside a log that does not answer: {served}")
            violations.expect(waiting.is_alive(), "a commit was answered that cannot be durable")
            self.machine.schedule.disarm()
            waiting.join(30)
            violations.expect(not waiting.is_alive(), "a commit was not answered when the log was")
        for reader in readers:
            if reader:
                reader.close()

    def is_served(self, client):
        try:
            if client:
                # Not of what the writer changes: that may not be told yet.
                return client.value("SELECT count(*) FROM never") == "0"
            with self.bed.client(timeout=5.0) as new:
                return new.value("SELECT 1") == "1"
        except Lost:
            return False

    def remove(self):
        self.bed.kill()
        shutil.rmtree(self.root, ignore_errors=True)


def start_cases():
    for kind in "open", "read", "sync":
        for number in 1, 2, 5:
            yield f"start: segment {kind} {number} EIO", failing(kind, SEGMENT, "EIO", first=number)
    for error in "EIO", "EMFILE", "ENOSPC":
        for kind in KINDS:
            for number in 1, 2, 5:
                yield f"start: {kind} {number} {error}", Rule([kind], "fail", error=error, first=number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--library", dest="fault_library", required=True)
    parser.add_argument("--power-cut", required=True)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", default=tempfile.gettempdir())
    parser.add_argument("--only", action="append", default=[], help="how the names of cases begin")
    options = parser.parse_args()
    os.makedirs(options.keep, exist_ok=True)
    print(f"seed {options.seed}", flush=True)
    laboratory = Laboratory(options)
    passed = failures = 0

    def report(name, found):
        nonlocal passed, failures
        passed, failures = passed + (not found), failures + bool(found)
        print(f"{name}: {'VIOLATED' if found else 'as it must'}", *found, sep="\n  ", flush=True)

    def wanted(name):
        return not options.only or name.startswith(tuple(options.only))

    cases = [case for case in run_time_cases() if wanted(case.name)]
    for life in LIVES:
        laboratory.run_together(life, [case for case in cases if case.kind == life], report)
    for who in "come", "there":
        if wanted(f"a stall, sessions that {who}"):
            report(f"a stall, sessions that {who}", laboratory.run_stall(who).found)
    for name, rule in start_cases():
        if wanted(name):
            report(name, laboratory.run_start(rule).found)
    print(f"{passed} passed, {failures} failed")
    if failures:
        print(f"the directory is {laboratory.root}")
        laboratory.bed.kill()
        return 1
    laboratory.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
