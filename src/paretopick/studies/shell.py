"""Commands that a shell reads: their code says ``{option}``, and values reach it as variables of the environment only.

No value ever becomes part of the code. Where a placeholder stands as a word of a command, it is replaced by a constant text, such
as ``"${PARETOPICK_OPTION}"``, which the shell takes for one word whatever the value is. Where that text would mean something else
(between quotes, in a here-document, in arithmetic, behind ``eval``), the command is refused before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from paretopick.errors import InvalidInput, MeasuringFailed

SHELL = "/bin/sh"

PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")

OPTION = "PARETOPICK_OPTION"
SETTING = "PARETOPICK_SETTING_"

READS_AGAIN = re.compile(r"(?<![^\s;&|(){}`!])(eval|let|\[\[)(?!\S)")
"""Words by which a shell takes the value of a variable for code, or for arithmetic, which may contain code."""

CASE = re.compile(r"(?<![^\s;&|(){}`!])case(?!\S)")

WHOLE = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)")
"""What arithmetic of a shell takes; names would be looked up, and what they hold would be read as code by some shells."""

HARMLESS = re.compile(r"[\w@%+=:,./ -]*", re.ASCII)
"""What no shell takes for code."""

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash", "fish")

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
        reader = _Reader(code)
        parts, end = [], 0
        for found in PLACEHOLDER.finditer(code):
            if found[1] is not None and found[1] not in names:  # braces that are not ours
                continue
            parts += [code[end : found.start()], self._replaced(found, reader, names)]
            end = found.end()
        self.text = "".join([*parts, code[end:]])
        for name, variable in self.used.items():
            for again in READS_AGAIN.finditer(code):
                if not reader.place(again.start()):
                    raise InvalidInput(
                        f"the command has {{{name}}} and {again[1]}, which reads values as code; leave {again[1]} out, or write "
                        f"${variable} there if they are meant to be code."
                    )

    def check(self, values: Mapping[str, str]) -> None:
        """Refuses values that the shell would not take as they are."""
        for name in sorted(self._whole):
            if not WHOLE.fullmatch(values[name]):
                raise MeasuringFailed(f"{{{name}}} stands in arithmetic and is {values[name]!r}, which is not a whole number")

    def _replaced(self, found: re.Match[str], reader: _Reader, names: Mapping[str, str]) -> str:
        """What stands for a placeholder in the code, whatever its value is."""
        name = found[1]
        if name is None:
            return found[0][0]
        place = reader.place(found.start())
        if place == "in a comment":
            return found[0]
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
    shell = ""
    for before, word in zip(["", *words], words, strict=False):
        if shell and re.fullmatch(r"-[a-z]*c", before) and not PLACEHOLDER.fullmatch(word):  # a value alone is code on purpose
            for found in PLACEHOLDER.finditer(word):
                value = values.get(found[1] or "", "")
                if not HARMLESS.fullmatch(value):
                    raise MeasuringFailed(
                        f'{found[0]} is {value!r}, of which {shell} would run a part; write "${names[found[1]]}" there'
                    )
        program = word.rpartition("/")[2]
        shell = program if program in SHELLS else shell


class _Reader:
    """Reads code as a shell would, as far as it takes to know where quotes, comments and the like begin and end.

    It follows POSIX; where shells differ, or where it would have to know more of the grammar, it is in doubt.
    """

    def __init__(self, code: str) -> None:
        self._code = code
        self._places: list[tuple[int, int, str]] = []
        """From where to where it is what, the inner before the outer."""
        self._ends_of_documents: list[tuple[str, bool]] = []
        self.doubt = ""
        self._commands(0, "")

    def place(self, position: int) -> str:
        """Where a character stands: the innermost place that holds it, or nothing for a word of a command."""
        for start, end, what in self._places:
            if start <= position < end:
                return what
        return ""

    def _note(self, start: int, end: int, what: str) -> int:
        self._places.append((start, end, what))
        return end

    def _commands(self, start: int, closing: str) -> int:
        """Reads commands up to a closing bracket, and returns where they end."""
        code, i = self._code, start
        while i < len(code):
            if closing and code[i] == closing:
                if CASE.search(code, start, i):
                    self.doubt = "and case inside brackets"
                self._note(start, i, "")
                return i + 1
            i = self._one(i)
        return self._unclosed() if closing else i

    def _one(self, i: int) -> int:
        """Reads what begins at a character of a command, and returns where it ends."""
        code = self._code
        character = code[i]
        if character == "\n":
            return self._documents(i + 1)
        if character == "#" and (i == 0 or code[i - 1] in " \t\n;&|()"):
            return self._note(i, self._until("\n", i), "in a comment")
        if code.startswith("<<<", i):
            return i + 3
        if code.startswith("<<", i):
            return self._document(i + 2)
        if code.startswith("((", i):
            return self._arithmetic(i + 2)
        if character == "(":
            return self._commands(i + 1, ")")
        if character == "'":
            return self._note(i, self._until("'", i + 1) + 1, "between quotes")
        return self._expansion(i)

    def _expansion(self, i: int) -> int:
        """What means the same in commands, between double quotes and in arithmetic."""
        code = self._code
        character, ahead = code[i], code[i + 1 : i + 2]
        if character == "\\":
            return self._note(i, i + 2, "behind a backslash")
        if character == '"':
            return self._quotes(i)
        if character == "`":
            return self._backticks(i)
        if character != "$":
            return i + 1
        if ahead == "'":
            self.doubt = self.doubt or "and $'...', which shells read differently"
        if code.startswith("$((", i):
            return self._arithmetic(i + 3)
        if ahead == "(":
            return self._commands(i + 2, ")")
        if ahead == "{":
            return self._parameter(i)
        return i + 1

    def _quotes(self, start: int) -> int:
        i = start + 1
        while i < len(self._code):
            if self._code[i] == '"':
                return self._note(start, i + 1, "between quotes")
            i = self._expansion(i)
        return self._unclosed()

    def _backticks(self, start: int) -> int:
        i = start + 1
        while i < len(self._code):
            if self._code[i] == "`":
                return self._note(start, i + 1, "in backticks")
            i += 2 if self._code[i] == "\\" else 1
        return self._unclosed()

    def _parameter(self, start: int) -> int:
        """``${name}``, ``${name:-word}`` and the like; ``${{name}}`` is how the first is written here."""
        ours = PLACEHOLDER.match(self._code, start + 1)
        if ours and ours[1] is not None:
            return self._note(start, ours.end(), "behind a $")
        i = start + 2
        while i < len(self._code):
            if ours := PLACEHOLDER.match(self._code, i):
                i = ours.end()
                if ours[0] == "}}":
                    return self._note(start, i, "in ${...}")
            elif self._code[i] == "}":
                return self._note(start, i + 1, "in ${...}")
            else:
                i = self._expansion(i)
        return self._unclosed()

    def _arithmetic(self, start: int) -> int:
        """Up to the brackets that close it; a bracket alone was that of commands, which numbers do not harm either."""
        i, depth = start, 2
        while i < len(self._code):
            depth += {"(": 1, ")": -1}.get(self._code[i], 0)
            if depth == 0:
                return self._note(start, i + 1, "in arithmetic")
            i = self._expansion(i) if self._code[i] != "'" else self._unclosed()
        return self._unclosed()

    def _document(self, i: int) -> int:
        """The word that ends a here-document, which begins in the next line."""
        dash = self._code.startswith("-", i)
        word = re.compile(r"-?[ \t]*((?:\\.|'[^']*'|\"[^\"]*\"|[^\s;&|<>()'\"\\])+)").match(self._code, i)
        if word is None:
            return i
        self._ends_of_documents.append((re.sub(r"[\\'\"]", "", word[1]), dash))
        return self._note(i, word.end(), "in a here-document")

    def _documents(self, i: int) -> int:
        """Reads the here-documents that begin in this line."""
        for end, dash in self._ends_of_documents:
            start = i
            while i < len(self._code):
                stop = self._until("\n", i)
                line, i = self._code[i:stop], stop + 1
                if (line.lstrip("\t") if dash else line) == end:
                    break
            self._note(start, min(i, len(self._code)), "in a here-document")
        self._ends_of_documents.clear()
        return min(i, len(self._code))

    def _until(self, end: str, start: int) -> int:
        found = self._code.find(end, start)
        if found >= 0:
            return found
        return len(self._code) if end == "\n" else self._unclosed()

    def _unclosed(self) -> int:
        self.doubt = self.doubt or "and a quote or bracket that is not closed"
        return len(self._code)
