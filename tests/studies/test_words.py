"""Options of several words: split as a shell would, and never read by one."""

import os
import re
import shlex

import pytest

import paretopick as pp
from paretopick.studies import shell as shell_code
from paretopick.studies.commands import Command
from support.attacks import ATTACKS, shells

SHOW = 'for word in "$@"; do printf "%s\\n" "$word" >> seen; done; echo m=$#'
"""Writes down the words that it was called with, and prints how many they are."""


def todo(option: str, **settings) -> pp.Measurement:
    return pp.Measurement(1, option, 1, settings, None)


@pytest.fixture
def show(tmp_path):
    """A program in a folder of its own, and one with a blank in its name."""
    for name in ("show", "show me"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{SHOW}\n")
        os.chmod(tmp_path / name, 0o755)
    return tmp_path


def words_seen(folder) -> list[str]:
    text = (folder / "seen").read_text() if (folder / "seen").exists() else ""
    (folder / "seen").unlink(missing_ok=True)
    return text.splitlines()


@pytest.mark.parametrize(
    "option, words",
    [
        ("./show -9 a", ["-9", "a"]),
        ("./show", []),
        ("./show 'a b' \"c d\" e\\ f", ["a b", "c d", "e f"]),
        ("./show ; touch X", [";", "touch", "X"]),
        ("./show $(touch X) `touch X` $HOME * ~ & # no", ["$(touch", "X)", "`touch", "X`", "$HOME", "*", "~", "&", "#", "no"]),
    ],
)
@pytest.mark.parametrize("placeholder", ["{option...}", "{option}"])
def test_a_program_with_arguments_is_split_into_words_and_no_shell_reads_them(show, option, words, placeholder):
    assert Command([placeholder, "-c", "{option}"], metrics=["m"], folder=show)(todo(option)) == {"m": len(words) + 2.0}
    assert words_seen(show) == [*words, "-c", option]
    assert not (show / "X").exists()


def test_a_program_whose_name_has_a_blank_is_one_word_unless_it_is_not_there(show):
    assert Command(["{option}", "x"], metrics=["m"], folder=show)(todo("./show me")) == {"m": 1.0}
    assert Command(["{option...}", "x"], metrics=["m"], folder=show)(todo("'./show me' 1")) == {"m": 2.0}
    (show / "show me").unlink()
    assert Command(["{option}", "x"], metrics=["m"], folder=show)(todo("./show me")) == {"m": 2.0}


def test_settings_may_be_several_words_or_none_anywhere_in_the_command(show):
    command = Command(["./show", "{flags...}", "{option}", "{{flags...}}"], metrics=["m"], settings=["flags"], folder=show)
    assert command(todo("a b", flags="-x 'y z'")) == {"m": 4.0}
    assert words_seen(show) == ["-x", "y z", "a b", "{flags...}"]
    assert command(todo("a b", flags="")) == {"m": 2.0}


def test_other_words_are_one_word_whatever_they_hold(show):
    assert Command(["./show", "{option}"], metrics=["m"], folder=show)(todo("gzip -9")) == {"m": 1.0}


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["./show", "-{option...}"],
            r"has \{option...\} inside of '-\{option...\}', and it stands for several words; write it as",
        ),
        (["sh", "-c", "echo {option...}"], r"inside of 'echo \{option...\}'"),
        (
            ["./show", "{optoin...}"],
            r"has \{optoin...\}, and options have \{option\}, \{repeat\}; write \{\{optoin...\}\} for plain braces",
        ),
    ],
)
def test_where_several_words_make_no_sense_the_command_is_refused(show, words, message):
    with pytest.raises(pp.InvalidInput, match=message):
        Command(words, metrics=["m"], folder=show)


def test_quotes_that_do_not_fit_are_said_with_what_to_write(show):
    for words in (["{option...}"], ["{option}"]):
        with pytest.raises(
            pp.MeasuringFailed, match=r"is \"it's x\", which cannot be split into words \(No closing quotation\); write"
        ):
            Command(words, metrics=["m"], folder=show)(todo("it's x"))
    with pytest.raises(pp.MeasuringFailed, match=r"^\{flags...\} is empty, so there is no program"):
        Command(["{flags...}"], metrics=["m"], settings=["flags"], folder=show)(todo("a", flags=""))
    with pytest.raises(pp.MeasuringFailed, match="'no-such-gzip' cannot be started"):
        Command(["{option}"], metrics=["m"], folder=show)(todo("no-such-gzip -9"))


