"""The terminal: all that a command prints goes through here, so that what came from outside can only be read.

Session titles, messages, file names and the words of other programs may hold sequences that move a cursor, set a
clipboard, hide text or turn it around.
"""

import asyncio
import io
import os
import sys
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

_LAYOUT = frozenset("\n\t")
_JOINERS = frozenset("\u200c\u200d")
"""Behind letters of Persian or Hindi they belong to the spelling, and no terminal does anything by them. Elsewhere, and
in rows, they show nothing, and can hold any text."""
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00016fe4\U0001d159")
"""Letters, marks and symbols that show nothing."""
_SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Each chooses the form of the character before it. Rows of them, and those behind letters that have one form only,
show nothing, and can hold any text."""
_OF_SEVERAL_FORMS = frozenset("0123456789#*")
"""The characters of ASCII behind which a selector means something: `#\ufe0f\u20e3` is a key."""
_MARKS = frozenset({"Mn", "Me"})
MOST_MARKS = 8
"""Marks above and below one letter: no script needs more, and a tower of them covers the lines around it."""


def printable(text: str) -> str:
    r"""The text with everything spelled out (`\x1b`, `\u202e`) that is no visible character, blank or end of a line."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(one.encode("unicode_escape").decode() if hidden else one for one, hidden in _characters(text))


def _characters(text: str) -> Iterator[tuple[str, bool]]:
    """Each character, and whether nobody would see it."""
    before, marks = "\n", 0
    for one in text:
        marks = marks + 1 if unicodedata.category(one) in _MARKS else 0
        is_hidden = marks > MOST_MARKS or _means_nothing(one, before) or not _is_visible(one)
        yield one, is_hidden
        before = "\\" if is_hidden else one


def _means_nothing(character: str, before: str) -> bool:
    """Whether it only changes how another one looks, and nothing behind this one."""
    if character in _JOINERS:
        return before.isascii() or before.isspace() or before in _JOINERS
    if character in _SELECTORS:
        return before in _SELECTORS or before.isspace() or (before.isascii() and before not in _OF_SEVERAL_FORMS)
    return False


def _is_visible(character: str) -> bool:
    return (
        (character.isprintable() and character not in _FILLERS)
        or character in _LAYOUT
        or character in _JOINERS
        or unicodedata.category(character) == "Zs"
    )


def have_streams() -> None:
    """Have standard streams also where whoever started this process has closed them, with nothing behind them.

    Else what is printed would fail, and the next file that is opened would be in the place of a stream.
    """
    while (spare := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        pass
    os.close(spare)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for all of the process


STANDARD_ERROR = 2


def pass_over() -> None:
    """Print nothing from here on, nor what waits to be printed: nobody reads it, or the disk has no room.

    Python would try once more when it ends.
    """
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def spell_out() -> None:
    """Have what the encoding of the terminal lacks spelled out, where it would be an error: not all are UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Print a text, and end its line."""
    sys.stdout.write(f"{printable(text)}\n")


def write_lines(lines: Iterable[str]) -> None:
    """Print lines, each on one: a name or a reason with an end of a line in it can pose as none of them."""
    write("\n".join(line.replace("\n", "\\n") for line in lines))


def prompt(text: str) -> None:
    """Print a question, and leave the line open for its answer."""
    sys.stdout.write(printable(text))
    sys.stdout.flush()


class LineReader:
    """Lines that a person types, or that are piped in, read without holding up an event loop or the end of a process.

    A thread of an executor is waited for when a process ends, and one inside `sys.stdin` has its lock, without which
    Python cannot end: Ctrl-C at a question would take effect with the next line. So a daemon thread reads the
    descriptor itself.
    """

    def __init__(self) -> None:
        self._rest = b""
        """The bytes that were read behind the newest line."""

    async def ask(self, question: str) -> str:
        """Print the question, and read its line; an empty text at the end of the input. Raises `OSError`."""
        prompt(question)
        while b"\n" not in self._rest:
            more = await _chunk(sys.stdin.fileno())
            if not more:
                break
            self._rest += more
        line, end, self._rest = self._rest.partition(b"\n")
        return (line + end).decode(sys.stdin.encoding or "utf-8", errors="replace")


async def _chunk(descriptor: int) -> bytes:
    """The next bytes of the descriptor, as soon as it has any."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()

    def settle(data: bytes, error: OSError | None) -> None:
        if answer.done():  # nobody waits for it any more
            return
        if error is None:
            answer.set_result(data)
        else:
            answer.set_exception(error)

    def read() -> None:
        data, failure = b"", None
        try:
            data = os.read(descriptor, MOST_READ)
        except OSError as error:
            failure = error
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, data, failure)

    threading.Thread(target=read, name="line-reader", daemon=True).start()
    return await answer


MOST_READ = 65_536
"""Bytes that are read at once."""


def write_json(value: object) -> None:
    """Print a value for programs, as one line of JSON: what nobody would see is spelled out, which means the same."""
    text = msgspec.json.encode(value).decode()
    encoding = sys.stdout.encoding or "utf-8"
    is_ascii = text.encode(encoding, errors="ignore").decode(encoding) != text  # the encoding lacks something of it
    escaped = (
        _json_escape(one) if hidden or (is_ascii and not one.isascii()) else one for one, hidden in _characters(text)
    )
    sys.stdout.write("".join(escaped) + "\n")


def _json_escape(character: str) -> str:
    """A character as JSON spells it: by its units in UTF-16."""
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def write_file(text: str) -> None:
    """Print what is to be a file: as it is, but on a terminal."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def write_error(text: str) -> None:
    """Print what went wrong, as the command that it is."""
    sys.stderr.write(f"annals: {printable(text)}\n")


def write_note(text: str) -> None:
    """Print a note on the result of a command."""
    sys.stderr.write(f"{printable(text)}\n")
