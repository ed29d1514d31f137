#!/usr/bin/env python3
"""pgsilo-backup over a server under load: what was acknowledged before the backup is in it, across SIGKILL of the server and of
what was restored; earlier states; later ones with an archive of the log, across SIGKILL of server and archiver; copies that
are not whole; the functions' errors.

usage: backup_test.py PGSILO_BINARY --clock JUMPING_CLOCK_LIBRARY     (the tools lie beside the binary)
"""
import argparse
import os
import resource
import shutil
import signal
import subprocess
import threading
import time

import clock_loop
from kill_bed import Bed, fail
from tools_test import Tools, expect
from wire_client import ServerError, WireClient


class Writer(threading.Thread):
    """A client that commits row after row and notes how many were acknowledged."""

    def __init__(self, bed, number):
        super().__init__(daemon=True)
        self.client = WireClient(bed.root, bed.port)
        self.number = number
        self.acknowledged = 0
        self.ends = False

    def run(self):
        while not self.ends:
            self.client.ask(f"insert into t values ({self.number}, {self.acknowledged + 1})")
            self.acknowledged += 1

    def end(self):
        self.ends = True
        self.join()
        self.client.close()


def refusal(bed, statements):
    client = WireClient(bed.root, bed.port)
    try:
        for statement in statements:
            client.ask(statement)
    except ServerError as error:
        return str(error)
    finally:
        client.close()
    return fail(f"{statements}: not refused")


def check_functions(bed):
    for statements, words in [(["select * from pg_backup_stop()"], "55000: backup is not in progress"),
                              (["select pg_backup_start('a')", "select pg_backup_start('b')"],
                               "55000: a backup is already in progress in this session"),
                              ([f"select pg_backup_start('{'x' * 1025}')"],
                               "22023: backup label too long (max 1024 bytes)")]:
        said = refusal(bed, statements)
        if said != words:
            fail(f"{statements}: {said}")
    if bed.sql("select pg_current_wal_insert_lsn() >= pg_current_wal_flush_lsn(), pg_is_in_recovery()") != [["t", "f"]]:
        fail("places in the log")


def opened(bed, directory):
    """A second server, on a restored directory."""
    other = Bed(bed.options)
    shutil.rmtree(f"{other.root}/data", ignore_errors=True)
    os.rename(directory, f"{other.root}/data")
    other.start()
    return other


def holds(bed, what, at_least, at_most):
    """Of each writer a prefix, no shorter than `at_least` says, no longer than `at_most`."""
    for number, (least, most) in enumerate(zip(at_least, at_most)):
        count, largest = map(int, bed.sql(f"select count(*), coalesce(max(b), 0) from t where a = {number}")[0])
        if count != largest or not least <= count <= most:
            fail(f"{what}: writer {number} has {count} rows up to {largest}, {least} to {most} were expected")


def check_backup(tools, bed):
    writers = [Writer(bed, number) for number in range(3)]
    for writer in writers:
        writer.start()
    time.sleep(1)
    bed.sql("checkpoint")
    time.sleep(0.5)
    before = [writer.acknowledged for writer in writers]
    taken = tools.run("backup", "take", "-l", "nightly", *bed.address(), f"{bed.root}/backup")
    expect(taken.returncode == 0, "take", taken)
    after = [writer.acknowledged + 1 for writer in writers]
    time.sleep(0.5)
    bed.sql("checkpoint")
    for writer in writers:
        writer.end()
    bed.kill()

    again = tools.run("backup", "take", *bed.address(), f"{bed.root}/other")
    expect(again.returncode == 1 and "pgsilo-backup: error: connection to server" in again.stderr, "no server", again)
    full = tools.run("backup", "restore", f"{bed.root}/backup", f"{bed.root}/data")
    expect(full.returncode == 1 and "exists but is not empty" in full.stderr, "directory is not empty", full)
    shown = tools.run("backup", "show", f"{bed.root}/backup")
    expect(shown.returncode == 0 and shown.stdout.startswith("label: nightly\n"), "show", shown)

    restored = tools.run("backup", "restore", f"{bed.root}/backup", f"{bed.root}/restored")
    expect(restored.returncode == 0 and "start it with: pgsilo -D" in restored.stdout, "restore", restored)
    other = opened(bed, f"{bed.root}/restored")
    holds(other, "restored", before, after)
    other.sql("insert into t values (9, 1)")
    other.kill()
    other.start()
    holds(other, "restored, killed and started", before, after)
    if other.sql("select count(*) from t where a = 9") != [["1"]]:
        fail("what was committed after the restore is gone")
    other.stop()
    other.remove()
    return before, after, shown.stdout


