"""The door to the files of a project, on real repositories, and on trees that somebody has made to lead out of them."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from services.dreamer import git_history
from services.dreamer.tree import MOST_BYTES, Checkout
from services.kit.git import git
from tests.helpers import repositories
from tests.helpers.repositories import Made

LONG = "".join(f"line {number}\n" for number in range(60))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = repositories.Checkout(tmp_path / "project")
    made.add(
        Made(1, "One", {"src/a.py": LONG, "src/d.py": "other\n" + LONG * 2}),
        Made(2, "Two", {"src/b.py": f"{LONG}more\n", "src/d.py": "other\n" + LONG * 2}, (1,)),
    )
    made.git("reset", "--hard", "-q")
    return made.folder


def deleted(made: Path, *paths: str) -> None:
    """Commit that these files are gone, as `git mv` does in one commit with the new ones."""
    checkout = repositories.Checkout(made)
    checkout.git("rm", "-q", *paths)
    commit(checkout)


def commit(checkout: repositories.Checkout) -> None:
    checkout.git("add", "-A")
    checkout.git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "x")


def renamed(root: Path, old: str, new: str) -> None:
    checkout = repositories.Checkout(root)
    (root / new).parent.mkdir(parents=True, exist_ok=True)
    checkout.git("mv", old, new)
    commit(checkout)


def test_files_and_folders_are_there_and_read(root: Path) -> None:
    tree = Checkout(root)
    assert (True, True, False) == (tree.exists("src/a.py"), tree.exists("src/"), tree.exists("src/x.py"))
    assert (LONG, None, None) == (tree.text("./src/a.py"), tree.text("src"), tree.text("src/x.py"))


def test_a_file_is_followed_over_renames_in_commits_and_before_one(root: Path) -> None:
    renamed(root, "src/a.py", "lib/c.py")
    (root / "src" / "a.py").unlink(missing_ok=True)
    renamed(root, "lib/c.py", "lib/core/e.py")
    repositories.Checkout(root).git("mv", "src/d.py", "src/f.py")
    tree = Checkout(root)
    assert ("lib/core/e.py", "lib/core/e.py", "src/f.py", "") == tuple(
        map(tree.moved, ("src/a.py", "lib/c.py", "src/d.py", "src/x.py"))
    )
    deleted(root, "lib/core/e.py")
    assert "" == Checkout(root).moved("src/a.py")


def test_a_folder_is_followed_where_most_of_it_went(root: Path) -> None:
    for name in ("b", "c"):
        (root / "src" / f"{name}.py").write_text(f"{name}\n{LONG}{name}\n" * 3)
    commit(repositories.Checkout(root))
    renamed(root, "src", "lib/src")
    assert ("lib/src", "lib/src") == (Checkout(root).moved("src"), Checkout(root).moved("./src/"))
    renamed(root, "lib/src", "lib/core")
    renamed(root, "lib/core/d.py", "lib/core/other.py")
    deleted(root, "lib/core/c.py")
    tree = Checkout(root)
    assert ("lib/core", "lib/core") == (tree.moved("src"), tree.moved("lib/src"))
    assert "" == tree.moved("lib/none")


def test_a_folder_from_which_one_file_went_and_the_rest_was_deleted_is_gone(root: Path) -> None:
    for name in ("b", "c"):
        (root / "src" / f"{name}.py").write_text(f"{name}\n{LONG}{name}\n" * 3)
    commit(repositories.Checkout(root))
    renamed(root, "src/a.py", "lib/a.py")
    deleted(root, "src/b.py", "src/c.py", "src/d.py")
    assert ("lib/a.py", "") == (Checkout(root).moved("src/a.py"), Checkout(root).moved("src"))


def test_a_folder_that_is_the_project_now_or_has_secrets_has_no_new_place(root: Path) -> None:
    renamed(root, "src/a.py", "a.py")
    renamed(root, "src/d.py", "d.py")
    assert "" == Checkout(root).moved("src")
    (root / "lib").mkdir()
    renamed(root, "a.py", "lib/a.py")
    renamed(root, "lib", "secrets")
    assert "" == Checkout(root).moved("lib")


@pytest.mark.parametrize(
    "path",
    ["../out", "src/../../out", "/etc/passwd", "~/x", "link", "src/link", "folder/out", "loop", "", ".", "\0",
     "x" * 5_000, "a/" * 200, "src\\..\\..\\out"],
)  # fmt: skip
def test_no_path_leads_out(root: Path, path: str) -> None:
    (root.parent / "out").write_text("out")
    (root / "link").symlink_to("../out")
    (root / "src" / "link").symlink_to(root.parent / "out")
    (root / "folder").symlink_to(root.parent)
    (root / "loop").symlink_to("loop")
    tree = Checkout(root)
    assert (False, None, "") == (tree.exists(path), tree.text(path), tree.moved(path))


def test_a_link_within_the_tree_is_read(root: Path) -> None:
    (root / "plain").symlink_to("src/a.py")
    assert LONG == Checkout(root).text("plain")


@pytest.mark.parametrize(
    "path",
    [".env", "app/.env.local", ".git/config", "secrets/a.txt", "k.pem", "home/.SSH/config", ".npmrc", "x/id_rsa.pub",
     ".netrc", "aws/credentials", "credentials.json", "prod.tfvars", ".envrc", "my.env"],
)  # fmt: skip
def test_secrets_are_not_read_neither_by_name_nor_by_a_link(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("KEY=1")
    (root / "plain").symlink_to(root / path)
    tree = Checkout(root)
    assert (None, None) == (tree.text(path), tree.text("plain"))


def test_what_is_large_or_no_text_or_no_file_is_not_read(root: Path) -> None:
    (root / "whole").write_bytes(b"x" * MOST_BYTES)
    (root / "large").write_bytes(b"x" * (MOST_BYTES + 1))
    with (root / "huge").open("wb") as file:
        file.truncate(1 << 40)
    (root / "binary").write_bytes(b"x\0y")
    os.mkfifo(root / "pipe")
    tree = Checkout(root)
    assert MOST_BYTES == len(tree.text("whole") or "")
    assert [None] * 4 == [tree.text(name) for name in ("large", "huge", "binary", "pipe")]


def test_without_a_repository_nothing_was_renamed(tmp_path: Path, root: Path) -> None:
    renamed(root, "src/a.py", "lib/c.py")
    inner = root / "lib"
    assert "" == Checkout(inner).moved("src/a.py")  # the repository around it is another project's
    (tmp_path / "plain").mkdir()
    assert "" == Checkout(tmp_path / "plain").moved("src/a.py")


def test_git_has_three_seconds_and_is_asked_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float | None] = []

    async def counted(
        folder: Path, environment: Mapping[str, str], *words: str, patience: float | None = None
    ) -> bytes:
        asked.append(patience)
        return await git(folder, environment, *words, patience=patience)

    monkeypatch.setattr(git_history, "git", counted)
    tree = Checkout(root)
    assert ["", ""] == [tree.moved("x/y.py"), tree.moved("x/z.py")]
    assert [3.0, 3.0, 3.0] == asked


def test_nothing_that_the_settings_of_a_repository_name_is_run_or_changes_what_is_read(
    root: Path, tmp_path: Path
) -> None:
    """Filters as well, which git runs on files that it compares, and those of submodules, where it runs itself."""
    checkout, inner = repositories.Checkout(root), repositories.Checkout(tmp_path / "inner")
    inner.add(Made(1, "Inner", {"s.txt": "s"}))
    checkout.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{inner.folder}", "part"
    )  # fmt: skip
    commit(checkout)
    checkout.git("mv", "src/d.py", "src/f.py")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    for place in (root, root / "part"):
        of_it = repositories.Checkout(place)
        for name in ("filter.trap.clean", "filter.trap.smudge", "core.fsmonitor", "diff.external", "diff.trap.textconv",
                     "diff.trap.command", "gpg.program", "core.pager", "alias.ls-files"):  # fmt: skip
            of_it.git("config", name, str(trap))
        of_it.git("config", "log.showSignature", "true")
        of_it.git("config", "i18n.logOutputEncoding", "UTF-16")
        attributes = Path(place, of_it.git("rev-parse", "--git-path", "info/attributes"))
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text("* filter=trap diff=trap\n")
    for name in ("src/a.py", "part/s.txt"):
        (root / name).write_text(f"{LONG}changed\n")
    (root / "src" / "b.py").unlink()
    tree = Checkout(root)
    assert ("src/f.py", "") == (tree.moved("src/d.py"), tree.moved("src/b.py"))
    assert ["x"] == [one.subject for one in tree.commits_since("src/b.py")]
    assert not (tmp_path / "sprung").exists()
