"""Eight workers on one study, killed at random moments and started again, until the study is done.

    python kills.py URL STUDY FOLDER SEED SECONDS_BETWEEN_KILLS

A process of its own, so that forking needs no care. Whatever a worker was promised to be kept it writes into FOLDER.
"""

import json
import os
import random
import signal
import sys
import time

import numpy as np

import paretopick as pp
from paretopick.studies import live

WORKERS = 8
live.CHECKPOINT_EVERY = 20  # so that workers start from the checkpoints of others
LEASE = 0.5


def measure(todo: pp.Measurement) -> list[float]:
    """Of every option another mean; a measurement that is made twice comes out differently, as in life."""
    arm = int(todo.option)
    time.sleep(0.03)  # or a quick database is done before many were killed
    return [arm % 5 + random.gauss(0, 1), (arm * 7) % 11 + random.gauss(0, 1)]


def work(url: str, name: str, folder: str, worker: str) -> None:
    random.seed(os.urandom(8))
    study = pp.Study.open(name, storage=url)
    with open(os.path.join(folder, worker), "a") as promises:
        while not study.done:
            todos = study.ask(random.randint(1, 3), worker=worker, lease=LEASE)
            random.shuffle(todos)
            for todo in todos:
                values = measure(todo)
                try:
                    study.tell(todo.number, values)
                except pp.AlreadyTold:
                    continue  # the lease ran out, and somebody else was quicker
                promises.write(json.dumps([todo.number, todo.option, values]) + "\n")
                promises.flush()
            if not todos:
                time.sleep(0.02)


def start(url: str, name: str, folder: str, worker: str) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(url, name, folder, worker)
            code = 0
        finally:
            sys.stderr.flush()
            os._exit(code)
    return child


def main(url: str, name: str, folder: str, seed: str, pause: str) -> None:
    rng = np.random.default_rng(int(seed))
    running = {f"w{i}": start(url, name, folder, f"w{i}") for i in range(WORKERS)}
    kills = 0
    study = pp.Study.open(name, storage=url)
    deadline = time.monotonic() + 120
    while not study.done:
        assert time.monotonic() < deadline, study.status()
        time.sleep(float(pause) * rng.exponential())
        worker = f"w{rng.integers(WORKERS)}"
        os.kill(running[worker], signal.SIGKILL)
        _, status = os.waitpid(running[worker], 0)
        kills += os.WIFSIGNALED(status)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, f"{worker} failed"
        running[worker] = start(url, name, folder, worker)
    codes = [os.WEXITSTATUS(os.waitpid(child, 0)[1]) for child in running.values()]
    print(json.dumps({"kills": kills, "codes": codes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
