"""Compresses a text with one of Python's own compressors, and writes the result to standard output.

python compress.py CODEC LEVEL
"""

import importlib
import os
import sys

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus.txt")
SIZE = 2_000_000
"""Bytes: enough to tell compressors apart, and few enough for the slowest to take half a second."""


def corpus() -> bytes:
    """Real text that every machine with Python has, the source of its modules; put together when it is first needed."""
    if not os.path.exists(CORPUS):
        folder = os.path.dirname(os.__file__)
        beside = f"{CORPUS}.{os.getpid()}"
        with open(beside, "wb") as file:
            for name in sorted(os.listdir(folder)):
                if name.endswith(".py") and file.tell() < SIZE:
                    with open(os.path.join(folder, name), "rb") as module:
                        file.write(module.read(SIZE - file.tell()))
        os.replace(beside, CORPUS)
    with open(CORPUS, "rb") as file:
        return file.read()


codec, level = sys.argv[1], int(sys.argv[2])
compress = importlib.import_module(codec).compress
text = corpus()
sys.stdout.buffer.write(compress(text, preset=level) if codec == "lzma" else compress(text, level))
