"""Twelve ways to ask a language model, and 500 questions: what each answer scores, costs and takes. Simulated, without any model.

python answers.py OPTION QUESTION
"""

import math
import random
import sys

QUESTIONS = 500

MODELS = {  # skill, dollars for a million tokens, tokens in a second
    "small": (-0.8, 0.4, 160),
    "old": (-1.0, 2.5, 60),
    "medium": (1.2, 2.5, 90),
    "large": (2.8, 10.0, 45),
}
PROMPTS = {  # what it adds to the skill, tokens that it adds to the question, how many times as long it makes answers
    "plain": (0.0, 20, 1.0),
    "rules": (-1.5, 900, 1.6),
    "steps": (1.7, 60, 3.5),
}
OPTIONS = [f"{model}-{prompt}" for model in MODELS for prompt in PROMPTS]


def answer(option, question):
    """What an answer scores, costs and takes. The same question, asked again in the same way, gets the same answer."""
    if not 0 <= question < QUESTIONS:
        raise IndexError(f"there is no question {question}; the last one is {QUESTIONS - 1}")
    model, prompt = option.split("-")
    skill, price, speed = MODELS[model]
    better, instructions, longer = PROMPTS[prompt]

    shared = random.Random(f"question {question}")  # whoever is asked: a question is hard or easy, short or long
    difficulty, length = shared.gauss(0, 3.5), math.exp(shared.gauss(4.5, 0.7))

    own = random.Random(f"{option}, question {question}")  # luck, by temperature; and how busy the server was
    chance = 1 / (1 + math.exp(difficulty - skill - better))
    written = longer * (30 + 0.5 * length) * math.exp(own.gauss(0, 0.2))
    return {
        "score": int(own.random() < chance),
        "cents": 100 * price / 1e6 * (instructions + length + 4 * written),  # tokens that are written cost four times as much
        "seconds": (0.3 + written / speed) * math.exp(own.gauss(0, 0.15)),
    }


if __name__ == "__main__":
    for name, value in answer(sys.argv[1], int(sys.argv[2])).items():
        print(f"{name}={value:.6g}")
