"""The door to a project's files: what it shows, and what it does not."""

import os
import subprocess
from pathlib import Path

import pytest

from services.dreamer.tree import MOST_BYTES, Checkout, checkout_of
from tests.helpers.surroundings import surroundings


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("A = 1\n")
    return root


def test_files_of_the_tree_are_there_and_read(tree: Path) -> None:
    found = Checkout(tree)
    assert (True, True, False) == (found.exists("src/a.py"), found.exists("src"), found.exists("src/b.py"))
    assert ("A = 1\n", None, None) == (found.text("src/a.py"), found.text("src"), found.text("src/b.py"))


def test_what_is_secret_large_or_no_text_is_not_read(tree: Path) -> None:
    (tree / ".env").write_text("KEY=1")
    (tree / "large").write_bytes(b"x" * (MOST_BYTES + 1))
    (tree / "whole").write_bytes(b"x" * MOST_BYTES)
    (tree / "binary").write_bytes(b"x\0")
    found = Checkout(tree)
    assert [None, None, None] == [found.text(name) for name in (".env", "large", "binary")]
    assert MOST_BYTES == len(found.text("whole") or "")


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "link", "folder/out", "", "\0", "x" * 5000, "loop"])
def test_no_path_leads_out_of_the_tree(tree: Path, path: str) -> None:
    (tree.parent / "out").write_text("out")
    (tree / "link").symlink_to(tree.parent / "out")
    (tree / "folder").symlink_to(tree.parent)
    (tree / "loop").symlink_to(tree / "loop")
    found = Checkout(tree)
    assert (False, None, "") == (found.exists(path), found.text(path), found.moved(path))


def test_a_link_to_a_secret_is_none_the_less_one(tree: Path) -> None:
    (tree / ".env").write_text("KEY=1")
    (tree / "plain").symlink_to(tree / ".env")
    assert None is Checkout(tree).text("plain")


def git(root: Path, *words: str) -> None:
    environment = surroundings(root.parent) | {
        f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    subprocess.run(["git", *words], cwd=root, env=environment, check=True, capture_output=True)


def test_a_file_that_git_renamed_is_found_over_several_renames(tree: Path) -> None:
    git(tree, "init", "-q")
    (tree / "src" / "a.py").write_text("".join(f"A{number} = {number}\n" for number in range(50)))
    for name in ("b.py", "c.py"):
        git(tree, "add", ".")
        git(tree, "commit", "-qm", "x")
        before = "a.py" if name == "b.py" else "b.py"
        git(tree, "mv", f"src/{before}", f"src/{name}")
    git(tree, "commit", "-qam", "x")
    found = Checkout(tree)
    assert ("src/c.py", "src/c.py", "") == tuple(found.moved(f"src/{name}.py") for name in "abx")


def test_without_a_repository_nothing_was_renamed(tree: Path) -> None:
    assert "" == Checkout(tree).moved("src/z.py")


async def test_a_folder_that_is_another_project_is_no_tree_of_this_one(tree: Path) -> None:
    assert None is await checkout_of("git-0000", [str(tree), "/nowhere", "relative", os.devnull])
