"""Where something stands in code for a shell: as a word of a command, between quotes, in a comment, in a here-document."""

from __future__ import annotations

import re

PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
"""``{name}``, or ``{{`` and ``}}`` for braces."""

SHELLS = ("sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash", "yash", "csh", "tcsh", "fish")

CASE = re.compile(r"(?<![^\s;&|(){}`!])case(?!\S)")


class ShellReader:
    """Reads code as a shell would, as far as it takes to know where quotes, comments and the like begin and end.

    It follows POSIX; where shells differ, or where it would have to know more of the grammar, it is in doubt.
    """

    def __init__(self, code: str) -> None:
        self._code = code
        self._places: list[tuple[int, int, str]] = []
        """From where to where it is what, the inner before the outer."""
        self._ends_of_documents: list[tuple[str, bool]] = []
        self._joined = -1
        """Where the latest escape or substitution ends: what follows it belongs to the same word."""
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
        waiting, self._ends_of_documents = self._ends_of_documents, []  # a here-document of this line begins behind the bracket
        while i < len(code):
            if closing and code[i] == closing:
                if CASE.search(code, start, i):
                    self.doubt = "and case inside brackets"
                self._ends_of_documents = waiting + self._ends_of_documents
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
            if i == self._joined:
                self.doubt = "and a # that may begin a comment or not"
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
        end = self._expansion(i)
        self._joined = end if end > i + 1 else self._joined
        return end

    def _expansion(self, i: int) -> int:
        """What means the same in commands, between double quotes and in arithmetic."""
        code = self._code
        character, ahead = code[i], code[i + 1 : i + 2]
        if character == "\\":
            if ahead == "\n" and code[i - 1 : i] in ("<", "$", "("):
                self.doubt = "and a line that ends inside of << or $("
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
        if ours and ours[1] is not None and not re.search(r"['\"`$\\]", ours[1]):
            return self._note(start, ours.end(), "behind a $")
        i = ours.end() if ours and ours[1] is None else start + 2
        while i < len(self._code):
            if ours := PLACEHOLDER.match(self._code, i):
                i = ours.end()
                if ours[0] == "}}":
                    return self._note(start, i, "in ${...}")
            elif self._code[i] == "}":
                return self._note(start, i + 1, "in ${...}")
            elif self._code[i] == "'":
                self.doubt = "and a ' in ${...}, which shells read differently"
                i += 1
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
        word = re.compile(r"-?[ \t]*((?:\\.|'[^']*'|\"[^\"]*\"|[^ \t\n;&|<>()'\"\\])+)").match(self._code, i)
        if word is None:
            self.doubt = "and a here-document whose end is not named behind <<"
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
