"""Files are written whole or not at all, under a name that nobody can foresee, with the permissions of any other file."""

import os
import stat
import sys
from pathlib import Path

import pytest

import paretopick as pp
from paretopick._files import read_whole, remove_halves, write_whole


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_new_file_gets_the_permissions_of_any_new_file(tmp_path, umask):
    write_whole(tmp_path / "new", b"x")
    (tmp_path / "plain").write_bytes(b"x")
    assert permissions(tmp_path / "new") == permissions(tmp_path / "plain") == 0o640
    assert names(tmp_path) == ["new", "plain"]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    assert write_whole(path, b"new") == path
    assert path.read_bytes() == b"new"
    assert permissions(path) == 0o600


def test_the_name_before_renaming_cannot_be_foreseen(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append(os.readlink(f"/proc/self/fd/{handle}")))
    for _ in range(2):
        write_whole(tmp_path / "report.html", b"x")
    first, folder, second, _ = seen
    assert folder == str(tmp_path)
    assert Path(first).parent == Path(second).parent == tmp_path
    assert Path(first).name != Path(second).name
    assert str(os.getpid()) not in Path(first).name.split(".")


def test_a_link_that_waits_at_the_old_name_of_halves_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("dear")
    (tmp_path / f".report.html.{os.getpid()}.half").symlink_to(victim)
    write_whole(tmp_path / "report.html", b"x")
    assert victim.read_text() == "dear"


def test_a_link_is_replaced_and_not_followed(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "report.html"
    victim.write_text("dear")
    link.symlink_to(victim)
    write_whole(link, b"x")
    assert victim.read_text() == "dear"
    assert not link.is_symlink()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no full disk elsewhere")
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "kept.csv"
    path.write_text("old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(pp.FileNotWritten, match=r"kept\.csv cannot be written: No space left on device") as refusal:
        write_whole(path, b"new")
    assert isinstance(refusal.value, OSError)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["kept.csv"]


def test_a_folder_that_is_not_there_or_a_device_is_refused(tmp_path):
    with pytest.raises(pp.FileNotWritten, match="x cannot be written: No such file"):
        write_whole(tmp_path / "no" / "x", b"")
    for place in (Path("/dev/null"), tmp_path, Path("/"), Path("")):
        with pytest.raises(pp.InvalidInput, match="choose another"):
            write_whole(place, b"")
    assert not stat.S_ISREG(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("path", ["a\0b", "\ud800", b"bytes", 5, None, object()])
def test_what_cannot_be_a_path_is_refused(path):
    with pytest.raises(pp.InvalidInput, match="cannot be the path of a file"):
        read_whole(path)


def test_a_long_name_is_no_trouble(tmp_path):
    assert write_whole(tmp_path / ("ü" * 120), b"x").read_bytes() == b"x"


def test_halves_of_this_release_and_of_the_one_before_are_removed_after_a_minute(tmp_path):
    halves = [tmp_path / ".page.html.4711.half", tmp_path / ".page.html.0123456789abcdef.half", tmp_path / ".young.1.half"]
    for half in halves:
        half.write_text("")
    for half in halves[:2]:
        os.utime(half, (0, 0))
    (tmp_path / "page.html").write_text("")
    remove_halves(tmp_path)
    assert names(tmp_path) == [".young.1.half", "page.html"]
