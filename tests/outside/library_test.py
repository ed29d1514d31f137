#!/usr/bin/env python3
"""The fault library and the power cut by themselves: small programs whose files may be left in known ways, and in all of those.

usage: library_test.py --library FAULT_LIBRARY --power-cut POWER_CUT [NAME...]
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
import time

from machine import Machine, Rule

PRELUDE = """
import os, sys, errno, threading
def create(name, flags=0): return os.open(os.path.abspath(name), os.O_CREAT | os.O_RDWR | flags, 0o600)
def sync_directory(name="."):
    directory = os.open(os.path.abspath(name), os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(directory)
    os.close(directory)
def path(name): return os.path.abspath(name)
def refused(call, *words):
    try:
        call(*words)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
"""


# A program is run in some directories, one after the other.
EVERYWHERE = """
for directory in sys.argv[2:]:
    os.chdir(directory)
    exec(program, dict(globals(), life=int(sys.argv[1])))
"""


def command(program, life, directories):
    return [sys.executable, "-c", f"{PRELUDE}program = {program!r}\n{EVERYWHERE}", str(life), *directories]


class Laboratory:
    """Each trial begins with the same files."""

    def __init__(self, options):
        self.options = options

    def trials(self, program, before="", rules=(), seed=None, settle=False, lives=1, places=1):
        """What the disk holds behind it, by name, in each of the directories; `seed` None: no power cut. Also what was printed."""
        root = tempfile.mkdtemp(prefix="pgsilo-library.")
        machine = Machine(f"{root}/server_and_disk", self.options.fault_library, self.options.power_cut)
        directories = [f"{machine.disk}/{number}" for number in range(places)]
        try:
            for directory in directories:
                os.mkdir(directory)
            subprocess.run(command(before, 0, directories), check=True)
            said = ""
            for life in range(lives):
                for place, rule in enumerate(rules):
                    machine.schedule.arm(rule, place)
                done = subprocess.run(command(program, life, directories), env=machine.environment(), capture_output=True, text=True)
                said += done.stdout
                check(not done.stderr, done.stderr)
            if seed is not None:
                machine.settle(seed) if settle else machine.cut(seed)
            return [contents(directory) for directory in directories], said
        finally:
            shutil.rmtree(root)

    def trial(self, program, **words):
        found, said = self.trials(program, **words)
        return found[0], said

    def outcomes(self, program, cuts=2, places=60, **words):
        return collections.Counter(str(one) for seed in range(cuts) for one in self.trials(program, seed=seed, places=places, **words)[0])


def contents(directory):
    found = {}
    for name in sorted(os.listdir(directory)):
        whole = os.path.join(directory, name)
        if os.path.isdir(whole):
            found[name] = contents(whole)
            continue
        with open(whole, "rb") as file:
            bytes_ = file.read()
        # Sector by sector, as letters.
        found[name] = "".join(chr(bytes_[at]) if bytes_[at] else "." for at in range(0, len(bytes_), 512))
    return found


def check(fact, *seen):
    if not fact:
        raise AssertionError(" ".join(str(part) for part in seen))


def expect(outcomes, *expected):
    """These, all of them, and no others."""
    check(set(outcomes) == {str(one) for one in expected}, dict(outcomes), "expected", expected)


TWO_SECTORS = "f = create('a'); os.pwrite(f, b'o' * 1024, 0); os.fsync(f); sync_directory(); os.close(f)\n"


def test_unsynced_sectors_go_one_by_one(lab):
    program = "f = create('a'); os.pwrite(f, b'n' * 1024, 0)"
    expect(lab.outcomes(program, before=TWO_SECTORS), {"a": "oo"}, {"a": "on"}, {"a": "no"}, {"a": "nn"})


def test_synced_writes_stay(lab):
    for sync in "os.fsync(f)", "os.fdatasync(f)":
        program = f"f = create('a'); os.pwrite(f, b'n' * 1024, 0); {sync}; os.pwrite(f, b'm' * 512, 0)"
        expect(lab.outcomes(program, before=TWO_SECTORS), {"a": "nn"}, {"a": "mn"})


def test_a_sync_does_nothing_for_writes_behind_it(lab):
    program = "f = create('a'); os.fsync(f); os.pwrite(f, b'n' * 512, 512)"
    expect(lab.outcomes(program, before=TWO_SECTORS), {"a": "oo"}, {"a": "on"})


def test_synchronous_writes_stay(lab):
    program = "f = create('a', os.O_DSYNC); os.pwrite(f, b'n' * 1024, 0)"
    expect(lab.outcomes(program, before=TWO_SECTORS), {"a": "nn"})


def test_a_sector_may_have_any_of_its_contents(lab):
    program = "f = create('a'); [os.pwrite(f, letter * 512, 0) for letter in (b'x', b'y', b'z')]"
    expect(lab.outcomes(program, before=TWO_SECTORS), *({"a": f"{letter}o"} for letter in "oxyz"))


def test_a_failed_sync_leaves_to_chance_what_no_later_one_writes(lab):
    program = "f = create('a'); os.pwrite(f, b'n' * 512, 0); refused(os.fsync, f); os.fsync(f)"
    rules = [Rule(["sync"], "fail", error="EIO", pattern=f"*/{place}/a") for place in range(10)]
    for settle in False, True:
        expect(lab.outcomes(program, before=TWO_SECTORS, rules=rules, settle=settle, places=10), {"a": "oo"}, {"a": "no"})


def test_a_machine_that_goes_on_writes_everything_back(lab):
    program = "f = create('b'); os.pwrite(f, b'n' * 512, 0); os.unlink(path('a'))"
    expect(lab.outcomes(program, before=TWO_SECTORS, settle=True), {"b": "n"})


def test_a_file_grows_and_shrinks(lab):
    program = "f = create('a'); os.pwrite(f, b'n' * 512, 1024)"
    expect(lab.outcomes(program, before=TWO_SECTORS), {"a": "oo"}, {"a": "oo."}, {"a": "oon"})
    expect(lab.outcomes("f = create('a'); os.posix_fallocate(f, 0, 2048)", before=TWO_SECTORS), {"a": "oo"}, {"a": "oo.."})
    expect(lab.outcomes("f = create('a'); os.ftruncate(f, 512)", before=TWO_SECTORS), {"a": "oo"}, {"a": "o"})
    expect(lab.outcomes("f = create('a', os.O_TRUNC)", before=TWO_SECTORS), {"a": "oo"}, {"a": ""})


def test_names_go_from_one_on(lab):
    program = "[os.close(create(name)) for name in 'bcd']"
    everything = {"a": "oo", "b": "", "c": "", "d": ""}
    expect(lab.outcomes(program, before=TWO_SECTORS), *({name: everything[name] for name in "abcd"[:count]} for count in (1, 2, 3, 4)))


def test_a_files_sync_does_nothing_for_its_name(lab):
    program = "f = create('b'); os.pwrite(f, b'n' * 512, 0); os.fsync(f)"
    expect(lab.outcomes(program), {}, {"b": "n"})
    expect(lab.outcomes(program + "; sync_directory()"), {"b": "n"})


def test_a_rename_replaces_or_not(lab):
    program = "f = create('b'); os.pwrite(f, b'n' * 512, 0); os.fsync(f); os.rename(path('b'), path('a'))"
    expect(lab.outcomes(program, before=TWO_SECTORS), {"a": "oo"}, {"a": "oo", "b": "n"}, {"a": "n"})
    expect(lab.outcomes(program + "; sync_directory()", before=TWO_SECTORS), {"a": "n"})


def test_removed_files_come_back_with_what_they_held(lab):
    expect(lab.outcomes("os.unlink(path('a'))", before=TWO_SECTORS), {"a": "oo"}, {})
    program = "f = create('a'); os.unlink(path('a')); print(os.fstat(f).st_nlink); os.ftruncate(f, 0); os.close(f)"
    expect(lab.outcomes(program, before=TWO_SECTORS), {"a": "oo"}, {"a": ""}, {})
    check(lab.trial(program, before=TWO_SECTORS)[1] == "0\n", "a link of the watcher's own is seen")


def test_directories_go_with_all_in_them(lab):
    program = "os.mkdir(path('d')); f = create('d/b'); os.fsync(f); sync_directory('d')"
    expect(lab.outcomes(program), {}, {"d": {"b": ""}})


def test_what_was_not_synced_outlives_its_process(lab):
    program = "f = create('a'); os.pwrite(f, bytes([ord('p') + life]) * 512, 0)"
    expect(lab.outcomes(program, before=TWO_SECTORS, lives=2), {"a": "oo"}, {"a": "po"}, {"a": "qo"})


def test_what_was_under_way_is_covered_by_syncs_of_the_next_process(lab):
    program = "f = create('a', os.O_DSYNC); os.fsync(f) if life else os.pwrite(f, b'n' * 1024, 0)"
    expect(lab.outcomes(program, before=TWO_SECTORS, lives=2, places=1, cuts=5, rules=[Rule(["write"], "die_during", amount=1000)]),
           {"a": "nn"})


def test_it_ends_before_during_and_behind_a_call(lab):
    program = "f = create('a', os.O_DSYNC); os.pwrite(f, b'n' * 1024, 0); print('told')"
    for action, amount, expected in [("die", 0, "oo"), ("die_after", 0, "nn"), ("die_during", 500, "no")]:
        found, said = lab.trial(program, before=TWO_SECTORS, rules=[Rule(["write"], action, amount=amount)])
        check(found == {"a": expected} and said == "", action, found, said)
    rules = [Rule(["write"], "die_during", amount=1000)]
    expect(lab.outcomes(program, before=TWO_SECTORS, rules=rules, cuts=20, places=1),
           *({"a": both} for both in ("oo", "on", "no", "nn")))


def test_a_write_past_the_page_cache_ends_in_its_midst(lab):
    program = """
import mmap
f = create('a', os.O_DIRECT | os.O_DSYNC)
page = mmap.mmap(-1, 8192)
page.write(b'n' * 8192)
os.pwrite(f, page, 0)
"""
    found, said = lab.trial(program, before="f = create('a'); os.pwrite(f, b'o' * 8192, 0); os.fsync(f)",
                            rules=[Rule(["write"], "die_during", amount=700)])
    check(found == {"a": "n" * 8 + "o" * 8}, found, said)


def test_a_lie_is_one(lab):
    program = "f = create('a', os.O_DSYNC); os.pwrite(f, b'n' * 512, 0); os.fsync(f); sync_directory()"
    rules = [Rule(["write", "sync", "sync_directory"], "lie", count=0)]
    expect(lab.outcomes(program, before=TWO_SECTORS, rules=rules), {"a": "oo"}, {"a": "no"})


def test_each_call_fails_as_it_is_told(lab):
    calls = {"open": "refused(create, 'a')", "write": "refused(os.pwrite, f, b'n', 0)", "read": "refused(os.pread, f, 1, 0)",
             "sync": "refused(os.fdatasync, f)", "sync_directory": "refused(sync_directory)", "truncate": "refused(os.ftruncate, f, 0)",
             "allocate": "refused(os.posix_fallocate, f, 0, 2048)", "rename": "refused(os.rename, path('a'), path('b'))",
             "unlink": "refused(os.unlink, path('a'))", "link": "refused(os.link, path('a'), path('b'))",
             "make_directory": "refused(os.mkdir, path('d'))", "remove_directory": "refused(os.rmdir, path('d'))",
             "list": "refused(os.listdir, path('.'))", "lock": "refused(__import__('fcntl').flock, f, 2)", "close": "refused(os.close, f)"}
    for kind, call in calls.items():
        first = 2 if kind == "open" else 1
        found, said = lab.trial(f"f = create('a'); print({call})", before=TWO_SECTORS,
                                rules=[Rule([kind], "fail", error="EDQUOT", first=first)])
        check(said == "EDQUOT\n" and found == {"a": "oo"}, kind, found, said)


def test_only_these_calls_and_only_so_many(lab):
    program = "f = create('a'); g = create('b'); print([refused(os.pwrite, h, b'n', 0) for h in (f, g, g, g, g)])"
    rules = [Rule(["write"], "fail", error="ENOSPC", first=2, count=2, pattern="*/b")]
    said = lab.trial(program, rules=rules)[1]
    check(said == "['done', 'done', 'ENOSPC', 'ENOSPC', 'done']\n", said)


def test_short_ones(lab):
    program = "f = create('a'); print(os.pwrite(f, b'n' * 1024, 0), len(os.pread(f, 2048, 0)))"
    rules = [Rule(["write"], "shorten", amount=512), Rule(["read"], "shorten", amount=100)]
    found, said = lab.trial(program, before=TWO_SECTORS, rules=rules)
    check(said == "512 100\n" and found == {"a": "no"}, found, said)


def test_a_failed_write_may_have_done_a_part(lab):
    program = "f = create('a'); print(refused(os.pwrite, f, b'n' * 1024, 0))"
    found, said = lab.trial(program, before=TWO_SECTORS, rules=[Rule(["write"], "fail", error="EIO", amount=512)])
    check(said == "EIO\n" and found == {"a": "no"}, found, said)


def test_it_stalls_until_it_is_let_go(lab):
    root = tempfile.mkdtemp(prefix="pgsilo-library.")
    machine = Machine(f"{root}/server_and_disk", lab.options.fault_library, lab.options.power_cut)
    machine.schedule.arm(Rule(["sync"], "stall"))
    program = "f = create('a'); os.fsync(f); os.close(create('b'))"
    process = subprocess.Popen(command(program, 0, [machine.disk]), env=machine.environment())
    while machine.schedule.waiting() == 0:
        check(process.poll() is None, "it did not stall")
        time.sleep(0.01)
    check(contents(machine.disk) == {"a": ""}, "it went on")
    machine.schedule.disarm()
    check(process.wait() == 0 and contents(machine.disk) == {"a": "", "b": ""}, "it did not go on")
    shutil.rmtree(root)


def test_threads_beside_each_other(lab):
    program = """
def work(number):
    for turn in range(40):
        f = create(f'{number}.new')
        os.pwrite(f, bytes([ord('A') + turn % 26]) * 1024, 0)
        os.fsync(f)
        os.close(f)
        os.rename(path(f'{number}.new'), path(f'{number}'))
        sync_directory()
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
    expect(lab.outcomes(program, places=1), {str(number): 2 * "N" for number in range(8)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", dest="fault_library", required=True)
    parser.add_argument("--power-cut", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    failures = 0
    for name in options.names or tests:
        try:
            tests[name](Laboratory(options))
        except AssertionError as error:
            failures += 1
            print(f"FAILED {name}: {error}", flush=True)
    print(f"{len(options.names or tests) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
