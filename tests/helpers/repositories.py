"""Real repositories, made of what a test says of each commit, with `git fast-import`."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LONG_AGO, DAY = 1_700_000_000, 86_400
"""A moment, in seconds since 1970."""
ISOLATED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}


class Made(NamedTuple):
    """A commit to be made: known by its `mark` to those behind it."""

    mark: int
    message: bytes | str = ""
    files: Mapping[str, str] = {}
    parents: Sequence[int] = ()
    at: int = LONG_AGO
    author: bytes = b"Ada <ada@example.org>"
    encoding: str = ""
    branch: str = "main"


class Checkout:
    """A repository in a folder."""

    def __init__(self, folder: Path, *, object_format: str = "sha1", bare: bool = False) -> None:
        self.folder = folder
        self._marks: dict[int, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        shape = ["--bare"] if bare else []
        self.git("init", "--quiet", "--initial-branch=main", f"--object-format={object_format}", *shape, ".")

    def git(self, *words: str, data: bytes = b"") -> str:
        """What git answers in it."""
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=ISOLATED, input=data, capture_output=True, check=False
        )
        assert not done.returncode, done.stderr.decode()
        return done.stdout.decode(errors="replace").strip()

    def add(self, *commits: Made) -> list[str]:
        """Make these commits; their names. Each branch is moved to the last of its commits."""
        marks = self.folder / ".marks"
        known = "".join(f":{mark} {sha}\n" for mark, sha in self._marks.items())
        marks.write_text(known)
        stream = b"".join(_stream(commit) for commit in commits)
        self.git("fast-import", "--quiet", "--force", f"--import-marks={marks}", f"--export-marks={marks}", data=stream)
        lines = [line.split() for line in marks.read_text().splitlines()]
        self._marks = {int(mark[1:]): sha for mark, sha in lines}
        return [self._marks[commit.mark] for commit in commits]

    def sha(self, mark: int) -> str:
        return self._marks[mark]

    def moved(self, branch: str, mark: int) -> None:
        """Have a branch stand at a commit, as a push by force does."""
        self.git("update-ref", f"refs/heads/{branch}", self._marks[mark])


def line(count: int, *, start: int = 1, step: int = 60, since: int = LONG_AGO) -> list[Made]:
    """So many commits, one behind the other, each with a file of its own."""
    return [
        Made(
            mark,
            f"Change number {mark}\n\nWhy it was made, in words.",
            {f"src/file{mark % 97}.py": f"{mark}\n"},
            (mark - 1,) if mark > 1 else (),
            since + step * mark,
        )
        for mark in range(start, start + count)
    ]


def _stream(commit: Made) -> bytes:
    message = commit.message.encode() if isinstance(commit.message, str) else commit.message
    who = commit.author + b" %d +0000\n" % commit.at
    first, *others = [b":%d" % parent for parent in commit.parents] or [b""]
    encoding = f"encoding {commit.encoding}\n".encode() if commit.encoding else b""
    head = b"commit refs/heads/%b\nmark :%d\nauthor %bcommitter %b%b" % (
        commit.branch.encode(), commit.mark, who, who, encoding
    )  # fmt: skip
    lines = [head, b"data %d\n%b\n" % (len(message), message)]
    lines += [b"from %b\n" % first] if first else [b""]
    lines += [b"merge %b\n" % other for other in others]
    for path, text in commit.files.items():
        lines.append(b'M 100644 inline "%b"\ndata %d\n%b\n' % (_quoted(path), len(text.encode()), text.encode()))
    reset = b"" if first else b"reset refs/heads/%b\n" % commit.branch.encode()
    return reset + b"".join(lines) + b"\n"


def _quoted(path: str) -> bytes:
    raw = path.encode("latin-1") if path.isascii() or any("\x80" <= one <= "\xff" for one in path) else path.encode()
    return b"".join(b"\\%03o" % one if one < 32 or one > 126 or one in b'"\\' else bytes([one]) for one in raw)
