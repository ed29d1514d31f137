"""What the loops share that kill the server with SIGKILL: the server and its clients, the command line, and the order of things."""
import argparse
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = "/usr/lib/postgresql/15/bin"


def fail(message):
    sys.exit(f"{os.path.splitext(os.path.basename(sys.argv[0]))[0]}: {message}")


def free_port():
    """One that is free on loopback too: tests run side by side."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


class Bed:
    """A server on a directory of its own."""

    def __init__(self, options):
        self.options = options
        self.port = free_port()
        self.root = tempfile.mkdtemp(prefix="pgsilo-kill.")
        self.directory = f"{self.root}/data"  # as the server is told it
        self.home = None  # where it runs; None: where we do
        self.process = None
        self.limits = []  # of the server's resources: what setrlimit() takes

    def start(self):
        def set_limits():
            for limit in self.limits:
                resource.setrlimit(*limit)

        self.log = open(f"{self.root}/log", "a")
        offset = os.path.getsize(f"{self.root}/log")
        self.process = subprocess.Popen([self.options.binary, "-D", self.directory, "-p", self.port, "-k", self.root]
                                        + self.options.flags.split(), cwd=self.home, stdout=self.log, stderr=self.log, preexec_fn=set_limits)
        for _ in range(2400):
            with open(f"{self.root}/log") as file:
                file.seek(offset)
                if "pgsilo ready" in file.read():
                    return
            if self.process.poll() is not None:
                fail(f"the server did not start:\n{self.newest_log()}")
            time.sleep(0.05)
        fail("the server was not ready in time")

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        if self.process.wait() != 0:
            fail(f"the server did not stop cleanly:\n{self.newest_log()}")

    def remove(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        shutil.rmtree(self.root, ignore_errors=True)

    def log_text(self):
        with open(f"{self.root}/log") as file:
            return file.read()

    def newest_log(self):
        return self.log_text()[-4000:]

    def address(self):
        return ["-h", self.root, "-p", self.port, "-U", "postgres"]

    def sql(self, text):
        done = subprocess.run([f"{PROGRAMS}/psql", "-X", "-A", "-t", "-F", " ", "-v", "ON_ERROR_STOP=1", *self.address(), "-c",
                               text, "postgres"], capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"{text}: {done.stderr}")
        return [line.split(" ") for line in done.stdout.splitlines()]

    def psql(self, name, **streams):
        """A client that sends what the file holds, until the server has gone."""
        return subprocess.Popen([f"{PROGRAMS}/psql", "-X", "-A", "-t", "-q", *self.address(), "-f", name, "postgres"],
                                stderr=subprocess.DEVNULL, **streams)


def loop(description, defaults, prepare, run):
    """prepare(bed), then run(bed, number) again and again, on the data of the run before; it returns what there is to tell.

    `defaults`: the options, --runs among them, beside those that every loop has.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}", flush=True)
    bed = Bed(options)
    try:
        bed.start()
        prepare(bed)
        for number in range(1, options.runs + 1):
            print(f"run {number}: {run(bed, number)}", flush=True)
        bed.stop()
        print(f"{options.runs} passed, 0 failed")
    finally:
        bed.remove()
