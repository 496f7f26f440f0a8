"""Watching files: every way in which editors save them is noticed, once, and when they are whole."""

import os
import shutil
import threading
from pathlib import Path

import pytest

from helpers.processes import wait_until
from linkwork.io.files import stamp
from linkwork.live.watch import Watch


@pytest.fixture
def watch():
    """Begins to watch files; returns a list of what was read of them at every change."""
    watches = []

    def begin(*files):
        names = [str(file) for file in files]
        seen = []

        def read():
            stamps = {name: stamp(name) for name in names}
            seen.append([Path(name).read_text() if Path(name).exists() else None for name in names])
            return stamps

        watches.append(Watch({name: stamp(name) for name in names}, read))
        watches[-1].start()
        return seen

    yield begin
    for one in watches:
        one.stop()
    wait_until(lambda: not any(thread.name == "linkwork-files" for thread in threading.enumerate()))


def in_place(file, text):
    file.write_text(text)


def by_renaming(file, text):
    temporary = file.with_name(file.name + "~")
    temporary.write_text(text)
    os.replace(temporary, file)


def by_backup(file, text):
    """The old file becomes a copy of itself, and another one takes its place."""
    file.rename(file.with_name("backup"))
    file.write_text(text)


def by_deleting(file, text):
    file.unlink()
    file.write_text(text)


def in_the_same_moment(file, text):
    """Another file of the same size, which says that it is as old."""
    known = file.stat()
    temporary = file.with_name("other")
    temporary.write_text(text)
    os.utime(temporary, ns=(known.st_atime_ns, known.st_mtime_ns))
    os.replace(temporary, file)


@pytest.mark.parametrize("save", [in_place, by_renaming, by_backup, by_deleting, in_the_same_moment])
def test_every_way_to_save_is_noticed(tmp_path, watch, save):
    file = tmp_path / "model.yaml"
    file.write_text("one")
    seen = watch(file)
    for text in ("two", "six"):
        save(file, text)
        wait_until(lambda text=text: seen and seen[-1] == [text], "the change is told")


def test_what_does_not_change_is_not_told(tmp_path, watch):
    file, other = tmp_path / "model.yaml", tmp_path / "other"
    file.write_text("one")
    seen = watch(file)
    other.write_text("beside it")
    file.read_text()
    other.write_text("and the next change is told")
    file.write_text("two")
    wait_until(lambda: seen, "the change is told")
    assert seen == [["two"]]


def test_a_file_that_grows_is_read_when_it_is_whole(tmp_path, watch):
    """Written piece by piece, some of it in every look: nothing is told before it rests."""
    file = tmp_path / "model.yaml"
    file.write_text("")
    seen = watch(file)
    with file.open("w") as out:
        for i in range(40):
            out.write(f"{i}\n")
            out.flush()
            threading.Event().wait(0.02)
    whole = file.read_text()
    wait_until(lambda: seen and seen[-1] == [whole], "the whole file is told")


def test_files_that_are_saved_together_are_told_together(tmp_path, watch):
    files = [tmp_path / f"{name}.yaml" for name in "abc"]
    for file in files:
        file.write_text("one")
    seen = watch(*files)
    for file in files:
        file.write_text("two")
    wait_until(lambda: seen and seen[-1] == ["two"] * 3, "all changes are told")


def test_a_file_that_is_gone_is_told_and_so_is_its_return(tmp_path, watch):
    folder = tmp_path / "project"
    folder.mkdir()
    file = folder / "model.yaml"
    file.write_text("one")
    seen = watch(file)
    shutil.move(folder, tmp_path / "away")
    wait_until(lambda: seen == [[None]], "it is told that the file is gone")
    shutil.move(tmp_path / "away", folder)
    wait_until(lambda: seen[-1] == ["one"], "it is told that the file is back")


def test_what_is_saved_while_the_last_change_is_read_is_told_again(tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text("one")
    seen = []

    def read():
        before = {str(file): stamp(str(file))}
        seen.append(file.read_text())
        if len(seen) == 1:
            file.write_text("three")
        return before

    watch = Watch({str(file): stamp(str(file))}, read)
    watch.start()
    file.write_text("two")
    wait_until(lambda: seen[-1:] == ["three"], "the later change is told")
    watch.stop()
