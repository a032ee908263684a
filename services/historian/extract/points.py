"""What was said in a unit that is worth keeping, sentence by sentence: a person's words, and the agent's."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from services.historian.extract import marks
from services.historian.extract.moments import Moment, moments
from services.historian.extract.passages import opening, passages, sentences
from services.historian.extract.sentences import LONGEST, is_fence, is_speech, says_much
from services.historian.extract.steps import Step
from services.historian.extract.work import trouble
from services.kit.history.clean import beginning, flat, unlinked
from services.kit.history.names import names

PERSON, AGENT = "U", "A"
LONG_MESSAGE = 700
"""Characters up to which a person's message is kept whole; of a longer one sentences are chosen."""
TRIVIAL = 12
"""Characters up to which a message is only a yes or a go on."""
LETTERS = 2
"""Letters that a message has at least."""
THOUGHT = 0.5
"""What a thought counts before its contents."""
FIRST = 3
"""Sentences that a report says the most in."""
_WONDERS = re.compile(
    r"[?\uff1f]|\b(?:let me|i(?:['\u2019]ll| should| need| could| think| want| wonder| am| might|['\u2019]m"
    r"|['\u2019]d)|maybe|perhaps|might|wait|hmm|actually"
    r"|we (?:need|should|could|might)|not sure|seems?|probably|the user)\b",
    re.IGNORECASE,
)
"""A thought that is not at its end."""
_FAULT = re.compile(r"\b\w*(?:Error|Exception)\b|\b(?:error|fatal|failed|cannot)\b", re.IGNORECASE)
_QUESTION = ("?", "\uff1f")


class Point(msgspec.Struct, frozen=True):
    """A sentence, how much it tells, and where it stands."""

    text: str
    weight: float
    at: int = 0
    """The ordinal of its message."""
    who: str = AGENT
    passage: int = 0
    """Sentences of one number stand together."""
    number: int = 0
    """Its place there."""
    head: str = ""
    """What the passage stands below."""
    listed: bool = False
    """Whether it is an item of a list."""
    last: bool = False
    """Whether it is of the last that the agent said before a person spoke again, or the unit ended."""
    rule: bool = False
    """Whether it says how it is to be or not to be."""


class Points(msgspec.Struct, frozen=True):
    """What a unit says, in the words of those who said it, and in its order."""

    said: tuple[Point, ...] = ()
    openings: tuple[str, ...] = ()
    """The first sentence of each message of a person."""
    first: str = ""
    """The first words of anyone, or the first thing that was looked for."""

    @property
    def wishes(self) -> tuple[Point, ...]:
        """A person's words."""
        return tuple(one for one in self.said if one.who == PERSON)

    @property
    def told(self) -> tuple[Point, ...]:
        """The agent's."""
        return tuple(one for one in self.said if one.who == AGENT)


def points(unit: Sequence[Step]) -> Points:
    said: list[Point] = []
    for made in _said(unit):
        number = said[-1].passage + 1 if said else 0
        said += [msgspec.structs.replace(one, passage=one.passage + number) for one in made]
    return Points(
        said=tuple(said),
        openings=tuple(one for step in unit for text in step.asked if (one := opening(text))),
        first=next(
            (beginning(flat(text.replace("```", " ")), LONGEST) for step in unit for text in _anything(step) if text),
            "",
        ),
    )


def _said(unit: Sequence[Step]) -> Iterator[list[Point]]:
    """Each text as points, in order."""
    for at, step in enumerate(unit):
        for text in step.asked:
            yield _whole(text, step) or list(_asked(text, step))
        for text in step.thought:
            yield list(_thought(text, step))
        for moment in moments(unit, at):
            yield list(_told(moment))
        for call in step.calls:
            if call.report or call.plan:
                yield list(_told(Moment(step, call.report or call.plan, last=True), call.target if call.report else ""))


