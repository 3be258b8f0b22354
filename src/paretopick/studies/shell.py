"""Commands that a shell reads: their code says ``{option}``, and values reach it as variables of the environment only.

No value ever becomes part of the code. Where a placeholder stands as a word of a command, it is replaced by a constant text, such
as ``"${PARETOPICK_OPTION}"``, which the shell takes for one word whatever the value is. Where that text would mean something else
(between quotes, in a here-document, in arithmetic, behind ``eval``), the command is refused before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from paretopick.errors import InvalidInput, MeasuringFailed
from paretopick.studies.shell_syntax import PLACEHOLDER, ShellReader

SHELL = "/bin/sh"

OPTION = "PARETOPICK_OPTION"
SETTING = "PARETOPICK_SETTING_"

READS_AGAIN = re.compile(r"(?<![^\s;&|(){}`!\\])(eval|let|\[\[)(?!\S)")
"""Words by which a shell takes the value of a variable for code, or for arithmetic, which may contain code."""

NO_CODE = ("between quotes", "in a comment", "in a here-document")
"""Where such a word is nothing but text."""

COUNTS = re.compile(
    r"\(\(|\[|\$\{[^}]*:|(?<!\w)(test|printf\s+-v|declare|typeset|local|integer|read|unset|mapfile|readarray|getopts|wait)(?!\w)"
)
"""By what bash, ksh or zsh calculate, or look for a variable whose name is a value."""

SUBSCRIPT = re.compile(r"\[.*(\$[({]|`)", re.DOTALL)
"""What they run then: code in the subscript of an array."""

WHOLE = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)")
"""What arithmetic of a shell takes; names would be looked up, and what they hold would be read as code by some shells."""

HARMLESS = re.compile(r"[\w@%+=:,./ -]*", re.ASCII)
"""What no shell takes for code."""

SHELLS = ("sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash", "yash", "csh", "tcsh", "fish")

GLUED = re.compile(
    rf"(?<![\w.-])({'|'.join(SHELLS)})\s+([-+]\S+\s+)*-[A-Za-z]*c[A-Za-z]*\s+([-+]\S*\s+)*"
    r"(?:'[^']*'|\"[^\"]*\"|\\.|[^\s'\";&|<>()\\])+\Z"
)
"""The code that a command gives to another shell, at whose end a value would become part of it."""

REMEDIES = {
    "between quotes": "leave them out, values are quoted for you; between double quotes the shell knows it as ${variable}",
    "in a here-document": "write ${variable} there",
    "in backticks": "write $(...) instead of them",
    "in ${...}": "write ${variable} there",
    "behind a $": "write {name} alone, or ${{name}} for a variable of the shell",
    "behind a backslash": "leave it out, values are quoted for you",
    "and a quote or bracket that is not closed": "close it",
    "and $'...', which shells read differently": "write '...' without the $",
    "and case inside brackets": "put case on a line of its own, outside of them",
    "and a # that may begin a comment or not": "put the comment on a line of its own, or the # between quotes",
    "and a line that ends inside of << or $(": "write them on one line",
    "and a ' in ${...}, which shells read differently": "put what it quotes into a variable",
    "and a here-document whose end is not named behind <<": "write << and its end on one line",
    "behind code for another shell": 'write "${variable}" there, between single quotes',
}
"""Where a placeholder may not stand, and what to do instead."""


def variables(settings: Iterable[str]) -> dict[str, str]:
    """Returns the names of the variables that hold the option and its settings.

    What cannot stand in the name of a variable is an underscore there; of columns that would then share one, the later get
    a number.

    >>> variables(["level", "dose (mg)", "a b", "a_b"])  # doctest: +NORMALIZE_WHITESPACE
    {'option': 'PARETOPICK_OPTION', 'level': 'PARETOPICK_SETTING_level', 'dose (mg)': 'PARETOPICK_SETTING_dose__mg_',
     'a b': 'PARETOPICK_SETTING_a_b', 'a_b': 'PARETOPICK_SETTING_a_b_2'}
    """
    names = {"option": OPTION}
    for column in settings:
        plain = name = SETTING + re.sub(r"[^A-Za-z0-9_]", "_", column)
        number = 1
        while name in names.values():
            number += 1
            name = f"{plain}_{number}"
        names.setdefault(column, name)
    return names


class ShellCode:
    """The code of a command, its placeholders replaced by variables.

    Args:
        code: as it was written; ``{{`` and ``}}`` are braces.
        names: of the variables, by placeholder, as ``variables`` gives them.

    >>> ShellCode("gzip -{level} < {option}", variables(["level"])).text
    'gzip -"${PARETOPICK_SETTING_level}" < "${PARETOPICK_OPTION}"'
    """

    def __init__(self, code: str, names: Mapping[str, str]) -> None:
        self.used: dict[str, str] = {}
        """The placeholders that are there, with their variables."""
        self._whole: set[str] = set()
        self._counts = COUNTS.search(code) is not None
        reader = ShellReader(code)
        parts, end = [], 0
        for found in PLACEHOLDER.finditer(code):
            if found[1] is not None and found[1] not in names:  # braces that are not ours
                continue
            parts += [code[end : found.start()], self._replaced(found, reader, names)]
            end = found.end()
        self.text = "".join([*parts, code[end:]])
        for name, variable in self.used.items():
            for again in READS_AGAIN.finditer(code):
                if reader.place(again.start()) not in NO_CODE:
                    raise InvalidInput(
                        f"the command has {{{name}}} and {again[1]}, which reads values as code; leave {again[1]} out, or write "
                        f"${variable} there if they are meant to be code."
                    )

    def check(self, values: Mapping[str, str]) -> None:
        """Refuses values that the shell would not take as they are."""
        for name in sorted(self._whole):
            if not WHOLE.fullmatch(values[name]):
                raise MeasuringFailed(f"{{{name}}} stands in arithmetic and is {values[name]!r}, which is not a whole number")
        for name, value in values.items():
            if self._counts and SUBSCRIPT.search(value):
                raise MeasuringFailed(
                    f"{{{name}}} is {value!r}, of which some shells would run a part where they calculate or look for a "
                    "variable; give it another name, or measure with a program of your own"
                )

    def _replaced(self, found: re.Match[str], reader: ShellReader, names: Mapping[str, str]) -> str:
        """What stands for a placeholder in the code, whatever its value is."""
        name = found[1]
        if name is None:
            return found[0][0]
        place = reader.place(found.start())
        if place == "in a comment":
            return found[0]
        if not place and GLUED.search(found.string, 0, found.start()):
            place = "behind code for another shell"
        place, variable = reader.doubt or place, names[name]
        if place in REMEDIES:
            remedy = REMEDIES[place].replace("{name}", found[0]).replace("{variable}", variable)
            raise InvalidInput(f"the command has {found[0]} {place}; {remedy}.")
        self.used[name] = variable
        if place == "in arithmetic":
            self._whole.add(name)
            return f"${{{variable}}}"
        return f'"${{{variable}}}"'


def check_nested(words: list[str], values: Mapping[str, str], names: Mapping[str, str]) -> None:
    """Refuses values that a shell which the command calls would take for code: those in ``["sh", "-c", "echo {option}"]``.

    >>> check_nested(["sh", "-c", "echo {level}"], {"level": "9 -v"}, variables(["level"]))
    >>> check_nested(["sh", "-c", "echo {level}"], {"level": "$(ls)"}, variables(["level"]))
    Traceback (most recent call last):
    ...
    paretopick.errors.MeasuringFailed: {level} is '$(ls)', of which sh would run a part; write "$PARETOPICK_SETTING_level" there
    """
    for shell, word in _codes(words):
        if PLACEHOLDER.fullmatch(word):  # a value alone is code on purpose
            continue
        for found in PLACEHOLDER.finditer(word):
            value = values.get(found[1] or "", "")
            if not HARMLESS.fullmatch(value):
                raise MeasuringFailed(
                    f'{found[0]} is {value!r}, of which {shell} would run a part; write "${names[found[1]]}" there'
                )


def _codes(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yields every shell that a command calls, and the code that it is given: the first word behind -c that is no option."""
    shell, code_follows, skipped = "", False, 0
    for word in words:
        program = word.rpartition("/")[2]
        if skipped:
            skipped -= 1
        elif shell and re.match(r"[-+]", word):
            short = not word.startswith("--")
            code_follows |= short and word[0] == "-" and "c" in word
            skipped = word.lower().count("o") if short else 0  # each takes the name of an option
        elif shell:
            if code_follows:
                yield shell, word
            shell, code_follows = "", False
        if not shell:
            shell = program if program in SHELLS else ""