def check_targets(tools, bed, before, after, shown):
    numbers = [int(line.split("epoch ")[1].split()[0]) for line in shown.splitlines() if "epoch" in line]
    latest, earliest = numbers
    early = tools.run("backup", "restore", "-e", str(earliest - 1), f"{bed.root}/backup", f"{bed.root}/early")
    expect(early.returncode == 1 and "holds no state before epoch" in early.stderr, "too early", early)
    late = tools.run("backup", "restore", "-n", "-e", str(latest + 1), f"{bed.root}/backup", f"{bed.root}/late")
    expect(late.returncode == 1 and f"holds no state after epoch {latest}" in late.stderr, "too late", late)
    if os.path.exists(f"{bed.root}/late"):
        fail("a restore that was refused left a directory")
    done = tools.run("backup", "restore", "-e", str(earliest), f"{bed.root}/backup", f"{bed.root}/first")
    expect(done.returncode == 0, "earliest state", done)
    other = opened(bed, f"{bed.root}/first")
    holds(other, "earliest state", [1] * len(before), after)
    other.stop()
    other.remove()


def clock(bed):
    return " ".join(bed.sql("select clock_timestamp()")[0])


def check_times(tools, bed):
    """Rows whose moments are known from both sides, before the backup and while it is copied."""
    bed.sql("create table moments (n int primary key)")
    bed.sql("checkpoint")
    moments = []
    for n in range(6):
        bed.sql(f"insert into moments values ({n})")
        moments.append(clock(bed))
        time.sleep(0.02)
    bed.sql("insert into moments values (6)")
    taken = tools.run("backup", "take", *bed.address(), f"{bed.root}/timed")
    expect(taken.returncode == 0, "take", taken)
    shown = tools.run("backup", "show", f"{bed.root}/timed")
    expect("times of states: 20" in shown.stdout, "show", shown)
    for n in (0, 3, 5):
        target = f"{bed.root}/moment{n}"
        done = tools.run("backup", "restore", "-t", moments[n], f"{bed.root}/timed", target)
        expect(done.returncode == 0, f"restore to {moments[n]}", done)
        other = opened(bed, target)
        found = other.sql("select n from moments order by n")
        if found != [[str(i)] for i in range(n + 1)]:
            fail(f"at {moments[n]} there are {found}, not all up to {n}")
        other.stop()
        other.remove()
    for when, words in [("2001-01-01 00:00Z", "the backup holds no state before 20"),
                        (clock(bed), "the backup holds no state after 20")]:
        done = tools.run("backup", "restore", "--target-time", when, f"{bed.root}/timed", f"{bed.root}/never")
        expect(done.returncode == 1 and words in done.stderr and "It holds those from 20" in done.stderr, when, done)
    for arguments in [["-t", "noon"], ["-t", "2026-11-24 14:03"], ["-t", "2026-11-24 14:03Z", "-e", "7"]]:
        done = tools.run("backup", "restore", *arguments, f"{bed.root}/timed", f"{bed.root}/never")
        expect(done.returncode == 2 and "--target-time" in done.stderr, f"restore {arguments}", done)
    bed.sql("checkpoint")
    bed.sql("checkpoint")
    time.sleep(0.5)
    at_rest = tools.run("backup", "take", *bed.address(), f"{bed.root}/rest")
    expect(at_rest.returncode == 0, "take", at_rest)
    shown = tools.run("backup", "show", f"{bed.root}/rest")
    expect(shown.returncode == 0 and "times of states: 20" in shown.stdout, "show a backup of a server at rest", shown)
    state, earliest = (int(line.split("epoch ")[1].split()[0]) for line in shown.stdout.splitlines() if "epoch" in line)
    if state < earliest:
        fail(f"a backup of a server at rest is of an epoch before the earliest that it holds: {shown.stdout}")
    if os.path.exists(f"{bed.root}/never"):
        fail("a refused restore left a directory")


def lay(files, directory):
    for name, content in files.items():
        with open(f"{directory}/{name}", "wb") as file:
            file.write(content)


