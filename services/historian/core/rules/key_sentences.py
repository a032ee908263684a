"""Sentences of a unit that are worth keeping: a person's, and the agent's."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from services.domain.texts import phrase_patterns
from services.domain.texts.abridged import abridged, is_rule, rules_in
from services.domain.texts.bounds import beginning, flat, unlinked
from services.domain.texts.paragraphs import opening, paragraphs, sentences
from services.domain.texts.sentences import LONGEST, is_fence, is_informative, is_speech
from services.domain.tools.call import Call
from services.domain.transcript.labels import is_settled
from services.domain.transcript.names import names
from services.historian.core.rules.steps import Step
from services.historian.core.rules.work import trouble


class Turn(msgspec.Struct, frozen=True):
    """A text of the agent, with what it did around it."""

    step: Step
    text: str
    before: tuple[Call, ...] = ()
    """Since the agent or a person last wrote something."""
    after: tuple[Call, ...] = ()
    """Up to the next text."""
    last: bool = False


def turns(unit: Sequence[Step], at: int) -> Iterator[Turn]:
    """The texts of one step."""
    step = unit[at]
    for number, move in enumerate(step.moves):
        if isinstance(move, Call):
            continue
        after = _following(unit, at, number)
        yield Turn(step, move, _leading(unit, at, number), after, not after)


def _following(unit: Sequence[Step], at: int, number: int) -> tuple[Call, ...]:
    """The calls between a text and the next one."""
    calls: list[Call] = []
    for move in _moves(unit, at, number):
        if isinstance(move, Call):
            calls.append(move)
        elif calls:
            break
    return tuple(calls)


def _moves(unit: Sequence[Step], at: int, number: int) -> Iterator[str | Call]:
    """The moves behind one, before a person speaks."""
    yield from unit[at].moves[number + 1 :]
    for step in unit[at + 1 :]:
        if step.requests:
            return
        yield from step.moves


def _leading(unit: Sequence[Step], at: int, number: int) -> tuple[Call, ...]:
    """The calls right before a text."""
    before = unit[at].moves[:number] or (unit[at - 1].moves if at and not unit[at].requests else ())
    calls: list[Call] = []
    for move in reversed(before):
        if not isinstance(move, Call):
            break
        calls.append(move)
    return tuple(calls)


PERSON, AGENT, TASK = "U", "A", "Task"
ASKING = frozenset({PERSON, TASK})
"""The labels of those who ask for work: a person, or the agent that started the session."""
LONG_MESSAGE = 700
"""Characters up to which a person's message stays whole; of a longer one sentences are chosen."""
TRIVIAL = 12
"""Characters up to which a message is only a yes or a go on."""
LETTERS = 2
"""Letters that a message has at least."""
THOUGHT = 0.5
"""The weight of a thought before its contents count."""
SETTLED = 6.0
"""The additional weight of a sentence that is labelled as decided or open: it is listed with a person's words."""
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
_NAME = re.compile(r"[\d/_`]")
"""Characters of the name of a file, a table or a setting, and of no word."""
_QUESTION = ("?", "\uff1f")


class KeySentence(msgspec.Struct, frozen=True):
    """A sentence, how informative it is, and its place."""

    text: str
    weight: float
    at: int = 0
    """The ordinal of its message."""
    who: str = AGENT
    paragraph: int = 0
    """Sentences of one number stand together."""
    number: int = 0
    """Its place there."""
    head: str = ""
    """The heading of the paragraph."""
    listed: bool = False
    """Whether it is an item of a list."""
    last: bool = False
    """Whether it is of the last that the agent wrote before a person spoke again, or the unit ended."""
    rule: bool = False
    """Whether it says how it is to be or not to be."""


class KeySentences(msgspec.Struct, frozen=True):
    """The sentences of a unit that are worth keeping, in the words of their authors, and in order."""

    every: tuple[KeySentence, ...] = ()
    openings: tuple[str, ...] = ()
    """The first sentence of each message that asks for something."""
    first: str = ""
    """The first words of anyone, or the first thing that was looked for."""

    @property
    def asked(self) -> tuple[KeySentence, ...]:
        """The words of those who ask for work."""
        return tuple(one for one in self.every if one.who in ASKING)

    @property
    def agents(self) -> tuple[KeySentence, ...]:
        """The agent's."""
        return tuple(one for one in self.every if one.who == AGENT)


def key_sentences(unit: Sequence[Step]) -> KeySentences:
    found: list[KeySentence] = []
    for made in _each_text(unit):
        number = found[-1].paragraph + 1 if found else 0
        found += [msgspec.structs.replace(one, paragraph=one.paragraph + number) for one in made]
    return KeySentences(
        every=tuple(found),
        openings=tuple(one for step in unit for text in step.requests if (one := opening(text))),
        first=next(
            (beginning(flat(text.replace("```", " ")), LONGEST) for step in unit for text in _anything(step) if text),
            "",
        ),
    )


def _each_text(unit: Sequence[Step]) -> Iterator[list[KeySentence]]:
    """The key sentences of each text, in order."""
    for at, step in enumerate(unit):
        who = TASK if step.is_task else PERSON
        for text in step.requests:
            yield _whole(text, step, who) or list(_from_request(text, step, who))
        for text in step.thought:
            yield list(_from_thought(text, step))
        for turn in turns(unit, at):
            yield list(_from_agent(turn))
        for call in step.calls:
            if call.report or call.plan:
                yield list(
                    _from_agent(Turn(step, call.report or call.plan, last=True), call.about if call.report else "")
                )


