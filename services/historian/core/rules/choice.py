"""Chooses the sentences that there is room for, and sets them in order: those of one place on one line."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from services.domain.texts.abridged import octets, rules_in, with_rules
from services.domain.texts.bounds import beginning, flat
from services.domain.texts.posing import unposed_line
from services.domain.texts.sentences import alike, words
from services.historian.core.rules.key_sentences import AGENT, ASKING, PERSON, TASK, KeySentence

SAME, EQUAL = 0.7, 0.95
"""Sentences that share so much of their words say the same, and items of lists, which are often much alike."""
LEAST = 120
"""Bytes from which on it is worth to cut what there is no room for."""
SHORT_LIST = 160
"""Characters up to which a list is set on one line."""
_SET = 5
"""Bytes that it takes to set a sentence."""
_STOPS = " .;,\u3002\uff1b\uff0c"


class _Offer(msgspec.Struct, frozen=True):
    """A sentence, or of a person's message only its rules, and how many bytes all may have together with it."""

    at: int
    sentence: KeySentence
    most: int
    only_rules: bool = False


def choose_sentences(sentences: Sequence[KeySentence], room: int) -> list[KeySentence]:
    """The weightiest that do not repeat each other and fit in so many bytes, in their order.

    However much else there is, half of the room is for what was asked.
    """
    taken: dict[int, KeySentence] = {}
    word_sets = [_words(one) for one in sentences]
    ruled: dict[int, frozenset[str]] = {}
    heads: set[tuple[str, int]] = set()
    size = 0
    for one in _offers(sentences, room):
        key = (one.sentence.who, one.sentence.paragraph)
        replaced = octets(taken[one.at].text) if one.at in taken else 0
        around = (0 if one.at in taken else _SET) + (0 if key in heads else octets(one.sentence.head) + _SET)
        fitting = _fitting(one.sentence, one.most - size + replaced - around)
        if fitting is None or octets(fitting.text) <= replaced or _is_repeated(one, taken, word_sets, ruled):
            continue
        taken[one.at] = fitting
        if one.only_rules:
            ruled[one.at] = _words(one.sentence)
        heads.add(key)
        size += octets(fitting.text) - replaced + around
    return [taken[at] for at in sorted(taken)]


def _is_repeated(
    offer: _Offer,
    taken: Mapping[int, KeySentence],
    word_sets: Sequence[frozenset[str]],
    ruled: Mapping[int, frozenset[str]],
) -> bool:
    """Whether a sentence that is taken already means the same. A rule is another one by a single word."""
    who = offer.sentence.who
    if offer.only_rules:
        own = _words(offer.sentence)
        return any(own <= other for other in ruled.values())
    least = EQUAL if offer.sentence.listed else SAME
    others = (word_sets[at] for at, one in taken.items() if who and one.who == who and at != offer.at)
    return any(alike(word_sets[offer.at], other) >= least for other in others)


def _words(sentence: KeySentence) -> frozenset[str]:
    return words(f"{sentence.head} {sentence.text}" if sentence.listed else sentence.text)


def _offers(sentences: Sequence[KeySentence], room: int) -> Iterator[_Offer]:
    """The sentences in the order of choice: rules first, each up to half of the room; then everything by its weight.

    What was cut for want of room is offered once more.
    """
    ranked = sorted(range(len(sentences)), key=lambda at: (-sentences[at].weight, at))
    order = [at for at in ranked if sentences[at].weight > 0]
    asked = [at for at in order if sentences[at].who in ASKING]
    for at in asked:
        if rules := sentences[at].rule and rules_in(sentences[at].text):
            yield _Offer(at, msgspec.structs.replace(sentences[at], text=rules), max(room // 2, LEAST), only_rules=True)
    yield from (_Offer(at, sentences[at], room // 2) for at in asked)
    yield from (_Offer(at, sentences[at], room) for at in order)


def lines(sentences: Sequence[KeySentence]) -> list[str]:
    """These in their order, as text: one line each, and none but a person's words begins with `U:`, or looks so."""
    found: list[str] = []
    before = ("", "")
    for (who, _), each in groupby(sentences, key=lambda one: (one.who, one.paragraph)):
        group = list(each)
        set_ = _set(who, group, "" if (who, group[0].head) == before else group[0].head)
        pairs = ((line, flat(line) if who == PERSON else unposed_line(flat(line))) for line in set_)
        found += (f"{'  ' * line.startswith('  ')}{plain}" for line, plain in pairs if plain)
        before = (who, group[0].head)
    return found


def _fitting(sentence: KeySentence, room: int) -> KeySentence | None:
    """The sentence, or the rules and the beginning of it; none where there is no room."""
    size = octets(sentence.text)
    if size <= room:
        return sentence
    cut = with_rules(sentence.text, room, octets) if sentence.rule else ""
    if not cut and room >= LEAST:
        cut = beginning(sentence.text, room * len(sentence.text) // size - 2)
    return msgspec.structs.replace(sentence, text=cut) if cut else None


def _set(who: str, group: Sequence[KeySentence], head: str) -> Iterator[str]:
    """Sentences of one place; `head` is empty where the one before had the same."""
    lead = f"{head}: " if head else ""
    if who == PERSON:
        yield f"U: {lead}{_quoted(group)}"
    elif who == TASK:
        yield f"Task: {lead}{_quoted(group)}"
    elif who != AGENT:
        yield from (one.text for one in group)
    elif not group[0].listed:
        yield f"- {lead}{' '.join(one.text for one in group)}"
    elif head and (len(group) == 1 or sum(len(one.text) for one in group) <= SHORT_LIST):
        yield f"- {lead}{_joined(group)}"
    else:
        yield from [f"- {lead.rstrip()}"] if head else []
        yield from (f"{'  ' * bool(group[0].head)}- {one.text}" for one in group)


def _joined(group: Sequence[KeySentence]) -> str:
    return "; ".join(one.text.rstrip(_STOPS) for one in group)


def _quoted(group: Sequence[KeySentence]) -> str:
    """A person's words, with a sign where some are left out."""
    text = ""
    before = -1
    for one in group:
        is_gap = one.number != before + 1 and bool(text)
        between = " … " if is_gap else "; " if one.listed else " "
        text = f"{text.rstrip(_STOPS) if one.listed else text}{between}{one.text}" if text else one.text
        before = one.number
    return text
