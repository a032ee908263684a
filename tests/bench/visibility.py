"""What of a session is still in sight, or a look-up away, when compartments take the place of its beginning. Pure."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from schemas.asks import ExpandAsk
from schemas.events import CompartmentSealed
from services.domain.texts import phrase_patterns
from services.domain.texts.content import RecordedMessage
from services.domain.transcript import commits
from services.domain.transcript.names import base, is_file, names
from services.historian.core.rules.steps import Step, steps
from services.historian.core.rules.work import trouble
from services.plan.session.state import Session
from services.responder.answers.expand import expanded, resolve

KINDS = ("file", "commit", "error", "constraint")
"""Of what is looked for: files that were worked on or spoken of, commits that were made, errors, a person's rules."""
TIERS = ("p1", "p2", "p3", "p4", "names")
SHORTEST, LONGEST = 12, 320
"""Characters of a constraint: less says nothing, and more is a paste."""
HASH = 7
"""Characters of a commit's hash that are enough of it."""
_ERROR = re.compile(r"(?:[A-Z]{2}|[CEFW])\d{3,4}|E[A-Z]{4,}|[A-Z]\w*(?:Error|Exception)")
"""Such as TS2345, ENOENT or KeyError."""
_FENCE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^\s*(?:[-*+•>]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)*")
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。\uff01\uff1f])\s*")
_SPAN = re.compile(r"^(?:- |## )(\d+)-(\d+)\b", re.MULTILINE)
_LAYOUT = re.compile(r"[\s*_\-]+")
_PAGES = re.compile(r"\bpage 1 of (\d+)\b")

Span = tuple[int, int]
"""The first message and the last."""


class Item(msgspec.Struct, frozen=True):
    """Something that a session says."""

    kind: str
    text: str
    """As it stands there; of a constraint, without its layout."""
    first: int
    """It was first mentioned in these messages: one, or those from a tool's call to its result."""
    last: int

    @property
    def name(self) -> str:
        """What it is recognised by: a file by its last part, a commit by its short hash."""
        return base(self.text) if self.kind == "file" else self.text[:HASH] if self.kind == "commit" else self.text


def collected(recorded: Sequence[RecordedMessage]) -> tuple[Item, ...]:
    """What these messages say, once each."""
    found: dict[tuple[str, str], Item] = {}
    for step in steps(recorded):
        for kind, text in _reported(step):
            found.setdefault((kind, text), Item(kind, text, step.first, step.last))
    known = {base(one.text) for one in found.values() if one.kind == "file" and "/" in one.text}
    return tuple(one for one in found.values() if one.kind != "file" or "/" in one.text or one.text not in known)


def _reported(step: Step) -> Iterator[tuple[str, str]]:
    texts = (*step.requests, *step.reports)
    outputs = [call.output for call in step.calls if trouble(call)]
    yield from (("file", path) for call in step.calls for path in call.files)
    yield from (("file", name) for text in texts for name in names(text) if is_file(name))
    yield from (("commit", one) for call in step.calls for one in commits.made_commits(call))
    yield from (("commit", one) for text in step.reports for one in commits.mentioned(text))
    yield from (("error", name) for text in (*texts, *outputs) for name in names(text) if _ERROR.fullmatch(name))
    yield from (("constraint", rule) for text in step.requests for rule in constraints(text))


def constraints(text: str) -> Iterator[str]:
    """Sentences of a person that say how it must be or must not be. They are read line by line, as they stand."""
    for line in _FENCE.sub("", text).splitlines():
        for sentence in _END.split(_MARK.sub("", line)):
            if (
                SHORTEST <= len(sentence) <= LONGEST
                and phrase_patterns.RULE.search(sentence)
                and sentence[-1] not in "?\uff1f"
            ):
                yield sentence.rstrip()


class Sight:
    """A text, and whether something can be seen in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._bare = _bare(text)

    def shows(self, item: Item) -> bool:
        """Whether a reader finds its name there; of a constraint, every word."""
        if item.kind == "constraint":
            return _bare(item.text) in self._bare
        if item.kind == "commit":
            return item.name in self.text
        return bool(re.search(rf"(?<![\w.\-]){re.escape(item.name)}(?![\w\-])", self.text))

    def holds(self, item: Item) -> bool:
        """Whether all of it stands there, verbatim."""
        return _bare(item.text) in self._bare if item.kind == "constraint" else item.text in self.text


def _bare(text: str) -> str:
    """Without the layout that sentences are read without: white space, emphasis, and marks of lists."""
    return _LAYOUT.sub("", text)


def rendered(text: str) -> Sight:
    """A history as a prompt holds it."""
    return Sight(html.unescape(text))


def reported(sealed: Iterable[CompartmentSealed], tier: str) -> Sight:
    """All compartments in one tier, or their names."""
    if tier == "names":
        return Sight("\n".join(name for one in sealed for name in one.names))
    return Sight("\n".join(getattr(one, tier) for one in sealed))


def spans(text: str) -> tuple[Span, ...]:
    """The messages that a history names, each compartment or run of archived ones by its first and last."""
    return tuple((int(first), int(last)) for first, last in _SPAN.findall(text))


class LookUps:
    """What `ctx_expand` answers about a session. Every answer is made once."""

    def __init__(self, session: Session, recorded: Sequence[RecordedMessage]) -> None:
        self._session = session
        self._recorded = {one.ordinal: one for one in recorded}
        self._answers: dict[ExpandAsk, Sight] = {}

    def page(self, item: Item, known: Sequence[Span]) -> int:
        """The page on which someone finds it who knows of these spans; 0: on none.

        One look-up shows the transcript of a span, or a message in it. A page behind the first is one that that names.
        """
        places = [place for place in range(item.first, item.last + 1) if place in self._recorded]
        around = {place: span for place in places for span in known if span[0] <= place <= span[1]}
        if any(self._shown(start=first, end=last).holds(item) for first, last in around.values()):
            return 1
        return min((page for place in around if (page := self._page(item, place))), default=0)

    def _page(self, item: Item, place: int) -> int:
        found = _PAGES.search(self._shown(message=str(place)).text)
        pages = range(1, int(found[1]) + 1 if found else 1)
        return next((page for page in pages if self._shown(message=str(place), page=page).holds(item)), 0)

    def _shown(self, *, start: int = 0, end: int = 0, message: str = "", page: int = 1) -> Sight:
        ask = ExpandAsk("", "", start=start, end=end, message=message, page=page)
        if ask not in self._answers:
            span = resolve(self._session, ask)
            recorded = [self._recorded[one.ordinal] for one in span.messages]
            self._answers[ask] = Sight(expanded(span, recorded, ask).text)
        return self._answers[ask]
