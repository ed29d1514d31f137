"""The server under test on a machine whose files may fail (machine.py), with settings that may differ from start to start."""
import os
import signal
import socket
import subprocess
import time

from wire_client import Client, Lost, SqlError


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def target_of(link):
    """Empty: it has gone meanwhile."""
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""


class StartRefused(Exception):
    """What the server said."""


class ServerBed:
    def __init__(self, machine, binary):
        self.machine, self.binary, self.port = machine, os.path.abspath(binary), free_port()
        self.data = f"{machine.disk}/data"
        self.layout = {}  # settings that say where files lie
        self.process = None
        self.log_path = f"{machine.root}/server.log"

    def launch(self, settings, noted=True):
        """Without waiting."""
        with open(self.log_path, "a") as log:
            log.write(f"--- start {settings}\n")
            log.flush()
            self.log_begin = log.tell()
            words = [f"--{name}={value}" for name, value in {**self.layout, **settings}.items()]
            self.process = subprocess.Popen([self.binary, "-D", self.data, "-h", "", "-p", str(self.port), "-k", self.machine.root, *words],
                                            stdout=log, stderr=log, env=self.machine.environment(noted))

    def is_ready(self, patience=120):
        """Waits until it is; False if it has ended before."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if "pgsilo ready" in self.said():
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(0.01)
        raise StartRefused(f"not ready in {patience} seconds: {self.said()[-2000:]}")

    def start(self, settings, noted=True):
        """A start of which nothing is in the way."""
        self.launch(settings, noted)
        if not self.is_ready():
            raise StartRefused(f"exit status {self.process.returncode}: {self.said()[-2000:]}")
        self.refuse_unwatched()

    def refuse_unwatched(self):
        """Ways to files that the library does not see: then the campaign would prove nothing."""
        with open(f"/proc/{self.process.pid}/maps") as maps:
            shared = [line for line in maps if self.machine.disk in line and line.split()[1].endswith("s") and "w" in line.split()[1]]
        descriptors = f"/proc/{self.process.pid}/fd"
        rings = [name for name in os.listdir(descriptors) if "io_uring" in target_of(f"{descriptors}/{name}")]
        if shared or rings:
            raise RuntimeError(f"the server changes files in ways that are not watched: {shared} {rings}")

    def said(self):
        """Since the last launch."""
        with open(self.log_path, errors="replace") as log:
            log.seek(self.log_begin)
            return log.read()

    def client(self, **words):
        return Client(self.machine.root, self.port, **words)

    def wait(self, seconds):
        """Whether it has ended by then."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self):
        if self.process and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        if self.process:
            self.process.wait()

    def stop(self, patience=60):
        """Clean; the exit status."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    def verify(self):
        """What pgsilo-verify says of the directory: exit status and text."""
        program = os.path.join(os.path.dirname(self.binary), "pgsilo-verify")
        logs = self.layout.get("log_directories", "")
        words = [word for directory in logs.split(",") if directory for word in ("-L", directory)]
        places = self.layout.get("checkpoint_directories")
        words += [f"--checkpoint-directory={directory}" for directory in places.split(",")] if places else []
        done = subprocess.run([program, *words, self.data], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def connects(bed):
    try:
        with bed.client(timeout=5.0):
            return True
    except (Lost, SqlError):
        return False