def segments(directory):
    found = {}
    for name in os.listdir(directory):
        if name.endswith(".segment"):
            with open(f"{directory}/{name}", "rb") as file:
                found[name] = file.read()
    return found


def last_written(directory):
    """The name of the last segment that has blocks; those behind it were only made ready."""
    return max(name for name, content in segments(directory).items() if content[:8] != bytes(8))


def check_fork(tools, bed, shown):
    """The log of what was restored to an earlier state and went on is none of the original's, however far that has got meanwhile."""
    earliest = shown.split("earliest state: epoch ")[1].split()[0]
    done = tools.run("backup", "restore", "-e", earliest, f"{bed.root}/backup", f"{bed.root}/fork")
    expect(done.returncode == 0, "fork", done)
    other = opened(bed, f"{bed.root}/fork")
    bed.start()
    bed.sql("insert into t select 88, generate_series(1, 300000)")
    bed.sql("checkpoint")
    bed.sql("insert into t values (88, 0)")
    # Had it written less, its empty segments would lie where the original's blocks were: damage, but nobody's.
    first = 0
    while last_written(f"{other.root}/data/wal") <= last_written(f"{bed.root}/data/wal"):
        other.sql(f"insert into t select 77, generate_series({first}, {first + 99999})")
        first += 100000
    other.kill()
    bed.kill()
    right = segments(f"{bed.root}/data/wal")
    lay(segments(f"{other.root}/data/wal"), f"{bed.root}/data/wal")
    refused = subprocess.run([bed.options.binary, "-D", f"{bed.root}/data", "-p", bed.port, "-k", bed.root], capture_output=True, text=True)
    said = refused.stdout + refused.stderr
    if refused.returncode == 0 or f"{bed.root}/data/wal/" not in said or "another copy of this database" not in said:
        fail(f"a fork's log was not refused by name: {said}")
    for name in segments(f"{bed.root}/data/wal"):
        os.remove(f"{bed.root}/data/wal/{name}")
    lay(right, f"{bed.root}/data/wal")
    bed.start()
    if bed.sql("select a, count(*) from t where a in (77, 88) group by a") != [["88", "300001"]]:
        fail("with its own log again the original is another one")
    bed.kill()
    other.remove()


def wait_for_line(stream, words):
    for line in stream:
        if words in line:
            return
    fail(f"the archiver ended without saying {words!r}")


def check_full_archive(tools, bed, follow, archive):
    """An archive whose device takes no more (here: no file of that size) is waited for, with words, and then gone on with."""

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, resource.RLIM_INFINITY))

    follower = subprocess.Popen([f"{tools.directory}/pgsilo-backup", *follow, archive], stderr=subprocess.PIPE, text=True, preexec_fn=limited)
    bed.sql("insert into later select generate_series(1000, 2000)")
    wait_for_line(follower.stderr, f'"{archive}/wal')
    wait_for_line(follower.stderr, "It is tried again until it can be done.")
    resource.prlimit(follower.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    goes_on(bed, follower)
    follower.terminate()
    if follower.wait(20) != 0:
        fail(f"the archiver ended with {follower.returncode}")


def goes_on(bed, follower):
    reached = bed.sql("select pg_current_wal_flush_lsn()")[0][0]
    until = time.monotonic() + 20
    while bed.sql(f"select restart_lsn >= '{reached}' from pg_replication_slots") != [["t"]]:
        if time.monotonic() > until or follower.poll() is not None:
            fail(f"the archiver does not go on: {follower.poll()}")
        time.sleep(0.1)


def check_failing_server(tools, bed, follow, archive):
    """Files of the server that cannot be read are waited for, a directory in the place of one, say. A server that does not answer keeps
    the archiver from ending when it is told to, but not when it is told twice."""
    follower = subprocess.Popen([f"{tools.directory}/pgsilo-backup", *follow, archive], stderr=subprocess.PIPE, text=True)
    identity = f"{bed.root}/data/wal/log.identity"
    for failing in [lambda: os.mkdir(identity), lambda: None]:
        os.rename(identity, f"{identity}.away")
        failing()
        bed.sql("insert into later select max(n) + 1 from later")
        wait_for_line(follower.stderr, "is tried again until it can be done.")
        if os.path.exists(identity):
            os.rmdir(identity)
        os.rename(f"{identity}.away", identity)
        goes_on(bed, follower)
    bed.process.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    follower.terminate()
    time.sleep(1.5)
    if follower.poll() is not None:
        fail(f"the archiver ended while the server did not answer: {follower.returncode}")
    follower.terminate()
    status = follower.wait(20)
    bed.process.send_signal(signal.SIGCONT)
    if status != -signal.SIGTERM:
        fail(f"told twice the archiver ended with {status}")


def check_rot(tools, bed, archive):
    """A byte of the last block that was archived is another one: that is no end, but earlier states are there for who names one."""
    segment = f"{archive}/wal/{sorted(segments(f'{archive}/wal'))[-1]}"

    def flip():
        with open(segment, "r+b") as file:
            place = len(file.read().rstrip(b"\0")) - 1
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 128 or 1]))

    def restore(*chosen):
        return tools.run("backup", "restore", "-A", archive, *chosen, f"{bed.root}/base", f"{bed.root}/rotten")

    with open(segment, "rb") as file:
        sound = file.read()
    flip()
    refused = restore()
    expect(refused.returncode == 1 and f'log file "{segment}" is damaged at offset' in refused.stderr, "rot in the last block", refused)
    shown = tools.run("backup", "show", "-A", archive, f"{bed.root}/base")
    expect(shown.returncode == 1 and "is damaged at offset" in shown.stderr and "times of states: 20" in shown.stdout, "show of rot", shown)
    last = refused.stderr.split("The states up to epoch ")[1].split()[0]
    beyond = restore("-e", str(int(last) + 1))
    expect(beyond.returncode == 1 and "is damaged at offset" in beyond.stderr, "a state that is lost", beyond)
    done = restore("-e", last)
    expect(done.returncode == 0, "the last state before the rot", done)
    shutil.rmtree(f"{bed.root}/rotten")
    with open(segment, "wb") as file:
        file.write(sound)


