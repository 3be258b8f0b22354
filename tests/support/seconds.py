"""Workers on one study whose budget is in seconds, killed at random moments and started again, until the study is done.

    python seconds.py URL STUDY WORKERS SECONDS_BETWEEN_KILLS

A process of its own, so that forking needs no care.
"""

import json
import os
import random
import signal
import sys
import time

import paretopick as pp
from paretopick.studies import crew, live

live.CHECKPOINT_EVERY = 10  # so that workers start from the checkpoints of others
crew.SHORT_LEASE = 0.6  # after a kill others wait no longer than this

TOOK = {"a": 0.01, "b": 0.03, "c": 0.08}


def measure(todo: pp.Measurement) -> list[float]:
    """Takes as long as its option does, more or less."""
    time.sleep(TOOK[todo.option] * random.uniform(0.5, 1.5))
    return [random.gauss(0, 1), random.gauss(ord(todo.option), 1)]


def start(url: str, name: str) -> int:
    child = os.fork()
    if child == 0:
        random.seed(os.urandom(8))
        pp.run_study(pp.Study.open(name, storage=url), measure, watch=lambda *_: None)
        os._exit(0)
    return child


def main(url: str, name: str, workers: str, between: str) -> None:
    """Kills and starts workers, and prints how many were killed, and how the last ones ended."""
    chance = random.Random(1)
    pids = [start(url, name) for _ in range(int(workers))]
    kills, codes, study = 0, [], None
    while pids:
        time.sleep(float(between) * chance.uniform(0.5, 1.5))
        for pid in list(pids):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                pids.remove(pid)
                codes.append(os.waitstatus_to_exitcode(status))
        study = study or pp.Study.open(name, storage=url)
        if pids and not study.done:
            victim = chance.choice(pids)
            os.kill(victim, signal.SIGKILL)
            _, status = os.waitpid(victim, 0)
            pids.remove(victim)
            if os.WIFSIGNALED(status):
                kills += 1
                pids.append(start(url, name))
            else:
                codes.append(os.waitstatus_to_exitcode(status))
    print(json.dumps({"kills": kills, "codes": codes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
