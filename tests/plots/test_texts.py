"""Any text is shown as it is, as far as there is room and there are fonts."""

import pytest

from paretopick.plots.texts import NO_FONT, fitted, legible, numbers, plain, short_names, shortened


@pytest.mark.parametrize("text", ["$x$", "_hidden", "<b>&amp;</b>", "a\\$b_2^3", "Ärger", "naïve…", "→ ±"])
def test_what_the_font_has_is_shown_as_it_is(text):
    assert legible(text) == text
    assert plain(text)["parse_math"] is False


def test_what_no_font_has_is_a_box_and_joints_are_left_out():
    private = chr(0x10FFF0)
    assert legible(f"a{private}b") == f"a{NO_FONT}b"
    assert legible("e\ufe0f") in ("e", "e\ufe0f")
    assert legible("two\nlines") == "two lines"


@pytest.mark.parametrize("length", [3, 24, 25, 100, 1000])
def test_long_names_keep_both_ends(length):
    name = "".join(chr(ord("a") + i % 26) for i in range(length))
    short = shortened(name)
    assert len(short) == min(length, 24)
    assert short == name or (short[0] == name[0] and short[-1] == name[-1] and "…" in short)


def test_names_that_differ_in_the_middle_stay_different():
    head, tail = "a" * 40, "z" * 40
    names = [f"{head}{i}{tail}" for i in range(10)]
    assert len(set(short_names(names))) == 10


def test_of_long_names_the_parts_that_differ_are_shown():
    names = [f"model=transformer-large,rate={rate},decay=0.01,seed={seed}" for rate in (1, 2) for seed in (0, 1)]
    assert short_names(names) == ("…rate=1,…seed=0", "…rate=1,…seed=1", "…rate=2,…seed=0", "…rate=2,…seed=1")


def test_short_names_are_left_alone():
    assert short_names(["a, 1", "a, 2"]) == ("a, 1", "a, 2")


def test_a_text_is_shortened_until_it_fits():
    assert fitted("short", 200, 9) == "short"
    wide, narrow = fitted("W" * 100, 200, 9), fitted("i" * 100, 200, 9)
    assert len(wide) < len(narrow)
    assert "…" in wide


@pytest.mark.parametrize(
    "values, texts",
    [
        ([0.1, 0.2, 0.25], ["0.10", "0.20", "0.25"]),
        ([1000.0, 2000.0], ["1,000", "2,000"]),
        ([1e12, 2.5e12], ["1.0e12", "2.5e12"]),
        ([-1e-9, 0.0, 2e-9], ["\N{MINUS SIGN}1e\N{MINUS SIGN}9", "0", "2e\N{MINUS SIGN}9"]),
        ([123456.0, 123457.0], ["123,456", "123,457"]),
        ([-0.0], ["0"]),
        ([], []),
    ],
)
def test_numbers_have_the_digits_that_tell_them_apart(values, texts):
    assert numbers(values) == texts
