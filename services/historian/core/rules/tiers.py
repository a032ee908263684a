"""A unit in four tiers: the fullest says who wanted what, what was decided and done; the shortest is one line."""

from collections.abc import Sequence

import msgspec

from services.domain.texts.abridged import abridged
from services.domain.texts.bounds import beginning
from services.domain.texts.sentences import is_informative
from services.domain.transcript.labels import is_settled
from services.domain.transcript.names import base, is_file, names
from services.historian.core.rules.actions import actions
from services.historian.core.rules.choice import choose_sentences, lines
from services.historian.core.rules.index import NameIndex
from services.historian.core.rules.key_sentences import KeySentence, KeySentences
from services.historian.core.rules.todos import TaskPlan
from services.historian.core.rules.work import UnitWork
from services.historian.core.summary import ANCHORS

SECOND, THIRD, FOURTH = 440, 150, 70
"""Bytes that the shorter tiers go for, before anchors."""
LEAST = 120
"""Bytes of the fullest tier, however little there is to shorten."""
SHORT_QUOTE, SHORT_REPORT = 160, 200


class Tiers(msgspec.Struct, frozen=True):
    """The texts, each at least as long as the next, and the names that are in all of them."""

    title: str
    anchors: tuple[str, ...]
    p1: str
    p2: str
    p3: str
    p4: str


class ReadUnit(msgspec.Struct, frozen=True):
    """A unit, read."""

    sentences: KeySentences
    done: UnitWork
    found: NameIndex
    plan: TaskPlan
    title: str

    @property
    def key_sentences(self) -> list[KeySentence]:
        """All lines of its fullest tier, in order."""
        return [*self.sentences.every, *actions(self.done, self.found, self.plan)]


def tiers(unit: ReadUnit, room: int) -> Tiers:
    """`room`: bytes of the fullest tier."""
    room = max(room, LEAST)
    title = unit.title
    anchors = _anchors(unit, room // 4)
    p1 = _anchored("\n".join(lines(choose_sentences(unit.key_sentences, room))), title, anchors)
    p2 = _anchored(_second(unit), title, anchors)
    p3 = _anchored(_third(unit.sentences, title), title, anchors)
    p4 = _anchored(beginning(title, FOURTH), title, anchors)
    texts = [p1]
    for text in (p2, p3, p4):
        texts.append(min(texts[-1], text, key=lambda one: len(one.encode())))
    return Tiers(title, anchors, *texts)


def _anchors(unit: ReadUnit, room: int) -> tuple[str, ...]:
    """The files and commits that the unit is about, and what it defined, or spoke of most."""
    done, found = unit.done, unit.found
    files = [base(path) for path, _ in done.changed[:3]] or [base(path) for path in done.read[:2]]
    hashes = [one.hash for one in done.commits[-2:]]
    own = [name for name in found.ordered if name in found.own]
    mentioned = {name for one in unit.sentences.every for name in names(one.text)}
    identifiers = [name for name in own or found.ordered if name in mentioned or own]
    plain = [name for name in identifiers if not is_file(name) and not name.isdecimal()][:2]
    found_names: list[str] = []
    for name in dict.fromkeys((*files, *hashes, *plain)):
        if (
            len(found_names) < ANCHORS
            and sum(map(len, found_names)) + len(name.encode()) + 2 * len(found_names) <= room
        ):
            found_names.append(name)
    return tuple(found_names)


def _anchored(text: str, title: str, anchors: Sequence[str]) -> str:
    """The text with those of the anchors that it lacks."""
    missing = ", ".join(name for name in anchors if name not in text)
    text = text or title
    if not missing:
        return text
    return f"{text}\nAbout: {missing}" if "\n" in text else f"{text} ({missing})"


def _second(unit: ReadUnit) -> str:
    """The second tier: the request, the best sentences on it, and the outcome."""
    replace = msgspec.structs.replace
    requests = sorted(unit.sentences.asked, key=lambda one: -one.weight)[:1]
    quotes = [replace(one, text=abridged(one.text, SHORT_QUOTE), head="") for one in requests]
    reports = [one for one in unit.sentences.agents if _is_brief(one)]
    done = [*_short(unit.done), *(one for one in actions(unit.done, unit.found, unit.plan) if _is_short(one))]
    return "\n".join(lines(choose_sentences([*quotes, *reports, *done], SECOND)))


def _is_brief(one: KeySentence) -> bool:
    """Whether it says something by itself, in a few words."""
    is_informing = is_informative(one.text) or is_settled(f"{one.head}: {one.text}" if one.head else one.text)
    return is_informing and len(one.head) + len(one.text) <= SHORT_REPORT


def _short(done: UnitWork) -> list[KeySentence]:
    """Commits and files, without more."""
    made = [f"Commits: {', '.join(one.hash for one in done.commits[-4:])}"] if done.commits else []
    made += [f"Changed: {', '.join(base(path) for path, _ in done.changed[:4])}"] if done.changed else []
    return [KeySentence(text, 9.0, who="", paragraph=number) for number, text in enumerate(made)]


def _is_short(one: KeySentence) -> bool:
    return not one.text.startswith(("Commits", "Changed")) and len(one.text) <= SHORT_REPORT


def _third(sentences: KeySentences, title: str) -> str:
    short = beginning(title, FOURTH)
    room = THIRD - len(short.encode())
    fitting = [one for one in sentences.agents if len(one.text.encode()) <= room and not one.head and one.weight > 0]
    best = max(fitting, key=lambda one: one.weight).text if fitting else ""
    return f"{short}: {best}" if best and best != title else beginning(title, THIRD)