def _from_agent(turn: Turn, source: str = "") -> Iterator[KeySentence]:
    """Sentences that the agent wrote, or that were reported to it.

    A report says more than a remark, and a reason more than an announcement.
    """
    edits = any(call.kind == "edit" for call in turn.after)
    mends = any(trouble(call) for call in turn.before)
    count = 0
    for paragraph, found in enumerate(paragraphs(turn.text)):
        for number, item in enumerate(found.items):
            count += 1
            is_item = found.listed and bool(found.head)
            is_question = item.endswith(_QUESTION)
            settled = is_settled(f"{found.head}: {item}" if found.head else item)
            if phrase_patterns.OFFER.search(item) or not (is_informative(item) or is_item or settled):
                continue
            if is_question and not (turn.last or settled):
                continue
            announced = phrase_patterns.ANNOUNCEMENT.search(item)
            weight = _information(item) + 1.0 * mends + 1.2 * edits - 0.3 * (found.listed and not is_informative(item))
            if turn.last:
                weight += 3.0 if count <= FIRST else 2.0
            if announced or (phrase_patterns.DOING.search(item) and not turn.last):
                weight -= 0.7 if edits else 3.0
            weight += SETTLED * settled
            text = (_stated(item) if edits else item).rstrip(" :\uff1a")
            head = source if source and not paragraph and not found.head else found.head
            where = (paragraph, number, head, found.listed)
            yield KeySentence(beginning(text, LONGEST), weight, turn.step.last, AGENT, *where, turn.last)


def _information(sentence: str) -> float:
    """The weight of a sentence by its words: names, reasons and outcomes."""
    weight = 0.5 + min(3, len(set(names(sentence)))) * 0.4 + 0.3 * ("`" in sentence)
    weight += 1.2 * bool(phrase_patterns.DECISION.search(sentence)) + 0.6 * bool(
        phrase_patterns.OUTCOME.search(sentence)
    )
    return weight - 0.05 * max(0, 40 - len(sentence)) - 0.002 * max(0, len(sentence) - 200)


def _stated(item: str) -> str:
    """`Now let me fix the parser` as what is done: `Fix the parser`."""
    announced = phrase_patterns.ANNOUNCEMENT.search(item) or phrase_patterns.LEADING.search(item)
    rest = item[announced.end() :].lstrip(" ,\uff0c") if announced else ""
    return rest[0].upper() + rest[1:] if len(rest) * 2 > len(item) else item


def _from_thought(text: str, step: Step) -> Iterator[KeySentence]:
    """Of what an agent says to itself, only what it found or decided; it counts less than what it says aloud."""
    for paragraph, sentence in enumerate(sentences(text)):
        if is_informative(sentence) and phrase_patterns.DECISION.search(sentence) and not _WONDERS.search(sentence):
            weight = THOUGHT + min(3, len(set(names(sentence)))) * 0.5 - 0.004 * max(0, len(sentence) - 160)
            yield KeySentence(beginning(sentence, LONGEST), weight, step.last, AGENT, paragraph)


def _whole(text: str, step: Step, who: str) -> list[KeySentence]:
    """A message of a few sentences, as it is, with a stroke for the end of a line; none where it is longer."""
    plain = " / ".join(line for raw in unlinked(text).splitlines() if (line := flat(raw)) and not is_fence(line))
    if len(plain) > LONG_MESSAGE:
        return []
    is_trivial = len(plain) <= TRIVIAL and plain.isascii()
    if sum(one.isalpha() for one in plain) < LETTERS:
        return [KeySentence(plain, 0.0, step.first, who)]
    rule = bool(rules_in(plain))
    return [KeySentence(plain, 1.0 if is_trivial else 6.0 + rule, step.first, who, rule=rule)]


def _from_request(text: str, step: Step, who: str) -> Iterator[KeySentence]:
    """Of a long message how it begins and ends, its rules, and what else there is room for; of a paste the fault."""
    every = list(paragraphs(text))
    has_fault = False
    for paragraph, found in enumerate(every):
        for number, item in enumerate(found.items):
            is_fault = not is_speech(item) and bool(_FAULT.search(item)) and not has_fault
            has_fault = has_fault or is_fault
            rule = is_rule(item)
            is_statement = is_speech(item) or (rule and _is_ruling(item))
            if not (is_statement or is_fault or found.listed):
                continue
            weight = 2.0 if is_statement else 2.5 if is_fault else 1.0
            weight += 3.0 * (not paragraph and number < FIRST) + 0.7 * (not number) + 2.5 * rule
            weight += 0.5 * bool(rule and phrase_patterns.LASTING.search(item)) - 0.003 * min(
                200, max(0, len(item) - 200)
            )
            weight += 1.5 * (found is every[-1] and number + 1 == len(found.items) and is_statement)
            text = abridged(item, LONGEST)
            where = (paragraph, number, found.head, found.listed)
            yield KeySentence(text, weight, step.first, who, *where, rule=rule)


def _is_ruling(item: str) -> bool:
    """Whether a rule is a person's though there are few letters in it: for its short words, or the names in it."""
    plain = " ".join(word for word in item.split() if not _NAME.search(word))
    return phrase_patterns.RULE.match(item) is not None or is_speech(plain)


def _anything(step: Step) -> Iterator[str]:
    yield from (*step.requests, *step.reports)
    for call in step.calls:
        yield f"{call.tool} {call.about}".strip()
