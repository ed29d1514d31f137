#!/usr/bin/env python3
"""A server that may have few files open: clients are told that there are too many of them, in time, and nothing else notices.

usage: descriptors_test.py PGSILO

More sockets come than there are descriptors: some that never say a word, some that want a session, coming and going, beside
sessions that insert, make checkpoints and fill the log. Nobody waits for long, the server goes on, and what was acknowledged is
there after SIGKILL.
"""
import argparse
import random
import resource
import threading
import time

from kill_bed import Bed, fail
from wire_client import Closed, ServerError, WireClient

LIMIT = 160
SECONDS = 6


class Crowd:
    """Sockets that come and go until they are told to stop."""

    def __init__(self, bed):
        self.bed, self.stopping, self.silent, self.refused, self.served = bed, False, [], 0, 0
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.keep_silent, self.knock, self.knock)]
        for thread in self.threads:
            thread.start()

    def keep_silent(self):
        chosen = random.Random(1)
        while not self.stopping:
            try:
                self.silent.append(WireClient(self.bed.root, self.bed.port, says_hello=False))
            except OSError:
                time.sleep(0.01)
            if len(self.silent) > 2 * LIMIT:
                self.silent.pop(chosen.randrange(len(self.silent))).close()
                time.sleep(0.001)

    def knock(self):
        while not self.stopping:
            try:
                WireClient(self.bed.root, self.bed.port).close()
                self.served += 1
            except ServerError as error:
                if error.code != "53300" or error.message != "sorry, too many clients already":
                    fail(f"a client too many was told {error}")
                self.refused += 1
            except Closed as error:
                fail(f"a client too many was told nothing: {error}")

    def leave(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        for client in self.silent:
            client.close()


def repeat(crowd, client, sql, count):
    """As long as the crowd is there."""
    def work():
        while not crowd.stopping:
            client.ask(sql(count[0]))
            count[0] += 1

    def watch():
        try:
            work()
        except (Closed, ServerError) as error:
            crowd.stopping = True
            crowd.problem = f"a session that was there met {error}"

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    options = parser.parse_args()
    options.flags = "-c listen_addresses= -c max_wal_size=256MB"
    bed = Bed(options)
    # So that this program has room for all the sockets.
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * LIMIT + 256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    bed.limits.append((resource.RLIMIT_NOFILE, (LIMIT, LIMIT)))
    try:
        bed.start()
        first = WireClient(bed.root, bed.port)
        sessions = int(first.ask("show max_connections")[0][0])
        if not 8 <= sessions < LIMIT - 32:
            fail(f"{sessions} sessions may come to a server that may have {LIMIT} files open")
        if "max_connections is" not in bed.newest_log():
            fail("nobody was told that max_connections is less than asked for")
        first.ask("create table t (a int primary key, b text)")
        others = [WireClient(bed.root, bed.port) for _ in range(2)]
        rows, checkpoints, bulks = [0], [0], [0]
        crowd = Crowd(bed)
        crowd.problem = None
        workers = [repeat(crowd, first, lambda n: f"insert into t values ({n}, 'x')", rows),
                   repeat(crowd, others[0], lambda n: "checkpoint", checkpoints),
                   repeat(crowd, others[1], lambda n: f"insert into t select -g, repeat('x', 4000) from "
                          f"generate_series({n * 2000 + 1}, {n * 2000 + 2000}) g", bulks)]
        time.sleep(SECONDS)
        crowd.leave()
        for worker in workers:
            worker.join()
        if bed.process.poll() is not None:
            fail(f"the server ended:\n{bed.newest_log()}")
        if crowd.problem:
            fail(crowd.problem)
        if not crowd.refused or not checkpoints[0] or not rows[0] or not bulks[0]:
            fail(f"refused {crowd.refused}, checkpoints {checkpoints[0]}, rows {rows[0]}, bulks {bulks[0]}")
        WireClient(bed.root, bed.port).close()
        bed.kill()
        bed.start()
        found = [int(value) for value in WireClient(bed.root, bed.port).ask(
            "select count(*) filter (where a >= 0), count(*) filter (where a < 0) from t")[0]]
        if found != [rows[0], 2000 * bulks[0]]:
            fail(f"{found} rows of {rows[0]} and {2000 * bulks[0]}")
        bed.stop()
        print(f"{crowd.refused} refused, {crowd.served} served of a crowd, {checkpoints[0]} checkpoints, {rows[0]} rows, "
              f"{bulks[0]} bulks, {sessions} sessions")
    finally:
        bed.remove()


if __name__ == "__main__":
    main()