def check_usage(tools):
    """An option that a command would not heed is refused: it was meant to do something."""
    for arguments, words in [(["show", "-e", "7", "b"], 'option --target-epoch is none of "show"'),
                             (["restore", "-S", "s", "b", "d"], 'option --slot is none of "restore"'),
                             (["follow", "-S", "s", "-A", "a", "b"], 'option --archive is none of "follow"'),
                             (["follow", "-S", "s", "-n", "b"], 'option --no-verify is none of "follow"'),
                             (["take", "-1", "b"], 'option --once is none of "take"'),
                             (["take", "-S", "s", "b"], "option --slot wants --create-slot"),
                             (["take", "-C", "b"], "option --create-slot wants --slot"),
                             (["follow", "b"], "option --slot is missing"),
                             (["restore", "-A", "", "b", "d"], 'option --archive wants a directory, not ""'),
                             (["show", "-x", "b"], "invalid option"),
                             (["restore", "x"], "a backup and a new data directory must be named"),
                             (["restore", "-e", "x", "y", "z"], 'option --target-epoch wants a number, not "x"'),
                             (["take"], "one backup directory must be named"),
                             ([], "a command is missing"),
                             (["forget", "b"], 'unknown command "forget"')]:
        done = tools.run("backup", *arguments)
        expect(done.returncode == 2 and words in done.stderr and "--help" in done.stderr, f"usage {arguments}", done)
    for arguments in [["--help"], ["-?"], ["take", "--help"]]:
        done = tools.run("backup", *arguments)
        expect(done.returncode == 0 and done.stdout.startswith("pgsilo-backup takes backups"), f"usage {arguments}", done)


def check_told_epoch(tools, bed, follow, archive):
    """Checkpoints log nothing, so no epoch of theirs is told that a restored server would give again."""
    for _ in range(4):
        bed.sql("checkpoint")
    high, low = bed.sql("select pg_current_wal_flush_lsn()")[0][0].split("/")
    told = (int(high, 16) << 32) + int(low, 16)
    done = tools.run("backup", *follow, "--once", archive)
    expect(done.returncode == 0, "follow behind checkpoints", done)
    target = f"{bed.root}/told"
    done = tools.run("backup", "restore", "-n", "-A", archive, "-e", str(told), f"{bed.root}/base", target)
    expect(done.returncode == 0, "restore to an epoch that was told", done)
    shutil.rmtree(target)


