"""Recorded sessions of several harnesses, read from files, folders and stores."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from schemas.codec import mended
from services.domain.misread import misread
from services.edges.client.readers import claude_code, codex, gemini_cli, neutral, opencode, opencode_store, pi
from services.edges.client.transcript import Transcript, UnreadableTranscript


class _Reader(Protocol):
    """A module that reads one format."""

    NAME: str

    def knows(self, keys: set[str]) -> bool: ...

    def read(self, data: bytes) -> Iterator[Transcript]: ...


_READERS: tuple[_Reader, ...] = (neutral, opencode, codex, gemini_cli, pi, claude_code)
_SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
_GZIP = b"\x1f\x8b"
_FORMATS = "; ".join(reader.NAME for reader in _READERS)


def read(path: Path, on_skip: Callable[[Path, str], object] | None = None) -> Iterator[Transcript]:
    """Read a file or, recursively, a folder; `on_skip` hears which promising files of a folder are no sessions."""
    if path.is_dir():
        yield from _folder(path, on_skip or (lambda _path, _reason: None))
        return
    try:
        yield from _file(path)
    except UnreadableTranscript as error:
        raise UnreadableTranscript(f"{path}: {error}. Readable, plain or gzipped: {_FORMATS}.") from error


def _folder(path: Path, on_skip: Callable[[Path, str], object]) -> Iterator[Transcript]:
    # Harnesses keep subagents deeper down than the sessions that started them.
    for file in sorted(filter(_promising, path.rglob("*")), key=lambda file: (len(file.parts), file)):
        try:
            yield from _file(file)
        except UnreadableTranscript as error:
            on_skip(file, str(error))


def _promising(path: Path) -> bool:
    named = path.name.endswith(_SUFFIXES) or opencode_store.named(path.name)
    return named and path.is_file()


def _file(path: Path) -> Iterator[Transcript]:
    try:
        if opencode_store.knows(path):
            yield from opencode_store.read(path)
        else:
            yield from _sessions(_content(path))
    except UnreadableTranscript:
        raise
    except OSError as error:
        raise UnreadableTranscript(error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableTranscript(misread(error)) from error


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise UnreadableTranscript(f"a broken gzip file ({error})") from error
    return mended(data)


def _sessions(data: bytes) -> Iterator[Transcript]:
    keys = _keys(data)
    reader = next((reader for reader in _READERS if reader.knows(keys)), None)
    if reader is None:
        raise UnreadableTranscript("not a session in a known format")
    return reader.read(data)


def _keys(data: bytes) -> set[str]:
    """Find the keys of the first JSON object, be it the first line or the whole file."""
    for text in (data.lstrip().split(b"\n", 1)[0], data):
        try:
            return set(msgspec.json.decode(text, type=dict[str, msgspec.Raw]))
        except ValueError:
            continue
    return set()
