#!/usr/bin/env python3
"""The server itself under a mixed load that SIGKILL or a power cut ends, again and again, with notes of what it has acknowledged.

usage: torture.py PGSILO --library FAULT_LIBRARY --power-cut POWER_CUT [--cycles 300] [--seed N] [--seconds 2] [--keep DIRECTORY] [--lie WHAT]

Each cycle goes on with the database of the one before, until after --lives of them another one begins, with another layout:
  - the actors (actors.py, definitions.py) change what they have, and note each what must be found;
  - it ends: by SIGKILL at any moment, or in the library before, behind or in the middle of the n-th call that changes a file;
  - the power goes, or the machine writes everything back, or the server is simply started again over what the page cache has;
  - up to four starts are ended at their n-th call, each followed by a power cut or not;
  - pgsilo-verify must say of the directory what the start then does;
  - everything acknowledged is there, whole, nothing refused is, and what was under way is there whole or not at all.
A violation leaves the directory below --keep, as it was before the last start, too. With --lie the syncs of WHAT do nothing:
then violations must be found, which proves the judge.

The seed decides settings, faults and what clients do; the threads' turns are their own, so it repeats a fault mostly, not always.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from actor import Load, Violations
from actors import (Checkpoints, Hasty, Indexes, Inserter, Keys, Loader, References, Sequences, Transfers, Truncater, Unlogged)
from definitions import Definitions
from judge import judge_indexes
import archiver
from backups import back_up
from machine import CHANGES, KINDS, Machine, Rule
from server_bed import ServerBed, StartRefused
from wire_client import Lost, SqlError

# What is done to a sound database between two cycles, each with a function of a Database: where online backups and restores belong.
BETWEEN_CYCLES = [back_up, archiver.follow]

# Syncs that do nothing: each of them must be noticed.
LIES = {"all": Rule(["write", "sync", "sync_directory"], "lie", count=0),
        "log": Rule(["write", "sync"], "lie", count=0, pattern="*.segment"),
        "checkpoint": Rule(["write", "sync"], "lie", count=0, pattern="*.checkpoint"),
        "control": Rule(["sync"], "lie", count=0, pattern="*/pgsilo.control*"),
        "directories": Rule(["sync_directory"], "lie", count=0),
        "archive": archiver.LIE}  # by its process


def actors_of(seed):
    kinds = [(Inserter, 3), (Keys, 3), (Transfers, 3), (Definitions, 2), (References, 2), (Sequences, 2), (Hasty, 2), (Loader, 1),
             (Truncater, 1), (Unlogged, 1), (Checkpoints, 1), (Indexes, 1)]
    return [kind(f"{kind.__name__.lower()}{number}", seed) for kind, count in kinds for number in range(count)]


class Database:
    """One from its creation on: the machine, the server's settings, and the actors with what they know."""

    def __init__(self, options, seed):
        self.options, self.seed = options, seed
        self.random = random.Random(f"{seed} campaign")
        self.root = tempfile.mkdtemp(prefix="outside.", dir=options.keep)
        self.machine = Machine(f"{self.root}/server_and_disk", options.fault_library, options.power_cut)
        self.bed = ServerBed(self.machine, options.binary)
        self.bed.layout = self.layout()
        self.actors = actors_of(seed)
        self.archiver = archiver.Archiver(self)
        self.violations = Violations()
        self.story = []

    def layout(self):
        disk, settings = self.machine.disk, {}
        logs = self.random.choice([1, 1, 2, 3])
        if logs > 1:
            settings["log_directories"] = ",".join(f"{disk}/log{number}" for number in range(logs))
        if self.random.random() < 0.4:
            settings["checkpoint_directories"] = f"{disk}/checkpoint0,{disk}/checkpoint1"
        return settings

    def change_layout(self):
        """Logs may be named in another order, and there may be one more."""
        logs = [directory for directory in self.bed.layout.get("log_directories", "").split(",") if directory]
        if not logs or self.random.random() < 0.7:
            return
        if len(logs) < 4 and self.random.random() < 0.4:
            logs.append(f"{self.machine.disk}/log{len(logs)}")
        self.random.shuffle(logs)
        self.bed.layout["log_directories"] = ",".join(logs)
        self.tell(f"logs {[os.path.basename(directory) for directory in logs]}")

    def settings(self):
        choose = self.random.choice
        return {"worker_threads": choose([1, 2, 2, 4]), "wal_sync_method": choose(["open_datasync", "open_datasync", "fdatasync"]),
                "wal_compression": choose(["off", "lz4"]), "checkpoint_compression": choose(["off", "lz4"]),
                "max_wal_size": choose(["2MB", "64MB", "1GB"]), "checkpoint_threads": choose([0, 1, 3]),
                "checkpoint_completion_target": choose([0.1, 0.9])}

    def tell(self, text):
        self.story.append(text)

    def lie(self):
        if self.options.lie not in ("", "archive"):
            self.machine.schedule.arm(LIES[self.options.lie], archiver.LIE_PLACE)

    def create(self):
        self.bed.start(self.settings())
        with self.bed.client() as client:
            for actor in self.actors:
                actor.prepare(client)
        self.lie()

    def begin_load(self):
        self.load = Load(self.actors, self.machine.root, self.bed.port, self.violations)
        self.archiver.watch()

    def end_load(self):
        self.load.end()
        self.archiver.end_watch()

    def end_under_load(self):
        """At a call that changes a file, or at any moment."""
        schedule, choose = self.machine.schedule, self.random.choice
        self.begin_load()
        patience = self.random.uniform(0.2, 1) * self.options.seconds
        if self.random.random() < 0.7:
            time.sleep(self.random.uniform(0, 0.5) * self.options.seconds)
            rule = Rule([choose(CHANGES)] if self.random.random() < 0.5 else CHANGES, choose(["die", "die_after", "die_during", "die_during"]),
                        first=int(10 ** self.random.uniform(0, 3)), amount=self.random.randrange(1001),
                        pattern=choose(["*", "*", "*.segment", "*checkpoint*", "*.new", "*control*"]))
            schedule.arm(rule)
            self.tell(f"{rule.action} at {rule.kinds[0] if len(rule.kinds) == 1 else 'change'} {rule.first} of {rule.pattern}")
        if not self.bed.wait(patience):
            self.tell("SIGKILL")
            self.bed.kill()
        self.end_load()
        schedule.disarm()
        if self.bed.process.returncode != -9:
            self.violations.add(f"the server has ended by itself, {self.bed.process.returncode}: {self.bed.said()[-2000:]}")

    def stop_cleanly(self):
        self.begin_load()
        time.sleep(self.random.uniform(0.2, 1) * self.options.seconds)
        status = self.bed.stop()
        self.violations.expect(status == 0, f"a stop ended with {status}: {self.bed.said()[-2000:]}")
        self.bed.kill()
        self.end_load()
        self.tell("stop")

    def what_is_left(self):
        choice = self.random.random()
        if self.options.lie or choice < 0.65:
            self.archiver.lose_power()
            self.tell(self.machine.cut(self.random.getrandbits(32)))
        elif choice < 0.8:
            self.tell(self.machine.settle(self.random.getrandbits(32)))
        else:
            self.tell("the page cache stays")

    def interrupted_starts(self):
        for _ in range(self.random.choice([0, 0, 1, 2, 4])):
            rule = Rule(self.random.choice([KINDS, CHANGES]), self.random.choice(["die", "die_after", "die_during"]),
                        first=int(10 ** self.random.uniform(0, 2.5)), amount=self.random.randrange(1001))
            self.machine.schedule.arm(rule)
            self.bed.launch(self.settings())
            if not self.bed.is_ready() and self.bed.process.returncode != -9:
                raise StartRefused(f"exit status {self.bed.process.returncode}: {self.bed.said()[-2000:]}")
            self.tell(f"start ended at call {rule.first}" if self.bed.process.poll() is not None else "start ended when ready")
            self.bed.kill()
            self.machine.schedule.disarm()
            self.what_is_left()

    def keep_copy(self):
        """For who wants to look into it."""
        copy = f"{self.root}/before"
        shutil.rmtree(copy, ignore_errors=True)
        subprocess.run(["cp", "-a", "--sparse=always", self.machine.disk, copy], check=True)

    def start(self):
        self.keep_copy()
        status, text = self.bed.verify()
        self.change_layout()
        try:
            self.bed.start(self.settings())
        except StartRefused as refused:
            self.violations.add(f"the start was refused: {refused}\npgsilo-verify, {status}: {text[-2000:]}")
            return False
        self.violations.expect(status == 0, f"the server started, but pgsilo-verify says {status}: {text[-2000:]}")
        return True

    def judge(self):
        self.checked = 0
        with self.bed.client() as client:
            for actor in self.actors:
                actor.judge(client, self.violations)
            self.checked = judge_indexes(client, self.violations)

    def cycle(self):
        self.story, began = [], time.monotonic()
        done = sum(actor.done for actor in self.actors)
        self.stop_cleanly() if self.random.random() < 0.05 else self.end_under_load()
        acknowledged = sum(actor.done for actor in self.actors) - done
        self.what_is_left()
        self.archiver.judge_what_is_archived()
        if self.random.random() < 0.5:
            self.archiver.launch()
        try:
            self.interrupted_starts()
        except StartRefused as refused:
            self.violations.add(f"a start was refused: {refused}")
            return
        if not self.start():
            return
        self.lie()
        try:
            self.judge()
        except (Lost, SqlError, AssertionError) as trouble:
            self.violations.add(f"the database cannot be judged: {trouble!r} {self.bed.said()[-2000:]}")
        for work in BETWEEN_CYCLES:
            work(self)
        self.tell(f"{acknowledged} acknowledged, {self.checked} indexes agree, {time.monotonic() - began:.1f} s")

    def remove(self):
        self.archiver.kill()
        self.bed.kill()
        shutil.rmtree(self.root, ignore_errors=True)


