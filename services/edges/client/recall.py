"""The recall of a recorded session: what the prompt still has of what the model uses, call by call.

`seen` is the share of names that the agent wrote, had been shown, and that stand in the prompt as served
at that call. `basis` is the share of edits whose old text had been shown and is still there. A miss has its price:
the agent would have to look again at what last showed the thing: an output or a person's words, or else its own. The
session's own directory is left out of all names: every harness has it in its system prompt.

A name is a run of letters, digits and `_ . @ ~ + / -` that is one of these: a path (a slash within, or an extension),
an identifier (an underscore within, camelCase, or dotted), a number of three digits or more, or a hash (seven hex
digits or more); or the first words behind an `Error:`. Prose is left out, and what is longer than 160 characters.
A longer name shows the shorter ones in it: a path its ends (`src/a.py` shows `a.py`), a dotted name its identifiers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from services.domain.tokens import tokens
from services.edges.client.changes import FileEdit, flat
from services.edges.client.cost import CACHED, NEW

LONGEST = 160
SHORTEST_DOTTED = 5
DIGITS = 3

_RUN = re.compile(r"[\w.@~+/-]+")
_PIECE = re.compile(r"[/.@~+-]+")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_HASH = re.compile(r"(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,160}")
_ERROR = re.compile(r"(?:Error|Exception|error|panic)\b: {0,3}([^\n]{8,400})")
_ERROR_WORDS = 6


def names(text: str) -> frozenset[str]:
    """The names in a text, each as it is written."""
    found = {name for run in _RUN.findall(text) if (name := run.strip(".@~+/-")) and is_name(name)}
    return frozenset(found | set(_errors(text)))


def is_name(word: str) -> bool:
    """Whether a run of characters names something."""
    if len(word) > LONGEST:
        return False
    if "/" in word:
        return all(len(piece) > 1 for piece in word.split("/") if piece)
    return _is_plain_name(word) or ("." in word and len(word) >= SHORTEST_DOTTED)


def _is_plain_name(word: str) -> bool:
    if word.isdecimal():
        return len(word) >= DIGITS
    return "_" in word.strip("_") or bool(_CAMEL.search(word)) or bool(_HASH.fullmatch(word))


def _errors(text: str) -> Iterator[str]:
    for message in _ERROR.findall(text):
        yield " ".join(message.split()[:_ERROR_WORDS])


def shows(text: str) -> frozenset[str]:
    """The names in a text, and the shorter ones that they show."""
    whole = names(text)
    return whole | {short for name in whole if len(name) <= LONGEST for short in _within(name)}


def _within(name: str) -> Iterator[str]:
    at = name.find("/")
    while at >= 0:
        yield name[at + 1 :]
        at = name.find("/", at + 1)
    yield from (piece for piece in _PIECE.split(name) if piece != name and _is_plain_name(piece))


class AgentOutput(msgspec.Struct, frozen=True):
    """An agent's output in one answer: its words and the arguments of its calls, without its thoughts."""

    source: str
    texts: tuple[str, ...]
    edits: tuple[FileEdit, ...] = ()


class VisibleText(msgspec.Struct, frozen=True):
    """A person's words or a tool's output, as it was before any plan changed it."""

    source: str
    text: str


class CallRecall(msgspec.Struct, frozen=True):
    """One call. Units are those of a plain input token."""

    names: int
    """Names that the agent wrote and had been shown."""
    found: int
    """Those of them that stand in the prompt as served."""
    missing: frozenset[str]
    edits: int
    """Changes to files whose old text had been shown."""
    based: int
    """Those of them whose old text is in the prompt as served."""
    misses: int
    """Outputs and messages that would have to be looked at again."""
    units: float
    """The cost of looking at these again, in units of a plain input token."""


class RecallOfCalls(msgspec.Struct, frozen=True):
    """Several calls together."""

    names: int = 0
    found: int = 0
    edits: int = 0
    based: int = 0
    misses: int = 0
    units: float = 0.0

    @property
    def seen(self) -> float:
        return self.found / self.names if self.names else 1.0

    @property
    def basis(self) -> float:
        return self.based / self.edits if self.edits else 1.0


