"""A machine whose calls to files go wrong as somebody says, and whose power may go: what the fault library is told, and what becomes
of the files when a watched process has ended. The layout of the schedule is that of schedule.h.
"""
import dataclasses
import errno
import mmap
import os
import shutil
import struct
import subprocess

KINDS = ["open", "read", "write", "sync", "sync_directory", "allocate", "truncate", "rename", "unlink", "make_directory",
         "remove_directory", "link", "list", "lock", "close"]
# Those by which a disk comes to hold something else.
CHANGES = ["write", "sync", "sync_directory", "allocate", "truncate", "rename", "unlink", "make_directory", "remove_directory", "link"]
ACTIONS = ["none", "fail", "shorten", "delay", "stall", "die", "die_after", "die_during", "lie"]

MAGIC = 0x454c554445484353
HEAD_BYTES = 128
RULE_BYTES = 256
RULES = 16
JOURNAL_BYTES = 4 << 30


@dataclasses.dataclass
class Rule:
    """From the `first` matching call on, `count` of them (0: all) do `action`; `amount` as in schedule.h."""
    kinds: list
    action: str
    first: int = 1
    count: int = 1
    error: str = ""
    amount: int = 0
    pattern: str = "*"

    def packed(self):
        bits = sum(1 << KINDS.index(kind) for kind in self.kinds)
        return struct.pack("<IIIiQQQQQQ192s", 0, bits, ACTIONS.index(self.action), getattr(errno, self.error) if self.error else 0,
                           self.first, self.count, self.amount, 0, 0, 0, self.pattern.encode())


class Schedule:
    """The rules of the process, which may run meanwhile."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.truncate(HEAD_BYTES + RULES * RULE_BYTES)
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.memory[:8] = struct.pack("<Q", MAGIC)

    def calls(self):
        """So far, by kind; the others begin again with clear()."""
        return dict(zip(KINDS, struct.unpack_from(f"<{len(KINDS)}Q", self.memory, 8)))

    def clear(self):
        for place in range(RULES):
            self.disarm(place)
        self.memory[8:HEAD_BYTES] = bytes(HEAD_BYTES - 8)

    def arm(self, rule, place=0):
        start = HEAD_BYTES + place * RULE_BYTES
        self.disarm(place)
        self.memory[start:start + RULE_BYTES] = rule.packed()
        struct.pack_into("<I", self.memory, start, 1)

    def disarm(self, place=0):
        struct.pack_into("<I", self.memory, HEAD_BYTES + place * RULE_BYTES, 0)

    def _word(self, place, offset):
        return struct.unpack_from("<Q", self.memory, HEAD_BYTES + place * RULE_BYTES + offset)[0]

    def fired(self, place=0):
        return self._word(place, 48)

    def waiting(self, place=0):
        """How many calls stall now."""
        return self._word(place, 56)


class Machine:
    """`disk` is watched; the rest of `root` is the watcher's own."""

    def __init__(self, root, library, power_cut):
        self.root, self.fault_library, self.power_cut = root, os.path.abspath(library), os.path.abspath(power_cut)
        self.disk, self.keep, self.journal = f"{root}/disk", f"{root}/keep", f"{root}/journal"
        for directory in self.disk, self.keep:
            os.makedirs(directory)
        with open(self.journal, "wb") as file:
            file.truncate(JOURNAL_BYTES)
        self.schedule = Schedule(f"{root}/schedule")

    def environment(self, noted=True):
        """Of a process that is watched; `noted`: for a power cut, which costs reading before each write."""
        watched = dict(os.environ, LD_PRELOAD=self.fault_library, PGSILO_FAULT_ROOT=self.disk, PGSILO_FAULT_SCHEDULE=f"{self.root}/schedule")
        # A sanitizer's runtime would be the first library else.
        watched["ASAN_OPTIONS"] = watched.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        if noted:
            watched.update(PGSILO_FAULT_JOURNAL=self.journal, PGSILO_FAULT_KEEP=self.keep)
        return watched

    def _after(self, *words):
        done = subprocess.run([self.power_cut, self.journal, self.keep, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"power_cut {words}: {done.stderr}")
        return done.stdout.rstrip("\n")

    def cut(self, seed):
        """The power goes, behind the end of all watched processes."""
        return self._after("cut", str(seed))

    def settle(self, seed):
        """The machine stays up and writes everything back."""
        return self._after("settle", str(seed))

    def notes(self):
        return self._after("show").splitlines()

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)
