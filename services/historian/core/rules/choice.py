"""Which sentences there is room for, and how they are set: in their order, what stands together on one line."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from services.domain.texts.bounds import beginning, flat
from services.domain.texts.sentences import alike, words
from services.historian.core.rules.key_sentences import AGENT, PERSON, KeySentence

SAME, EQUAL = 0.7, 0.95
"""Sentences that share so much of their words say the same, and items of lists, which are often much alike."""
LEAST = 120
"""Bytes from which on it is worth to cut what there is no room for."""
SHORT_LIST = 160
"""Characters up to which a list is set on one line."""
_SET = 5
"""Bytes that it takes to set a sentence."""
_STOPS = " .;,\u3002\uff1b\uff0c"


def chosen(sentences: Sequence[KeySentence], room: int) -> list[KeySentence]:
    """The weightiest that do not repeat each other and fit in so many bytes, in their order."""
    taken: dict[int, KeySentence] = {}
    known: dict[str, list[frozenset[str]]] = {}
    heads: set[tuple[str, int]] = set()
    for at in sorted(range(len(sentences)), key=lambda at: (-sentences[at].weight, at)):
        sentence = sentences[at]
        if sentence.weight <= 0:
            break
        own = words(f"{sentence.head} {sentence.text}") if sentence.listed else words(sentence.text)
        key = (sentence.who, sentence.paragraph)
        left = room - (0 if key in heads else len(sentence.head.encode()) + _SET) - _SET
        fitting = _fitting(sentence, left)
        others = known.get(sentence.who, []) if sentence.who else []
        if fitting is None or any(alike(own, other) >= (EQUAL if sentence.listed else SAME) for other in others):
            continue
        taken[at] = fitting
        known.setdefault(sentence.who, []).append(own)
        heads.add(key)
        room = left - len(fitting.text.encode())
    return [taken[at] for at in sorted(taken)]


def lines(sentences: Sequence[KeySentence]) -> list[str]:
    """These in their order, as text: one line each, and none but a person's words begins with `U:`."""
    found: list[str] = []
    before = ("", "")
    for (who, _), each in groupby(sentences, key=lambda one: (one.who, one.paragraph)):
        group = list(each)
        set_ = _set(who, group, "" if (who, group[0].head) == before else group[0].head)
        found += (f"{'  ' * line.startswith('  ')}{flat(line)}" for line in set_)
        before = (who, group[0].head)
    return found


def _fitting(sentence: KeySentence, room: int) -> KeySentence | None:
    """The sentence, or the beginning of it; none where there is no room."""
    size = len(sentence.text.encode())
    if size <= room:
        return sentence
    if room < LEAST:
        return None
    cut = beginning(sentence.text, room * len(sentence.text) // size - 2)
    return msgspec.structs.replace(sentence, text=cut)


def _set(who: str, group: Sequence[KeySentence], head: str) -> Iterator[str]:
    """What stands together; `head` is empty where it was told right before."""
    lead = f"{head}: " if head else ""
    if who == PERSON:
        yield f"U: {lead}{_quoted(group)}"
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