def _told(moment: Moment, source: str = "") -> Iterator[Point]:
    """What the agent said, or was told: a report says more than a remark, and a reason more than an announcement."""
    edits = any(call.act == "edit" for call in moment.after)
    mends = any(trouble(call) for call in moment.before)
    count = 0
    for passage, found in enumerate(passages(moment.text)):
        for number, item in enumerate(found.items):
            count += 1
            is_item = found.listed and bool(found.head)
            is_question = item.endswith(_QUESTION)
            if marks.OFFER.search(item) or not (says_much(item) or is_item) or (is_question and not moment.last):
                continue
            announced = marks.ANNOUNCEMENT.search(item)
            weight = _telling(item) + 1.0 * mends + 1.2 * edits - 0.3 * (found.listed and not says_much(item))
            if moment.last:
                weight += 3.0 if count <= FIRST else 2.0
            if announced or (marks.DOING.search(item) and not moment.last):
                weight -= 0.7 if edits else 3.0
            text = (_stated(item) if edits else item).rstrip(" :\uff1a")
            head = source if source and not passage and not found.head else found.head
            where = (passage, number, head, found.listed)
            yield Point(beginning(text, LONGEST), weight, moment.step.last, AGENT, *where, moment.last)


def _telling(sentence: str) -> float:
    """How much it tells by its words: names, reasons and outcomes."""
    weight = 0.5 + min(3, len(set(names(sentence)))) * 0.4 + 0.3 * ("`" in sentence)
    weight += 1.2 * bool(marks.DECISION.search(sentence)) + 0.6 * bool(marks.OUTCOME.search(sentence))
    return weight - 0.05 * max(0, 40 - len(sentence)) - 0.002 * max(0, len(sentence) - 200)


def _stated(item: str) -> str:
    """`Now let me fix the parser` as what is done: `Fix the parser`."""
    announced = marks.ANNOUNCEMENT.search(item) or marks.LEADING.search(item)
    rest = item[announced.end() :].lstrip(" ,\uff0c") if announced else ""
    return rest[0].upper() + rest[1:] if len(rest) * 2 > len(item) else item


def _thought(text: str, step: Step) -> Iterator[Point]:
    """Of what an agent says to itself, only what it found or decided; it counts less than what it says aloud."""
    for passage, sentence in enumerate(sentences(text)):
        if says_much(sentence) and marks.DECISION.search(sentence) and not _WONDERS.search(sentence):
            weight = THOUGHT + min(3, len(set(names(sentence)))) * 0.5 - 0.004 * max(0, len(sentence) - 160)
            yield Point(beginning(sentence, LONGEST), weight, step.last, AGENT, passage)


def _whole(text: str, step: Step) -> list[Point]:
    """A message of a few sentences, as it is, with a stroke for the end of a line; none where it is longer."""
    plain = " / ".join(line for raw in unlinked(text).splitlines() if (line := flat(raw)) and not is_fence(line))
    if len(plain) > LONG_MESSAGE:
        return []
    is_trivial = len(plain) <= TRIVIAL and plain.isascii()
    if sum(one.isalpha() for one in plain) < LETTERS:
        return [Point(plain, 0.0, step.first, PERSON)]
    rule = bool(marks.RULE.search(plain)) and not plain.endswith(_QUESTION)
    return [Point(plain, 1.0 if is_trivial else 6.0 + rule, step.first, PERSON, rule=rule)]


def _asked(text: str, step: Step) -> Iterator[Point]:
    """Of a long message how it begins and ends, its rules, and what else there is room for; of a paste the fault."""
    every = list(passages(text))
    has_fault = False
    for passage, found in enumerate(every):
        for number, item in enumerate(found.items):
            is_fault = not is_speech(item) and bool(_FAULT.search(item)) and not has_fault
            has_fault = has_fault or is_fault
            rule = bool(marks.RULE.search(item)) and not item.endswith(_QUESTION)
            if not (is_speech(item) or is_fault or found.listed):
                continue
            weight = 2.0 if is_speech(item) else 2.5 if is_fault else 0.3
            weight += 3.0 * (not passage and number < FIRST) + 0.7 * (not number) + 2.5 * rule
            weight += 0.5 * bool(rule and marks.LASTING.search(item)) - 0.003 * max(0, len(item) - 200)
            weight += 1.5 * (found is every[-1] and number + 1 == len(found.items) and is_speech(item))
            text = beginning(item, LONGEST)
            where = (passage, number, found.head, found.listed)
            yield Point(text, weight, step.first, PERSON, *where, rule=rule)


def _anything(step: Step) -> Iterator[str]:
    yield from (*step.asked, *step.told)
    for call in step.calls:
        yield f"{call.tool} {call.target}".strip()
