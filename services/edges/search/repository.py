"""A real repository whose commits are given documents."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from services.edges.search.sets import Doc, moment

NAME = b"Annals <annals@example.invalid>"
FIRST = 946_684_800
"""The second from which on commits without a readable time are numbered."""
_IDENTITY = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": "/usr/bin:/bin:/usr/local/bin"}


def make(folder: Path, docs: Sequence[Doc]) -> Mapping[str, str]:
    """Make the repository; sha -> document. The oldest commit comes first, as far as their times show."""
    _git(folder.parent, b"", "init", "--quiet", "--initial-branch=main", str(folder))
    marks = folder / ".git" / "marks"
    ordered = sorted(enumerate(docs), key=lambda one: (_second(one[1], one[0]), -one[0]))
    listed = [doc for _, doc in ordered]
    _git(folder, b"".join(_stream(listed)), "fast-import", "--quiet", f"--export-marks={marks}")
    _git(folder, b"", "reset", "--quiet", "--hard", "main")
    found = (line.split() for line in marks.read_text().splitlines())
    return {sha: listed[int(mark.removeprefix(":")) - 1].id for mark, sha in found}


def _git(folder: Path, given: bytes, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, input=given, check=True, capture_output=True, env=_IDENTITY)  # noqa: S603, S607


def _second(doc: Doc, number: int) -> int:
    at = moment(doc.time)
    return max(1, int(at.timestamp())) if at else FIRST + number


def _stream(docs: Sequence[Doc]) -> Iterator[bytes]:
    """The input of `git fast-import`: one branch, and in each commit a line more in each of its files."""
    for number, doc in enumerate(docs, 1):
        text = doc.text.encode(errors="replace")
        yield b"commit refs/heads/main\nmark :%d\n" % number
        yield b"committer %s %d +0000\n" % (NAME, _second(doc, number))
        yield b"data %d\n%s\n" % (len(text), text)
        content = b"%d\n" % number
        for path in dict.fromkeys(doc.files or ()):
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (_quoted(path), len(content), content)
        yield b"\n"


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'.encode(errors="replace")
