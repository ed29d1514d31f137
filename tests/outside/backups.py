"""A backup of the running server is taken, restored elsewhere and started there: it has all that had been acknowledged. With
luck it is of an earlier epoch; then it must be a database in itself."""
import copy
import os
import shutil
import subprocess

from judge import judge_indexes
from server_bed import StartRefused, free_port
from wire_client import Client, Lost, SqlError

SHARE = 0.3  # of cycles


def path(database):
    return os.path.join(os.path.dirname(database.bed.binary), "pgsilo-backup")


def program(database, *words, machine=None):
    """What it says; None, and a violation: it has failed. `machine`: on whose disk it writes."""
    done = subprocess.run([path(database), *words], capture_output=True, text=True, env=machine.environment() if machine else None)
    database.violations.expect(done.returncode == 0, f"pgsilo-backup {words} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout if done.returncode == 0 else None


class Restored:
    """A server on a restored directory, on files that nobody watches."""

    def __init__(self, database, directory, started_with):
        self.root, self.port = database.root, free_port()
        setting = [word for word in started_with.split() if word.startswith("log_directories=")]
        with open(f"{self.root}/restored.log", "w") as log:
            self.process = subprocess.Popen([database.bed.binary, "-D", directory, "-h", "", "-p", str(self.port), "-k", self.root,
                                             *[f"--{word}" for word in setting]], stdout=log, stderr=log)
        while "pgsilo ready" not in self.said():
            if self.process.poll() is not None:
                raise StartRefused(self.said()[-2000:])

    def said(self):
        with open(f"{self.root}/restored.log", errors="replace") as log:
            return log.read()

    def client(self):
        return Client(self.root, self.port)

    def end(self):
        self.process.kill()
        self.process.wait()


def with_client(actor, client):
    """One that knows the same. What it learns of this server is not so of the other."""
    return copy.deepcopy(actor, {id(actor.client): client} if hasattr(actor, "client") else {})


def judge(database, directory, started_with, judge_actor):
    """`judge_actor` gets each actor and a client of the restored server; None: it is of some earlier state."""
    try:
        server = Restored(database, directory, started_with)
    except StartRefused as refused:
        database.violations.add(f"a restored backup was refused: {refused}")
        return
    try:
        with server.client() as client:
            for actor in database.actors if judge_actor else []:
                judge_actor(with_client(actor, client), client)
            judge_indexes(client, database.violations)
    except (Lost, SqlError, AssertionError) as trouble:
        database.violations.add(f"the restored backup cannot be judged: {trouble!r} {server.said()[-2000:]}")
    finally:
        server.end()


def epochs(shown):
    """Of the backup's state and of the earliest one."""
    return [int(line.split("epoch ")[1].split()[0]) for line in shown.splitlines() if "epoch " in line]


def address(database):
    return ["-h", database.machine.root, "-p", str(database.bed.port), "-U", "postgres"]


def back_up(database):
    if database.options.lie or database.violations.found or database.random.random() > SHARE:
        return
    backup, restored = f"{database.root}/backup", f"{database.root}/restored"
    taken = program(database, "take", *address(database), backup)
    shown = program(database, "show", backup) if taken else None
    if shown:
        latest, earliest = epochs(shown)
        epoch = database.random.choice([latest, latest, database.random.randint(earliest, latest)])
        started_with = program(database, "restore", "-e", str(epoch), backup, restored)
        if started_with:
            of_last = lambda actor, client: actor.judge(client, database.violations)
            judge(database, restored, started_with, of_last if epoch == latest else None)
            database.tell(f"backup restored at {latest - epoch} epochs before its end")
    for directory in backup, restored:
        shutil.rmtree(directory, ignore_errors=True)
