"""Commands that a shell reads: their code says ``{option}``, and values reach it as variables of the environment only.

No value ever becomes part of the code. Where a placeholder stands as a word of a command, it is replaced by a constant text, such
as ``"${PARETOPICK_OPTION}"``, which the shell takes for one word whatever the value is. Where that text would mean something else
(between quotes, in a here-document, in arithmetic, behind ``eval``), the command is refused before anything runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from paretopick.errors import InvalidInput, MeasuringFailed
from paretopick.studies.plain_words import SEVERAL, Filled, name_in, split_words
from paretopick.studies.shell_syntax import PLACEHOLDER, SHELLS, ShellReader

SHELL = "/bin/sh"

OPTION = "PARETOPICK_OPTION"
REPEAT = "PARETOPICK_REPEAT"
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

WORD = "PARETOPICK_WORD_"
"""Begins the names of the variables that hold the words of values which are several."""

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
    """Returns the names of the variables that hold the option, its settings, and which measurement of it is made.

    What cannot stand in the name of a variable is an underscore there; of columns that would then share one, the later get
    a number.

    >>> variables(["level", "dose (mg)", "a b", "a_b"])  # doctest: +NORMALIZE_WHITESPACE
    {'option': 'PARETOPICK_OPTION', 'level': 'PARETOPICK_SETTING_level', 'dose (mg)': 'PARETOPICK_SETTING_dose__mg_',
     'a b': 'PARETOPICK_SETTING_a_b', 'a_b': 'PARETOPICK_SETTING_a_b_2', 'repeat': 'PARETOPICK_REPEAT'}
    """
    names = {"option": OPTION}
    for column in settings:
        plain = name = SETTING + re.sub(r"[^A-Za-z0-9_]", "_", column)
        number = 1
        while name in names.values():
            number += 1
            name = f"{plain}_{number}"
        names.setdefault(column, name)
    names.setdefault("repeat", REPEAT)
    return names


class ShellCode:
    """The code of a command, its placeholders replaced by variables.

    ``{option...}`` is replaced by a variable for each word of its value, which is split as a shell would.

    Args:
        code: as it was written; ``{{`` and ``}}`` are braces.
        names: of the variables, by placeholder, as ``variables`` gives them.

    >>> code = ShellCode("{option...} -{level} < x", variables(["level"]))
    >>> code.filled({"option": "gzip -v", "level": "9"}).words[2]
    '"${PARETOPICK_WORD_1}" "${PARETOPICK_WORD_2}" -"${PARETOPICK_SETTING_level}" < x'
    """

    def __init__(self, code: str, names: Mapping[str, str]) -> None:
        self.used: dict[str, str] = {}
        """The placeholders of one word that are there, with their variables."""
        self._whole: set[str] = set()
        self._counts = COUNTS.search(code) is not None
        self._parts: list[tuple[str, str]] = []
        """Code, and the name of the value whose words follow it."""
        reader = ShellReader(code)
        text, end = "", 0
        for found in PLACEHOLDER.finditer(code):
            name, several = name_in(found, names)
            if found[1] is not None and name is None:  # braces that are not ours
                continue
            text += code[end : found.start()]
            end = found.end()
            if name is not None and several and reader.place(found.start()) != "in a comment":
                self._check_several(found, reader, names[name])
                self._parts.append((text, name))
                text = ""
            else:
                text += self._replaced(found, reader, names)
        self._parts.append((text + code[end:], ""))
        for name in {*self.used, *(name for _, name in self._parts if name)}:
            for again in READS_AGAIN.finditer(code):
                if reader.place(again.start()) not in NO_CODE:
                    raise InvalidInput(
                        f"the command has {{{name}}} and {again[1]}, which reads values as code; leave {again[1]} out, or write "
                        f"${names[name]} there if they are meant to be code."
                    )

    def filled(self, values: Mapping[str, str]) -> Filled:
        """Returns the shell with its code, which says how many words values have, and nothing else of them.

        Refuses values that the shell would not take as they are.
        """
        self._check(values)
        texts, variables = [], {variable: values[name] for name, variable in self.used.items()}
        for text, name in self._parts:
            texts.append(text)
            words = split_words(name, values[name]) if name else []
            new = {f"{WORD}{len(variables) - len(self.used) + at}": word for at, word in enumerate(words, start=1)}
            texts.append(" ".join(f'"${{{variable}}}"' for variable in new))
            variables |= new
        code = "".join(texts)
        shown = [f"$ {code}", *(f"{variable}={shlex.quote(value)}" for variable, value in variables.items())]
        return Filled([SHELL, "-c", code], variables, "\n".join(shown))

    def _check(self, values: Mapping[str, str]) -> None:
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
        self._check_place(found, reader, names[name])
        self.used[name] = names[name]
        if place == "in arithmetic":
            self._whole.add(name)
            return f"${{{names[name]}}}"
        return f'"${{{names[name]}}}"'

    def _check_place(self, found: re.Match[str], reader: ShellReader, variable: str) -> None:
        """Refuses a placeholder where a quoted variable would mean something else."""
        place = reader.place(found.start())
        if not place and GLUED.search(found.string, 0, found.start()):
            place = "behind code for another shell"
        place = reader.doubt or place
        if place in REMEDIES:
            remedy = REMEDIES[place].replace("{name}", found[0]).replace("{variable}", variable)
            raise InvalidInput(f"the command has {found[0]} {place}; {remedy}.")

    def _check_several(self, found: re.Match[str], reader: ShellReader, variable: str) -> None:
        """Refuses a placeholder of several words where one word is meant."""
        self._check_place(found, reader, variable)
        before, after = found.string[: found.start()], found.string[found.end() :]
        glued = before[-1:] not in ("", *" \t\n;&|({") or after[:1] not in ("", *" \t\n;&|)<>")
        redirected = before.rstrip(" \t").endswith(("<", ">", "<&", ">&", ">|"))
        if reader.place(found.start()) or glued or redirected:
            raise InvalidInput(
                f"the command has {found[0]} where a shell takes one word; put blanks around it, as between words of a command, "
                f"or write {{{found[1].removesuffix(SEVERAL)}}} for one."
            )