def check_smart_shutdown(bed):
    """Told by SIGTERM to end, the server waits for its clients, but not for who archives it."""
    bed.process.terminate()
    try:
        bed.process.wait(20)
    except subprocess.TimeoutExpired:
        fail("the server waits for its archiver")
    bed.start()


def check_archive(tools, bed):
    """What was acknowledged behind the backup is in the archive, whoever was killed meanwhile."""
    bed.start()
    bed.sql("create table later (n int primary key)")
    taken = tools.run("backup", "take", "-C", "-S", "archive", *bed.address(), f"{bed.root}/base")
    expect(taken.returncode == 0, "take with a slot", taken)
    archive = f"{bed.root}/archive"
    follow = ["follow", "-S", "archive", *bed.address()]
    moments = []
    for n in range(4):
        follower = tools.start("backup", *follow, archive)
        writers = [Writer(bed, 100 + 10 * n + number) for number in range(2)]
        for writer in writers:
            writer.start()
        time.sleep(1)
        bed.sql("checkpoint")
        bed.sql(f"insert into later values ({n})")
        moments.append(clock(bed))
        time.sleep(0.5)
        for writer in writers:
            writer.end()
        if n % 2 == 0:
            follower.kill()
            follower.wait()
        if n == 1:
            bed.kill()
            bed.start()
            time.sleep(2.5)
        if n == 3:
            check_smart_shutdown(bed)
        if n % 2 == 1:
            second = tools.run("backup", *follow, "--once", archive)
            expect(second.returncode == 1 and "is in use by another process" in second.stderr, "two archivers", second)
            follower.terminate()
            if follower.wait(20) != 0:
                fail(f"the archiver ended with {follower.returncode}")
    before = bed.sql("select a, count(*) from t where a >= 100 group by a order by a")
    done = tools.run("backup", *follow, "--once", archive)
    expect(done.returncode == 0 and "log archived up to" in done.stdout, "follow --once", done)
    if bed.sql("select wal_status, restart_lsn <= pg_current_wal_flush_lsn() from pg_replication_slots") != [["reserved", "t"]]:
        fail("the slot was not moved on")
    bed.sql("insert into later values (99)")
    shown = tools.run("backup", "show", "-A", archive, f"{bed.root}/base")
    expect(shown.returncode == 0 and "times of states: 20" in shown.stdout, "show with an archive", shown)
    for n, when in enumerate([*moments, None]):
        target = f"{bed.root}/archived{n}"
        chosen = [] if when is None else ["-t", when]
        done = tools.run("backup", "restore", "-A", archive, *chosen, f"{bed.root}/base", target)
        expect(done.returncode == 0, f"restore with an archive to {when}", done)
        other = opened(bed, target)
        found = other.sql("select n from later order by n")
        if found != [[str(i)] for i in range(min(n, 3) + 1)]:
            fail(f"at {when} there are {found}")
        if when is None and other.sql("select a, count(*) from t where a >= 100 group by a order by a") != before:
            fail("what was archived is not what was acknowledged")
        if other.sql("select count(*) from pg_replication_slots") != [["0"]]:
            fail("a restored database has slots")
        other.stop()
        other.remove()
    check_told_epoch(tools, bed, follow, archive)
    check_rot(tools, bed, archive)
    check_full_archive(tools, bed, follow, archive)
    check_failing_server(tools, bed, follow, archive)
    bed.sql("select pg_drop_replication_slot('archive')")
    gone = tools.run("backup", *follow, "--once", archive)
    expect(gone.returncode == 1 and 'replication slot "archive" does not exist' in gone.stderr, "without a slot", gone)
    bed.stop()


