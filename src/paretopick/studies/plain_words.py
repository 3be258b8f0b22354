"""Commands that no shell reads: ``{option}`` and the settings are replaced in their words, ``{option...}`` by several words."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from paretopick.errors import InvalidInput, MeasuringFailed
from paretopick.studies.shell_syntax import PLACEHOLDER, SHELLS

SEVERAL = "..."
"""With which a placeholder ends that stands for several words."""

HARMLESS = re.compile(r"[\w@%+=:,./ -]*", re.ASCII)
"""What no shell takes for code."""

FOR_A_SHELL = re.compile(r"[;&|<>$`]|\*")
"""What would mean something to a shell."""


IN_A_TEXT = re.compile(r"""\\.|'[^']*'|"((?:\\.|[^"\\])*)"|(\$\(|`|>>|\|\||&&|[<>|&;])""", re.DOTALL)
"""A character behind a backslash, a part between quotes, or what a shell would take for code."""

SUBSTITUTION = re.compile(r"(?<!\\)(\$\(|`)")

OPERATOR = re.compile(r"\d*(>>?|<)(&\d|/dev/null)?|\|\|?|&&?|;")
"""A word that means something to a shell alone."""

TAKE_OPERATORS = ("expr", "test", "[", "find")
"""Programs for which such words mean something, too."""

TAKES_CODE = re.compile(r"-\w*[ceE]")
"""Options of programs behind which code follows, which may be in any language."""


class Filled(NamedTuple):
    """A command for one option."""

    words: list[str]
    """The program and its arguments."""
    variables: dict[str, str]
    """Of the environment, which it needs."""
    shown: str
    """The same for people."""


class PlainWords:
    """A command as words, in which values stand as they are.

    ``{option...}`` is a word of its own and becomes as many as the value has, which are split as a shell would; a shell is never
    asked. A program that is ``{option}`` alone is split, too, if its value has blanks and there is no such program.

    Args:
        words: the program and its arguments; ``{{`` and ``}}`` are braces.
        names: of the variables, by placeholder, as ``variables`` gives them.
        folder: in which it runs.

    >>> command = PlainWords(["{option...}", "-c", "x{level}"], {"option": "OPTION", "level": "LEVEL"})
    >>> command.filled({"option": "gzip -9", "level": "7"}).words
    ['gzip', '-9', '-c', 'x7']
    """

    used: Mapping[str, str] = {}

    def __init__(self, words: Sequence[str], names: Mapping[str, str], folder: Path = Path()) -> None:
        self._words, self._names, self._folder = list(words), names, folder
        for word in self._words:
            for found in PLACEHOLDER.finditer(word):
                name, several = name_in(found, names)
                if several and found[0] != word:
                    raise InvalidInput(
                        f"the command has {found[0]} inside of {word!r}, and it stands for several words; write it as a word of "
                        f"its own, or {{{name}}} for one word."
                    )

    def filled(self, values: Mapping[str, str]) -> Filled:
        """Returns the command with the values of an option in it."""
        parts = [(place, word) for place, given in enumerate(self._words) for word in self._replaced(place, given, values)]
        words = [word for _, word in parts]
        if not words or not words[0]:
            raise MeasuringFailed(f"{self._words[0]} is empty, so there is no program that could be run")
        self._check_codes(words, [place for place, _ in parts], values)
        return Filled(words, {}, f"$ {shlex.join(words)}")

    def check_program(self) -> None:
        """Refuses a program that is not there, if it is the same for all options."""
        program = self._words[0]
        if len(self._words) == 1 and len(program.split()) > 1:
            raise InvalidInput(f"{program!r} is one word; write the command without quotes around it, or have a shell read it.")
        if PLACEHOLDER.search(program) or self._is_program(program):
            return
        shell = any(FOR_A_SHELL.search(word) for word in self._words)
        remedy = "what only a shell understands needs --shell, or shell = true" if shell else "check its path"
        raise InvalidInput(f"there is no program {program!r} that could be run; {remedy}, and chmod +x it if it is yours.")

    def _is_program(self, name: str) -> bool:
        return shutil.which(os.path.abspath(self._folder / name) if os.sep in name else name) is not None

    def _replaced(self, place: int, word: str, values: Mapping[str, str]) -> list[str]:
        """The words that stand for one."""
        alone = PLACEHOLDER.fullmatch(word)
        name, several = name_in(alone, self._names) if alone else (None, False)
        if name is not None and place == 0 and not several:
            several = len(values[name].split()) > 1 and not self._is_program(values[name])
        if name is not None and several:
            return split_words(name, values[name])

        def fill(found: re.Match[str]) -> str:
            if found[0] in ("{{", "}}"):
                return found[0][0]
            return values.get(found[1], found[0])  # braces that are not ours stay

        return [PLACEHOLDER.sub(fill, word)]

    def _check_codes(self, words: list[str], places: list[int], values: Mapping[str, str]) -> None:
        """Refuses values that a shell which the command calls would take for code: those in ``["sh", "-c", "echo {option}"]``.

        Where several words stand for a value, shells are looked for in what comes out, too. A value that is all of the code, or
        that has brought the shell along, is code on purpose.
        """
        meant = [(shell, code) for shell, code in codes(self._words)]
        found = [(places[shell], places[code]) for shell, code in codes(words)]
        names = [_basename(words[places.index(shell)]) for shell, _ in meant] + [_basename(words[at]) for at, _ in codes(words)]
        for program, (shell, code) in zip(names, meant + found, strict=True):
            for placeholder in PLACEHOLDER.finditer(self._words[code]):
                name, several = name_in(placeholder, self._names)
                alone = placeholder[0] == self._words[code]
                if name is None or (alone and (not several or shell == code or (shell, code) in meant)):
                    continue
                if alone or not HARMLESS.fullmatch(values[name]):
                    variable = self._names[name]
                    raise MeasuringFailed(
                        f'{placeholder[0]} is {values[name]!r}, of which {program} would run a part; write "${variable}" there'
                    )