def recalled(calls: Iterable[CallRecall | RecallOfCalls]) -> RecallOfCalls:
    total = RecallOfCalls()
    for call in calls:
        total = RecallOfCalls(
            *(getattr(total, field) + getattr(call, field) for field in RecallOfCalls.__struct_fields__)
        )
    return total


class Recall:
    """One session's calls, in their order.

    The content of a prompt is counted text by text: a call costs as much as what changed since the one before.
    """

    def __init__(self, directory: str = "") -> None:
        self._directory = directory
        self._read: dict[str, _PromptText] = {}
        """The names in each text of the newest prompt."""
        self._order: tuple[str, ...] = ()
        self._standing: Counter[str] = Counter()
        """The number of these texts that have each name."""
        self._last: dict[str, str] = {}
        """Name -> the place where it was shown last, by others if others did."""
        self._sources: dict[str, _Source] = {}
        """All that was ever shown, by where; what was shown last comes last."""
        self._again: set[str] = set()
        """The places that have been looked at again since the last rebase."""

    def call(self, served: Sequence[str], written: AgentOutput, raw: Iterable[VisibleText], prompt: int) -> CallRecall:
        """Judge one answer.

        `served`: all texts of the prompt, in their order. `raw`: what was shown since the call before, as it was.
        `prompt`: the size of the prompt in tokens.
        """
        self._stand(tuple(served))
        for one in raw:
            self._show(one)
        known = {name for text in written.texts for name in names(self._local(text)) if name in self._last}
        missing = frozenset(name for name in known if self._standing[name] == 0)
        edits = [(where, self._stands(edit.old)) for edit in written.edits if (where := self._shown(edit.old))]
        lost = {self._last[name] for name in missing if not self._is_back(name)}
        misses = sorted(lost | {where for where, stands in edits if not stands} - self._again)
        self._again.update(misses)
        for text in written.texts:
            self._own(VisibleText(written.source, text))
        return CallRecall(
            names=len(known),
            found=len(known) - len(missing),
            missing=missing,
            edits=len(edits),
            based=sum(stands for _, stands in edits),
            misses=len(misses),
            units=sum(CACHED * prompt + NEW * self._sources[where].tokens for where in misses),
        )

    def _stand(self, served: tuple[str, ...]) -> None:
        """Take the new prompt in the place of the one before."""
        if served[: len(self._order)] != self._order:
            self._again.clear()
        now = set(served)
        for text in self._read.keys() - now:
            self._standing.subtract(self._read.pop(text).names)
        for text in now - self._read.keys():
            self._read[text] = _PromptText(shows(self._local(text)), flat(text))
            self._standing.update(self._read[text].names)
        self._order = served

    def _is_back(self, name: str) -> bool:
        return any(name in self._sources[where].names for where in self._again)

    def _stands(self, old: str) -> bool:
        wanted = flat(old)
        return any(wanted in text.flat for text in self._read.values())

    def _show(self, shown: VisibleText) -> None:
        self._last.update(dict.fromkeys(self._add(shown), shown.source))

    def _own(self, shown: VisibleText) -> None:
        """Note a text of the agent's own. It shows only what nobody else has: a mention is no place to read up on."""
        for name in self._add(shown):
            self._last.setdefault(name, shown.source)

    def _add(self, shown: VisibleText) -> frozenset[str]:
        before = self._sources.pop(shown.source, _Source(frozenset(), "", 0))
        found = shows(self._local(shown.text))
        size = tokens(len(shown.text.encode("utf-8", "replace")))
        whole = f"{before.flat}\n{flat(shown.text)}"
        self._sources[shown.source] = _Source(before.names | found, whole, before.tokens + size)
        return found

    def _local(self, text: str) -> str:
        return text.replace(self._directory, "") if self._directory else text

    def _shown(self, old: str) -> str:
        """The place where a text was shown last; empty if it never was."""
        wanted = flat(old)
        return next((where for where, source in reversed(self._sources.items()) if wanted in source.flat), "")


class _PromptText(msgspec.Struct, frozen=True):
    """A text of a prompt."""

    names: frozenset[str]
    flat: str


class _Source(msgspec.Struct, frozen=True):
    """All that one message or output has shown."""

    names: frozenset[str]
    flat: str
    tokens: int
