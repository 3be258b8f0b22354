"""Compresses a file once with one setting, and prints how long it took and how large the result is.

python measure.py CODEC LEVEL
"""

import bz2
import lzma
import os
import sys
import time
import zlib

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sample.txt")

COMPRESS = {
    "zlib": zlib.compress,
    "bz2": bz2.compress,
    "lzma": lambda data, level: lzma.compress(data, preset=level),
}


def sample() -> bytes:
    """A text that is the same on every machine, made when it is first needed."""
    if not os.path.exists(SAMPLE):
        import random

        rng = random.Random(0)
        letters = "etaoinshrdlucmfwypvbgkqjxz"
        words = ["".join(rng.choices(letters, range(26, 0, -1), k=rng.randint(2, 9))) for _ in range(4000)]
        frequencies = [1 / rank for rank in range(1, 4001)]
        lines = (" ".join(rng.choices(words, frequencies, k=12)) for _ in range(12000))
        beside = f"{SAMPLE}.{os.getpid()}"
        with open(beside, "w") as file:
            file.write("\n".join(lines))
        os.replace(beside, SAMPLE)
    with open(SAMPLE, "rb") as file:
        return file.read()


codec, level = sys.argv[1], int(sys.argv[2])
data = sample()
start = time.perf_counter()
size = len(COMPRESS[codec](data, level))
print(f"seconds={time.perf_counter() - start}")
print(f"bytes={size}")