def name_in(found: re.Match[str], names: Mapping[str, str]) -> tuple[str | None, bool]:
    """Returns which value a placeholder stands for, None for braces that are not ours, and whether for several words."""
    name = found[1]
    if name is None or name in names:
        return name, False
    plain = name.removesuffix(SEVERAL)
    return (plain, True) if plain != name and plain in names else (None, False)


def check_names(words: Sequence[str], names: Mapping[str, str]) -> None:
    """Refuses placeholders that stand for nothing and look as though they should."""
    for word in words:
        for found in PLACEHOLDER.finditer(word):
            given = (found[1] or "").removesuffix(SEVERAL)
            if given.isidentifier() and given not in names:
                known = ", ".join(f"{{{name}}}" for name in sorted(names))
                raise InvalidInput(
                    f"the command has {found[0]}, and options have {known}; write {{{found[0]}}} for plain braces."
                )


def code_in(text: str) -> str:
    """Returns what a shell would take for code in a command that is one text and that no shell reads; empty if there is nothing.

    What is between quotes is meant as it is; only where nothing in the command calls a shell, ``"$(...)"`` is not.

    >>> code_in("echo 3 > x"), code_in("echo '>' x"), code_in('echo "$(date)"'), code_in('sh -c "echo $(date) > x"')
    ('>', '', '$(', '')
    """
    calls_a_shell = any(_basename(word) in SHELLS for word in text.split())
    for found in IN_A_TEXT.finditer(text):
        inside = None if found[1] is None or calls_a_shell else SUBSTITUTION.search(found[1])
        if found[2] or inside:
            return found[2] or (inside[1] if inside else "")
    return ""


def word_for_a_shell(words: Sequence[str]) -> str:
    """Returns the first of the words of a command that is likely to be meant for a shell, though none reads it; or nothing.

    >>> word_for_a_shell(["./bench", "{option}", "|", "tee", "log"]), word_for_a_shell(["sh", "-c", "./bench $(nproc) | tee log"])
    ('|', '')
    """
    known = _basename(words[0]) in TAKE_OPERATORS or any(word.startswith(("-exec", "-ok")) for word in words)
    for before, word in zip(["-c", *words], words, strict=False):
        if (OPERATOR.fullmatch(word) and not known) or (SUBSTITUTION.search(word) and not TAKES_CODE.fullmatch(before)):
            return word
    return ""


def split_words(name: str, value: str) -> list[str]:
    """Returns the words of a value, split as a shell would, and no more than that."""
    try:
        return shlex.split(value)
    except ValueError as problem:
        raise MeasuringFailed(
            f"{{{name}}} is {value!r}, which cannot be split into words ({problem}); write a quote that is meant as \\' or \\\""
        ) from None


def codes(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yields where a command calls a shell, and where the code for it is: the first word behind -c that is no option."""
    shell, code_follows, skipped = -1, False, 0
    for place, word in enumerate(words):
        if skipped:
            skipped -= 1
        elif shell >= 0 and re.match(r"[-+]", word):
            short = not word.startswith("--")
            code_follows |= short and word[0] == "-" and "c" in word
            skipped = word.lower().count("o") if short else 0  # each takes the name of an option
        elif shell >= 0:
            if code_follows:
                yield shell, place
            shell, code_follows = -1, False
        if shell < 0:
            shell = place if _basename(word) in SHELLS else -1


def _basename(word: str) -> str:
    return word.rpartition("/")[2]
