"""A server that is started in a directory of somebody else says so and changes nothing there: not in that of a PostgreSQL
that runs, not in its socket's directory, not in one with files of any kind. usage: foreign_directory_test.py PGSILO_BINARY"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

from kill_bed import PROGRAMS, fail, free_port


def as_postgres():
    return ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []


def snapshot(directory):
    """Names, kinds, owners, times and contents of everything below."""
    found = {}
    for folder, folders, names in os.walk(directory):
        for name in folders + names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content = ""
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            found[os.path.relpath(path, directory)] = (status.st_mode, status.st_uid, status.st_ino, status.st_mtime_ns, content)
    return found


def settled(directory):
    """Once nothing has changed for a while."""
    before = snapshot(directory)
    for _ in range(60):
        time.sleep(1)
        now = snapshot(directory)
        if now == before:
            return now
        before = now
    fail("PostgreSQL's directory does not come to rest")


class Postgres:
    def __init__(self, root):
        self.root = f"{root}/postgres"
        os.mkdir(self.root)
        if os.getuid() == 0:
            shutil.chown(self.root, "postgres")
        self.data = f"{self.root}/data"
        self.port = free_port()
        self.run(f"{PROGRAMS}/initdb", "-D", self.data, "-U", "postgres", "-A", "trust")
        # Nothing of its own accord: what changes is somebody else's doing.
        self.quiet = f"-k {self.root} -p {self.port} -c listen_addresses= -c autovacuum=off -c wal_level=minimal -c max_wal_senders=0"

    def run(self, *command):
        done = subprocess.run(as_postgres() + list(command), capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            fail(f"{command}: {done.stdout}{done.stderr}")

    def start(self):
        self.run(f"{PROGRAMS}/pg_ctl", "-D", self.data, "-w", "-l", f"{self.root}/log", "-o", self.quiet, "start")

    def stop(self):
        subprocess.run(as_postgres() + [f"{PROGRAMS}/pg_ctl", "-D", self.data, "-m", "fast", "stop"], capture_output=True, cwd="/")

    def answers(self):
        done = subprocess.run([f"{PROGRAMS}/psql", "-X", "-A", "-t", "-h", self.root, "-p", self.port, "-U", "postgres", "-c",
                               "select 6 * 7", "postgres"], capture_output=True, text=True)
        return done.stdout.strip() == "42"


def refused(binary, data, sockets, port, words):
    done = subprocess.run([binary, "-D", data, "-p", port, "-k", sockets, "-h", ""], capture_output=True, text=True, timeout=60)
    if done.returncode != 1 or words not in done.stderr:
        fail(f"not refused with '{words}' (status {done.returncode}):\n{done.stdout}{done.stderr}")


def untouched(directory, before, what):
    now = snapshot(directory)
    if now != before:
        changed = [name for name in sorted(now.keys() | before.keys()) if now.get(name) != before.get(name)]
        fail(f"{what}: changed: {changed}")


def check_postgres(binary, root):
    server = Postgres(root)
    try:
        server.start()
        before = settled(server.root)
        refused(binary, server.data, root, free_port(), "holds a database of PostgreSQL")
        untouched(server.root, before, "the directory of a PostgreSQL that runs")
        # A database of ours, but on PostgreSQL's socket.
        refused(binary, f"{root}/ours", server.root, server.port, "already exists")
        untouched(server.root, before, "the socket of a PostgreSQL that runs")
        # Longer than the minute in which PostgreSQL looks at its lock file need not pass: the file is what it was.
        if not server.answers():
            fail("PostgreSQL does not answer any more")
        server.stop()
        before = snapshot(server.data)
        refused(binary, server.data, root, free_port(), "holds a database of PostgreSQL")
        untouched(server.data, before, "the directory of a PostgreSQL that is stopped")
        os.unlink(f"{server.data}/PG_VERSION")
        before = snapshot(server.data)
        refused(binary, server.data, root, free_port(), "is not empty")
        untouched(server.data, before, "a directory that was PostgreSQL's")
    finally:
        server.stop()


def check_others(binary, root):
    for name in ["notes.txt", ".hidden", "lost+found/"]:
        directory = f"{root}/foreign"
        os.mkdir(directory)
        if name.endswith("/"):
            os.mkdir(f"{directory}/{name}")
        else:
            with open(f"{directory}/{name}", "w") as file:
                file.write("mine\n")
        before = snapshot(directory)
        refused(binary, directory, root, free_port(), "is not empty")
        untouched(directory, before, f"a directory with {name}")
        shutil.rmtree(directory)


def check_lock_file(binary, root):
    """Somebody's who runs and does not lock it, as PostgreSQL does not."""
    directory = f"{root}/locked"
    os.mkdir(directory)
    with open(f"{directory}/postmaster.pid", "w") as file:
        file.write(f"{os.getpid()}\n{directory}\n1700000000\n5432\n/tmp\n\n  5432001   1\nready   \n")
    before = snapshot(directory)
    refused(binary, directory, root, free_port(), f"PID {os.getpid()}")
    untouched(directory, before, "a directory with somebody's lock file")


def check_own(binary, root):
    """What our first start made before it was cut short, and what a killed server left, is ours."""
    directory = f"{root}/own"
    os.mkdir(directory)
    for _ in range(2):
        with open(f"{directory}/postmaster.pid", "w") as file:
            file.write("999999999\n")
        with open(f"{directory}/pgsilo.lock", "w") as file:
            file.write("999999999\n")
        port = free_port()
        with open(f"{root}/own.log", "w") as log:
            server = subprocess.Popen([binary, "-D", directory, "-p", port, "-k", root, "-h", ""], stdout=log, stderr=log)
        for _ in range(1200):
            with open(f"{root}/own.log") as log:
                if "pgsilo ready" in log.read():
                    break
            if server.poll() is not None:
                with open(f"{root}/own.log") as log:
                    fail(f"our own directory is refused: {log.read()}")
            time.sleep(0.05)
        server.kill()
        server.wait()


def main():
    binary = sys.argv[1]
    root = tempfile.mkdtemp(prefix="pgsilo-foreign.")
    os.chmod(root, 0o755)
    try:
        check_own(binary, root)
        check_others(binary, root)
        check_lock_file(binary, root)
        check_postgres(binary, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


main()
