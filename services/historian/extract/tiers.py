"""A unit in four tiers: the fullest says who wanted what, what was decided and done; the shortest is one line."""

from collections.abc import Iterable, Sequence

import msgspec

from services.historian.drafts import ANCHORS, TITLE
from services.historian.extract.deeds import deeds
from services.historian.extract.index import Index
from services.historian.extract.points import Point, Points, chosen
from services.historian.extract.sentences import alike, sentences, words
from services.historian.extract.work import Work
from services.kit.history.clean import beginning
from services.kit.history.names import base, is_file

SECOND, THIRD, FOURTH = 440, 150, 70
"""Bytes that the shorter tiers go for, before anchors."""
LEAST = 120
"""Bytes of the fullest tier, however little there is to shorten."""
QUOTE, SHORT_QUOTE = 480, 140
TELLING = 20
"""UTF-8 bytes of a wish that is more than `yes, do that`."""
EMPTY = "Nothing was said or done"
_SAME = 0.8


class Tiers(msgspec.Struct, frozen=True):
    """The texts, each at least as long as the next, and what stands in all of them."""

    title: str
    anchors: tuple[str, ...]
    p1: str
    p2: str
    p3: str
    p4: str


def tiers(said: Points, done: Work, found: Index, room: int) -> Tiers:
    """`room`: bytes of the fullest tier."""
    room = max(room, LEAST)
    title = _title(said, done)
    anchors = _anchors(done, found, room // 4)
    p1 = _anchored(_fullest(said, done, found, room), title, anchors)
    p2 = _anchored(_second(said, done, found), title, anchors)
    p3 = _anchored(_third(said, title), title, anchors)
    p4 = _anchored(beginning(title, FOURTH), title, anchors)
    texts = [p4]
    for text in (p3, p2, p1):
        texts.append(max(texts[-1], text, key=lambda one: len(one.encode())))
    return Tiers(title, anchors, texts[3], texts[2], texts[1], texts[0])


def _title(said: Points, done: Work) -> str:
    wish = next((wish.text for wish in said.wishes if len(wish.text.encode()) >= TELLING), "")
    subject = next((one.subject for one in reversed(done.commits) if one.subject), "")
    told = chosen(said.told, TITLE)
    short = next((wish.text for wish in said.wishes), "")
    files = ", ".join(base(path) for path, _ in done.changed[:3])
    candidates = (
        next(sentences(wish), wish), subject, *(point.text for point in told[:1]), short,
        f"Changed {files}" if files else "",
        f"Read {', '.join(map(base, done.read[:3]))}" if done.read else "",
        f"Ran {done.runs[0].command}" if done.runs else "",
        said.first,
        EMPTY,
    )  # fmt: skip
    return beginning(next(text for text in candidates if text.strip()).rstrip(" :\uff1a"), TITLE)


def _anchors(done: Work, found: Index, room: int) -> tuple[str, ...]:
    """The files and commits that the unit is about, and the identifiers that came up most."""
    files = [base(path) for path, _ in done.changed[:3]] or [base(path) for path in done.read[:2]]
    hashes = [one.hash for one in done.commits[-2:]]
    own = [name for name in found.ordered if name in found.own]
    identifiers = (own or [name for name in found.ordered if not is_file(name) and not name.isdecimal()])[:2]
    kept: list[str] = []
    for name in dict.fromkeys((*files, *hashes, *identifiers)):
        if len(kept) < ANCHORS and sum(map(len, kept)) + len(name.encode()) + 2 * len(kept) <= room:
            kept.append(name)
    return tuple(kept)


def _anchored(text: str, title: str, anchors: Sequence[str]) -> str:
    """The text with those of the anchors that it lacks."""
    missing = ", ".join(name for name in anchors if name not in text)
    text = text or title
    if not missing:
        return text
    return f"{text}\nAbout: {missing}" if "\n" in text else f"{text} ({missing})"


def _fullest(said: Points, done: Work, found: Index, room: int) -> str:
    """As much as there is room for: what people said comes before what was done, and that before the agent's words."""
    quotes = _quotes(said, room // 2)
    facts = list(deeds(done, found, said.question))
    left = room - _size(quotes)
    kept = _fitting(facts, max(left * 3 // 5, LEAST // 2))
    told = [f"- {point.text}" for point in chosen(said.told, max(0, left - _size(kept)))]
    return "\n".join((*quotes, *told, *kept))


def _quotes(said: Points, room: int) -> list[str]:
    """A person's words in their order: what weighs most is kept."""
    weighed = _wanted(said)
    taken: list[tuple[int, int, str]] = []
    for number, point in sorted(enumerate(weighed), key=lambda pair: (-pair[1].weight, pair[0])):
        told = words(point.text)
        if any(alike(told, words(other)) >= _SAME for _, _, other in taken):
            continue
        for line in _fitting([f"U: {beginning(point.text, QUOTE)}"], room):
            taken.append((point.at, number, line))
            room -= len(line.encode()) + 1
    return [line for _, _, line in sorted(taken)]


def _wanted(said: Points) -> list[Point]:
    """Wishes and rules; a rule that stands in a wish is part of that, and makes it weightier."""
    inside = [(wish, [rule for rule in said.rules if rule.text in wish.text]) for wish in said.wishes]
    wishes = [
        msgspec.structs.replace(wish, weight=wish.weight + max((rule.weight for rule in rules), default=0.0))
        for wish, rules in inside
    ]
    told = {rule for _, rules in inside for rule in rules}
    return [*wishes, *(rule for rule in said.rules if rule not in told)]


def _second(said: Points, done: Work, found: Index) -> str:
    wishes = sorted(_wanted(said), key=lambda one: -one.weight)[:1]
    quotes = [f"U: {beginning(point.text, SHORT_QUOTE)}" for point in wishes]
    files = [f"Changed: {', '.join(base(path) for path, _ in done.changed[:4])}"] if done.changed else []
    hashes = [f"Commits: {', '.join(one.hash for one in done.commits[-4:])}"] if done.commits else []
    left = SECOND - _size([*quotes, *files, *hashes])
    told = [f"- {point.text}" for point in chosen(said.told, left)]
    short = [*quotes, *told, *hashes, *files]
    rest = () if told else _fitting(deeds(done, found, said.question), SECOND - _size(short))
    return "\n".join((*short, *(line for line in rest if not line.startswith(("Changed", "Commits")))))


def _third(said: Points, title: str) -> str:
    short = beginning(title, FOURTH)
    told = chosen([point for point in said.told if len(point.text) <= THIRD - len(short)], THIRD - len(short))
    best = max(told, key=lambda one: one.weight).text if told else ""
    return f"{short}: {best}" if best and best != title else beginning(title, THIRD)


def _fitting(texts: Iterable[str], room: int) -> list[str]:
    """Those that there is room for, in their order; the first that there is none for is cut."""
    kept: list[str] = []
    for text in texts:
        left = room - _size(kept)
        if len(text.encode()) < left:
            kept.append(text)
        elif left >= LEAST:
            kept.append(beginning(text, left * len(text) // len(text.encode()) - 1))
    return kept


def _size(texts: Iterable[str]) -> int:
    """UTF-8 bytes of lines."""
    return sum(len(text.encode()) + 1 for text in texts)