def check_clock(tools, options):
    """The clock is set to and fro between batches, also over a restart: each time is a state, later ones hold earlier ones."""
    hour = 3_600_000_000
    bed = Bed(options)
    bed.clock = clock_loop.Clock(bed)
    clock_loop.start(bed)
    bed.sql("create table ticks (n int primary key)")
    slot = ["-S", "clock", *bed.address()]
    taken = tools.run("backup", "take", "-C", *slot, f"{bed.root}/base")
    expect(taken.returncode == 0, "take", taken)
    moments = []
    for n, offset in enumerate([0, 2 * hour, hour, hour, 3 * hour, 3 * hour, -hour]):
        if n == 6:
            bed.kill()
        bed.clock.set(offset)
        if n == 6:
            clock_loop.start(bed)
        bed.sql(f"insert into ticks values ({n})")
        moments.append(clock(bed))
        time.sleep(0.05)
    done = tools.run("backup", "follow", "--once", *slot, f"{bed.root}/ticks")
    expect(done.returncode == 0, "follow", done)
    # What was committed while the clock caught up is as of the moment before: there or not, but never without what came first.
    for when, least, most in [(0, 1, 1), (2, 1, 1), (3, 1, 1), (1, 2, 4), (4, 5, 5), (None, 7, 7)]:
        target = f"{bed.root}/tick{when}"
        chosen = [] if when is None else ["-t", moments[when]]
        done = tools.run("backup", "restore", "-A", f"{bed.root}/ticks", *chosen, f"{bed.root}/base", target)
        expect(done.returncode == 0, f"restore to {when}", done)
        other = opened(bed, target)
        found = [int(row[0]) for row in other.sql("select n from ticks order by n")]
        if found != list(range(len(found))) or not least <= len(found) <= most:
            fail(f"at the time of row {when} there are {found}")
        other.stop()
        other.remove()
    early = tools.run("backup", "restore", "-A", f"{bed.root}/ticks", "-t", moments[6], f"{bed.root}/base", f"{bed.root}/early")
    expect(early.returncode == 1 and "holds no state before" in early.stderr, "a time of the clock that was set back", early)
    bed.stop()
    bed.remove()


def check_rotation(tools, options):
    """The end of a log that no start needs is lost, which nobody tells; a new archive is begun."""
    bed = Bed(options)
    bed.start()
    bed.sql("create table kept as select generate_series(1, 1000) n")
    bed.stop()
    log = f"{bed.directory}/wal"
    os.unlink(f"{log}/{min(name for name in os.listdir(log) if name.endswith('.segment'))}")
    bed.start()
    bed.sql("checkpoint")  # as the HINT says
    slot = ["-S", "anew", *bed.address()]
    taken = tools.run("backup", "take", "-C", *slot, f"{bed.root}/base")
    expect(taken.returncode == 0, "take", taken)
    for n in range(2):
        bed.sql(f"insert into kept values ({n})")
        done = tools.run("backup", "follow", "--once", *slot, f"{bed.root}/anew")
        expect(done.returncode == 0, "follow", done)
        bed.stop()
        bed.start()
    done = tools.run("backup", "restore", "-A", f"{bed.root}/anew", f"{bed.root}/base", f"{bed.root}/whole")
    expect(done.returncode == 0, "restore", done)
    other = opened(bed, f"{bed.root}/whole")
    if other.sql("select count(*) from kept") != [["1002"]]:
        fail("the new archive lacks rows")
    other.stop()
    other.remove()
    bed.stop()
    bed.remove()


def check_damage(tools, bed):
    segment = sorted(name for name in os.listdir(f"{bed.root}/backup/wal") if name.endswith(".segment"))[0]
    os.rename(f"{bed.root}/backup/wal/{segment}", f"{bed.root}/{segment}")
    lacks = tools.run("backup", "restore", f"{bed.root}/backup", f"{bed.root}/lacks")
    expect(lacks.returncode == 1 and "the backup is not whole, or damaged" in lacks.stderr, "without a segment", lacks)
    os.rename(f"{bed.root}/{segment}", f"{bed.root}/backup/wal/{segment}")
    with open(f"{bed.root}/backup/backup_label", "r+b") as label:
        label.seek(100)
        label.write(b"!")
    torn = tools.run("backup", "show", f"{bed.root}/backup")
    expect(torn.returncode == 1 and "is damaged, or not whole" in torn.stderr, "damaged label", torn)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--clock", required=True)
    options = parser.parse_args()
    options.flags = "-c worker_threads=2"
    tools = Tools(options.binary)
    bed = Bed(options)
    try:
        bed.start()
        bed.sql("create table t (a int, b int, primary key (a, b))")
        check_usage(tools)
        check_functions(bed)
        check_times(tools, bed)
        before, after, shown = check_backup(tools, bed)
        check_targets(tools, bed, before, after, shown)
        check_fork(tools, bed, shown)
        check_archive(tools, bed)
        check_clock(tools, options)
        check_rotation(tools, options)
        check_damage(tools, bed)
        bed.start()
        bed.stop()
        print("passed")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
