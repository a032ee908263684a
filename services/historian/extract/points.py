"""What was said in a unit that is worth keeping: a person's wishes and rules, the agent's decisions and results."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from services.historian.extract import marks
from services.historian.extract.sentences import LONGEST, alike, headings, says_much, sentences, speech, words
from services.historian.extract.steps import Step
from services.kit.history.clean import beginning, flat
from services.kit.history.names import names

SAME = 0.7
"""Sentences that share so much of their words say the same."""
LONG_MESSAGE = 600
"""Characters from which on a message is a plan or a paste, of which only the beginning and the rules are kept."""
TRIVIAL = 12


_WONDERS = re.compile(
    r"[?\uff1f]|\b(?:let me|i(?:['\u2019]ll| should| need| could| think| want| wonder| am| might|['\u2019]m"
    r"|['\u2019]d)|maybe|perhaps|might|wait|hmm|actually"
    r"|we (?:need|should|could|might)|not sure|seems?|probably|the user)\b",
    re.IGNORECASE,
)
"""A thought that is not at its end."""
THOUGHT = 0.5


class Point(msgspec.Struct, frozen=True):
    """A sentence, how much it tells, and where it stands."""

    text: str
    weight: float
    at: int
    last: bool = False
    """Whether it is of the last that the agent said before a person spoke again, or the unit ended."""


class Points(msgspec.Struct, frozen=True):
    """What a unit says, in the words of those who said it."""

    wishes: tuple[Point, ...] = ()
    """A person's, in their order, by weight what they ask for."""
    rules: tuple[Point, ...] = ()
    """A person's sentences that say how it is to be or not to be."""
    told: tuple[Point, ...] = ()
    """The agent's."""
    question: str = ""
    """What the agent asked at the end."""
    first: str = ""
    """The first words of anyone, or the first thing that was looked for."""


def points(unit: Sequence[Step]) -> Points:
    told: list[Point] = []
    for at, step in enumerate(unit):
        last = at + 1 == len(unit) or bool(unit[at + 1].asked)
        for text in step.thought:
            told += _thought(text, step)
        for text in step.told:
            told += _told(text, step, last=last, acts=bool(step.calls))
    return Points(
        wishes=tuple(point for step in unit for text in step.asked for point in _wishes(text, step.first)),
        rules=_distinct(point for step in unit for text in step.asked for point in _rules(text, step.first)),
        told=tuple(point for point in told if point.weight > 0) or tuple(told),
        question=_question(unit),
        first=next((beginning(flat(text), LONGEST) for step in unit for text in _anything(step) if text), ""),
    )


def chosen(told: Sequence[Point], most: int) -> list[Point]:
    """The weightiest sentences that do not repeat each other and fit in so many characters, in their order."""
    taken: list[tuple[Point, frozenset[str]]] = []
    room = most
    for point in sorted(told, key=lambda one: (-one.weight, one.at)):
        own = words(point.text)
        if len(point.text) + 3 <= room and all(alike(own, other) < SAME for _, other in taken):
            taken.append((point, own))
            room -= len(point.text) + 3
    order = {id(point): number for number, point in enumerate(told)}
    return sorted((point for point, _ in taken), key=lambda one: order[id(one)])


def _told(text: str, step: Step, *, last: bool, acts: bool) -> Iterator[Point]:
    for number, sentence in enumerate(sentences(text)):
        if marks.OFFER.search(sentence) or sentence.endswith(("?", "\uff1f")) or not says_much(sentence):
            continue
        weight = min(3, len(set(names(sentence)))) * 0.6 + 0.4 * ("`" in sentence)
        weight += 1.5 * bool(marks.DECISION.search(sentence)) + 1.0 * bool(marks.OUTCOME.search(sentence))
        weight += (2.0 if number < 3 else 0.8) * last  # noqa: PLR2004 - a report says the most at its beginning
        weight -= 1.5 * (acts and sentence.endswith((":", "\uff1a"))) + 1.0 * bool(marks.ANNOUNCEMENT.search(sentence))
        weight -= 0.5 * sentence[0].islower() + 0.02 * max(0, 40 - len(sentence))
        weight -= 2.0 * sentence.endswith((":", "\uff1a")) + 0.004 * max(0, len(sentence) - 160)
        yield Point(beginning(sentence, LONGEST), weight, step.last, last)


def _thought(text: str, step: Step) -> Iterator[Point]:
    """Of what an agent says to itself, only what it found or decided; it counts less than what it says aloud."""
    for sentence in sentences(text):
        if says_much(sentence) and marks.DECISION.search(sentence) and not _WONDERS.search(sentence):
            weight = THOUGHT + min(3, len(set(names(sentence)))) * 0.5 - 0.004 * max(0, len(sentence) - 160)
            yield Point(beginning(sentence, LONGEST), weight, step.last)


def _wishes(text: str, at: int) -> Iterator[Point]:
    if len(text) <= LONG_MESSAGE:
        plain = flat(text)
        if len(plain) >= TRIVIAL or any(not one.isascii() for one in plain):
            yield Point(plain, min(len(plain), LONGEST) / 100, at)
        return
    spoken = list(speech(text)) or [flat(text)]
    opening = beginning(" ".join(spoken), LONGEST)
    closing = beginning(spoken[-1], LONGEST // 2)
    yield Point(opening if closing in opening or len(spoken) == 1 else f"{opening} … {closing}", 3.0, at)
    outline = "; ".join(headings(text))
    if outline:
        yield Point(beginning(f"(parts) {outline}", LONGEST), 2.5, at)


def _rules(text: str, at: int) -> Iterator[Point]:
    for sentence in sentences(text):
        if marks.RULE.search(sentence) and not sentence.endswith(("?", "\uff1f")) and len(sentence) <= LONGEST:
            weight = 2.0 + 2.0 * bool(marks.LASTING.search(sentence)) - (1.0 if len(text) > LONG_MESSAGE else 0.0)
            yield Point(sentence, weight, at)


def _distinct(found: Iterator[Point]) -> tuple[Point, ...]:
    kept: list[Point] = []
    for point in found:
        if all(alike(words(point.text), words(other.text)) < SAME for other in kept):
            kept.append(point)
    return tuple(kept)


def _anything(step: Step) -> Iterator[str]:
    yield from (*step.asked, *step.told)
    for call in step.calls:
        yield f"{call.tool} {call.target}".strip()


def _question(unit: Sequence[Step]) -> str:
    last = unit[-1]
    if not last.told or last.calls:
        return ""
    asked = [one for one in sentences(last.told[-1]) if one.endswith(("?", "\uff1f")) and not marks.OFFER.search(one)]
    return beginning(asked[-1], LONGEST // 2) if asked else ""
