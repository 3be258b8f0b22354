"""Finds the ways to ask worth keeping: python prompts.py NAME, or python prompts.py NAME repeat for a study with pairing."""

import sys

from answers import OPTIONS, answer

import paretopick as pp

METRICS = {"score": "max~0.05", "cents": "min~20%", "seconds": "min~20%"}


def measure(option, repeat):
    """The n-th measurement of every option is question n."""
    return answer(option, question=repeat)


if __name__ == "__main__":
    name, pairing = sys.argv[1], sys.argv[2] if sys.argv[2:] else None
    result = pp.identify(
        measure,
        options=OPTIONS,
        metrics=METRICS,
        budget=4000,
        confidence=0.95,
        pairing=pairing,
        storage="paretopick.db",
        name=name,
    )
    print(result)
