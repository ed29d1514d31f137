"""The servers that the benchmarks start: pgsilo, PostgreSQL 15, and one of canned answers, each with a private directory."""
import contextlib
import os
import pwd
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = "/usr/lib/postgresql/15/bin"
PROGRAM = os.path.basename(sys.argv[0])
TICK = os.sysconf("SC_CLK_TCK")
POLL_SECONDS = 0.1  # while a server starts


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(word) for word in found.split()]


def threads(pid):
    pids = [pid] + children(pid)
    return [int(t) for p in pids if os.path.isdir(f"/proc/{p}/task") for t in os.listdir(f"/proc/{p}/task")]


class Server:
    """A running server: its name, socket directory, port, and process."""

    def __init__(self, name, sockets, port):
        self.name, self.sockets, self.port, self.pid = name, sockets, port, 0

    def wait_until_ready(self):
        for _ in range(int(60 / POLL_SECONDS)):
            if subprocess.run([f"{PROGRAMS}/psql", "-X", "-h", self.sockets, "-p", str(self.port), "-U", "postgres",
                               "-c", "select 1", "postgres"], capture_output=True).returncode == 0:
                return
            time.sleep(POLL_SECONDS)
        sys.exit(f"{PROGRAM}: {self.name} did not start")

    def pin(self, processors):
        for thread in threads(self.pid):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(thread, processors)

    def pgbench(self, arguments, pinned=False):
        command = [f"{PROGRAMS}/pgbench", "-h", self.sockets, "-p", str(self.port), "-U", "postgres"] + arguments
        if pinned:
            command = ["taskset", "-c", "0"] + command
        return subprocess.run(command + ["postgres"], capture_output=True, text=True)

    def query(self, text):
        """The first value of the answer, as text."""
        return subprocess.run([f"{PROGRAMS}/psql", "-X", "-A", "-t", "-h", self.sockets, "-p", str(self.port), "-U", "postgres",
                               "-c", text, "postgres"], capture_output=True, text=True, check=True).stdout.strip()

    def cpu_seconds(self):
        """User and system time of the process and of its live and reaped children."""
        total = 0.0
        for child in [self.pid] + children(self.pid):
            try:
                fields = open(f"/proc/{child}/stat").read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            total += sum(int(fields[i]) for i in ((11, 12, 13, 14) if child == self.pid else (11, 12))) / TICK
        return total

    def kill(self):
        """As a crash does it."""
        for pid in [self.pid] + children(self.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        # To the server itself: runuser in front of PostgreSQL does not pass every signal on. A shell's background job
        # ignores SIGINT, and so does what it starts and does not handle it.
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, {"postgres": signal.SIGQUIT, "pgsilo": signal.SIGINT}.get(self.name, signal.SIGTERM))
        self.process.wait()


def build(*targets):
    subprocess.run([f"{ROOT}/scripts/build", "release", *targets], check=True)


def start_pgsilo(directory, binary=f"{ROOT}/build/release/bin/pgsilo", *settings, own_session=False):
    """`own_session`: as service managers start it. The kernel's autogroups give each session a share of the CPUs of its own."""
    server = Server("pgsilo", directory, 6001)
    log = open(f"{directory}/log", "w")
    process = subprocess.Popen([binary, "-D", f"{directory}/data", "-p", "6001", "-k", directory, *settings],
                               stdout=log, stderr=log, start_new_session=own_session)
    server.pid, server.process = process.pid, process
    server.wait_until_ready()
    return server


def as_postgres():
    return ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []


def start_postgres(directory):
    owner = pwd.getpwnam("postgres")
    os.chown(directory, owner.pw_uid, owner.pw_gid)
    subprocess.run(as_postgres() + [f"{PROGRAMS}/initdb", "-D", f"{directory}/data", "-U", "postgres", "-A", "trust",
                             "-E", "UTF8", "--locale=C.UTF-8"], check=True, capture_output=True)
    return run_postgres(directory)


def run_postgres(directory):
    """On a database that start_postgres() has made."""
    server = Server("postgres", directory, 6002)
    process = subprocess.Popen(as_postgres() + [f"{PROGRAMS}/postgres", "-D", f"{directory}/data", "-k", directory, "-p", "6002",
                                         "-c", "listen_addresses=", "-c", "shared_buffers=2GB", "-c", "max_wal_size=8GB", "-c", "max_connections=300"],
                               stdout=open(f"{directory}/log", "w"), stderr=subprocess.STDOUT)
    server.process = process
    server.wait_until_ready()
    with open(f"{directory}/data/postmaster.pid") as file:
        server.pid = int(file.readline())
    return server


def start_null(directory):
    server = Server("ceiling", directory, 6003)
    server.process = subprocess.Popen([f"{ROOT}/build/release/bench/null_server", directory, "6003"])
    server.pid = server.process.pid
    time.sleep(0.3)
    return server