@pytest.mark.parametrize("words", [["bash", "{option...}"], ["env", "sh", "{option...}", "x"], ["{shell}", "{option...}"]])
def test_a_shell_that_a_command_calls_gets_no_code_from_words(tmp_path, words):
    command = Command(words, metrics=["m"], settings=["shell"], folder=tmp_path)
    with pytest.raises(pp.MeasuringFailed, match=r"\{option...\} is \"-c 'touch X'\", of which (ba)?sh would run a part"):
        command(todo("-c 'touch X'", shell="/bin/sh"))
    assert not (tmp_path / "X").exists()


def test_code_that_is_meant_to_be_code_is_run(tmp_path):
    """The option is the whole command, shell and all, or all of the code."""
    for words, option in (
        (["{option...}"], "sh -c 'echo m=$0' 4"),
        (["{option}"], "sh -c 'echo m=4'"),
        (["sh", "-c", "{option...}"], "'echo m=$0' 4"),
    ):
        assert Command(words, metrics=["m"], folder=tmp_path)(todo(option)) == {"m": 4.0}
    with pytest.raises(pp.MeasuringFailed, match=r"\{level\} is '\$\(touch X\)', of which sh would run a part"):
        Command(["{option}", "-c", "echo {level}"], metrics=["m"], settings=["level"])(todo("sh", level="$(touch X)"))


@pytest.mark.parametrize("shell", shells())
@pytest.mark.parametrize(
    "code",
    [
        "./show {option...}", "./show a{{b}} {option...}|cat", "(./show {option...})",
        "for word in {option...}; do printf '%s\\n' \"$word\" >> seen; done; echo m=1", "x=$(./show {option...}); echo \"$x\"",
        "set -- other; ./show {option...} # it's {option...}", "f() {{ ./show {option...}; }}; f other",
    ],
)  # fmt: skip
def test_in_a_shell_several_words_are_quoted_each(show, monkeypatch, shell, code):
    monkeypatch.setattr(shell_code, "SHELL", shell)
    command = Command([code], metrics=["m"], shell=True, folder=show)
    for name in ATTACKS:
        try:
            expected = shlex.split(name)
        except ValueError:
            with pytest.raises(pp.MeasuringFailed, match="cannot be split into words"):
                command(todo(name))
            continue
        command(todo(name))
        seen = words_seen(show)
        assert seen[1 if "a{{" in code else 0 :] == "\n".join(expected).splitlines(), name
        assert not (show / "X").exists(), name


@pytest.mark.parametrize(
    "code",
    [
        "x={option...}", "./show x{option...}", "./show {option...}y", "cat > {option...}",
        "cat >> seen < {option...}", "echo x >&{option...}",
        "echo $(({option...}))", "echo {option...}{option...}",
    ],
)  # fmt: skip
def test_in_a_shell_several_words_must_stand_where_words_stand(code):
    with pytest.raises(
        pp.InvalidInput, match=r"has \{option...\} where a shell takes one word; put blanks around it, .* or write \{option\}"
    ):
        Command([code], metrics=["m"], shell=True)


@pytest.mark.parametrize(
    "code, message",
    [
        ('echo "{option...}"', "between quotes"), ("eval {option...}", "and eval, which"),
        ("cat <<EOF\n{option...}\nEOF", "in a here-doc"),
        ("echo `{option...}`", "in backticks"), ("sh -c 'x '{option...}", "behind code for another shell"),
    ],
)  # fmt: skip
def test_in_a_shell_they_are_refused_where_one_word_is(code, message):
    with pytest.raises(pp.InvalidInput, match=message):
        Command([code], metrics=["m"], shell=True)


def test_a_failure_shows_the_words_apart_from_the_code():
    command = Command(["{option...} -c {level}; exit 3"], metrics=["m"], settings=["level"], shell=True)
    with pytest.raises(pp.MeasuringFailed) as problem:
        command(todo("true 'a b'", level=9))
    assert re.match(
        re.escape(
            '$ "${PARETOPICK_WORD_1}" "${PARETOPICK_WORD_2}" -c "${PARETOPICK_SETTING_level}"; exit 3\n'
            "PARETOPICK_SETTING_level=9\nPARETOPICK_WORD_1=true\nPARETOPICK_WORD_2='a b'\n"
        ),
        problem.value.output,
    )
