"""pgsilo-backup follow beside the server and its load: killed at any moment or call, its own disk without power, over the server's
crashes and starts. What it has told the server's slot that it has must be in what is restored of it, and nothing that was not."""
import os
import random
import shutil
import subprocess
import threading

import backups
from machine import CHANGES, Machine, Rule
from wire_client import Lost, SqlError

SLOT = "archive"

# Its syncs, when they lie.
LIE, LIE_PLACE = Rule(["write", "sync", "sync_directory"], "lie", count=0), 15
LOOK = ("SELECT pg_current_wal_flush_lsn(), (SELECT restart_lsn FROM pg_replication_slots WHERE slot_name = '" + SLOT + "')")


def epoch_of(lsn):
    high, low = lsn.split("/")
    return (int(high, 16) << 32) + int(low, 16)


class Archiver:
    """Of one database, from a backup on that is taken with a slot between two cycles."""

    def __init__(self, database):
        self.database = database
        self.random = random.Random(f"{database.seed} archiver")
        self.base = f"{database.root}/base"
        self.log = f"{database.root}/follow.log"
        self.machine = self.process = self.watching = None
        self.marks = []  # (durable epoch, what was acknowledged by then), of what may not be archived yet
        self.floor = None  # what was acknowledged up to where the archive says it got

    # --- the process ---

    def begin(self):
        """Whether there is a backup on which an archive rests."""
        if self.machine is None and self.random.random() < 0.6:
            if backups.program(self.database, "take", "-C", *self.slot(), self.base):
                self.machine = Machine(f"{self.database.root}/archive", self.database.options.fault_library, self.database.options.power_cut)
        return self.machine is not None

    def slot(self):
        return ["-S", SLOT, *backups.address(self.database)]

    @property
    def directory(self):
        return f"{self.machine.disk}/archive"

    def launch(self):
        if self.machine is None or self.is_running():
            return
        if self.database.options.lie:
            self.machine.schedule.arm(LIE, LIE_PLACE)
        if self.random.random() < 0.3:
            self.machine.schedule.arm(Rule(CHANGES, self.random.choice(["die", "die_after", "die_during"]),
                                           first=int(10 ** self.random.uniform(0, 2.5)), amount=self.random.randrange(1001)))
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([backups.path(self.database), "follow", *self.slot(), self.directory], stdout=log, stderr=log,
                                            env=self.machine.environment())

    def is_running(self):
        """Only SIGKILL ends it, ours or that of the call at which it was to die."""
        if self.process is None:
            return False
        status = self.process.poll()
        if status is not None:
            self.database.violations.expect(status == -9, f"the archiver has ended by itself, {status}: {self.said()}")
            self.machine.schedule.disarm()
            self.process = None
        return self.process is not None

    def said(self):
        with open(self.log, errors="replace") as log:
            return log.read()[-2000:]

    def kill(self):
        if self.is_running():
            self.process.kill()
            self.process.wait()
            self.is_running()

    def lose_power(self):
        """Its disk, which may be the server's."""
        if self.machine is not None:
            self.kill()
            self.machine.cut(self.random.getrandbits(32))

    def end(self):
        """It is told to, and says that all is well."""
        if not self.is_running():
            return
        self.process.terminate()
        status = self.process.wait(60)
        dies = self.machine.schedule.fired() and status == -9
        self.database.violations.expect(status == 0 or dies, f"the archiver ended with {status}: {self.said()}")
        self.machine.schedule.disarm()
        self.process = None

    # --- beside the load ---

    def watch(self):
        if self.machine is None:
            return
        self.launch()
        self.stop = threading.Event()
        self.watching = threading.Thread(target=self.look_on, daemon=True)
        self.watching.start()

    def end_watch(self):
        if self.watching is not None:
            self.stop.set()
            self.watching.join(60)
            self.watching = None

    def look_on(self):
        try:
            with self.database.bed.client() as client:
                while not self.stop.wait(0.05):
                    self.look(client)
                    self.disturb()
        except (Lost, SqlError):  # the server has ended
            pass
        except Exception as error:  # what nobody hears would pass for a quiet cycle
            self.database.violations.add(f"archiver: {type(error).__name__} {error}")

    def look(self, client):
        acknowledged = {actor.name: actor.note() for actor in self.database.actors}
        durable, archived = client.query(LOOK)[0]
        self.marks.append((epoch_of(durable), acknowledged))
        while self.marks and self.marks[0][0] <= epoch_of(archived):
            self.floor = self.marks.pop(0)[1]

    def disturb(self):
        if self.random.random() < 0.02:
            self.lose_power() if self.random.random() < 0.5 else self.kill()
        elif not self.is_running() and self.random.random() < 0.3:
            self.launch()

    # --- what it has ---

    def judge_what_is_archived(self):
        """Behind the server's end."""
        if self.machine is not None and self.floor is not None and self.random.random() < 0.5:
            self.restore(lambda actor, client: actor.judge_since(client, self.database.violations, self.floor[actor.name]))
            self.database.tell("archive restored as it was then")

    def catch_up(self):
        """All that the server has, between two cycles. Then it goes on, or waits for the next load."""
        self.marks, self.floor = [], None
        if self.random.random() < 0.6:
            self.end() if self.random.random() < 0.5 else self.kill()
            # Watched: what it syncs of what a killed one had written is durable.
            if backups.program(self.database, "follow", "--once", *self.slot(), self.directory, machine=self.machine):
                self.floor = {actor.name: actor.note() for actor in self.database.actors}
                if self.random.random() < 0.5:
                    self.restore(lambda actor, client: actor.judge(client, self.database.violations))
                    self.database.tell("archive restored")
        if self.random.random() < 0.5:
            self.launch()

    def restore(self, judge_actor):
        restored = f"{self.database.root}/restored"
        started_with = backups.program(self.database, "restore", "-A", self.directory, self.base, restored)
        if started_with:
            backups.judge(self.database, restored, started_with, judge_actor)
        shutil.rmtree(restored, ignore_errors=True)


def follow(database):
    if database.options.lie not in ("", "archive") or database.violations.found:
        return
    if database.archiver.begin():
        database.archiver.catch_up()