def campaign(options):
    """The number of databases in which something was wrong."""
    failed = cycles = life = 0
    while cycles < options.cycles and failed < options.failures:
        seed = f"{options.seed}.{life}"
        life += 1
        database = Database(options, seed)
        print(f"database {seed}: {database.bed.layout}", flush=True)
        database.create()
        for _ in range(min(options.lives, options.cycles - cycles)):
            database.cycle()
            cycles += 1
            print(f"cycle {cycles}: {'; '.join(database.story)}", flush=True)
            if database.violations.found:
                break
        if database.violations.found:
            failed += 1
            database.archiver.kill()
            database.bed.kill()
            print(f"VIOLATED in database {seed}, {database.root}, cycle {cycles}:", *database.violations.found[:20], sep="\n  ", flush=True)
            if options.lie:
                database.remove()
        else:
            report_refusals(database)
            database.remove()
    print(f"{cycles} cycles, {failed} databases with violations")
    return failed


def report_refusals(database):
    """An actor that only hears errors proves nothing."""
    refused = {}
    for actor in database.actors:
        for words, count in actor.refused.items():
            refused[words] = refused.get(words, 0) + count
        if actor.done == 0:
            print(f"  {actor.name} has done nothing: {actor.trouble} {actor.refused}")
    print(f"  {sum(actor.done for actor in database.actors)} changes, refused: {refused}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--library", dest="fault_library", required=True)
    parser.add_argument("--power-cut", required=True)
    parser.add_argument("--cycles", type=int, default=300)
    parser.add_argument("--lives", type=int, default=20, help="cycles of one database")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=2.0, help="of load in a cycle, at most")
    parser.add_argument("--keep", default=tempfile.gettempdir())
    parser.add_argument("--failures", type=int, default=3, help="databases after which it ends")
    parser.add_argument("--lie", choices=sorted(LIES), default="")
    options = parser.parse_args()
    os.makedirs(options.keep, exist_ok=True)
    print(f"seed {options.seed}", flush=True)
    failed = campaign(options)
    if options.lie:
        print("the lies were noticed" if failed else "the lies were NOT noticed")
    return 0 if bool(failed) == bool(options.lie) else 1


if __name__ == "__main__":
    sys.exit(main())
