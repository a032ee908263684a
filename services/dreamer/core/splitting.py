"""Memories that state several facts, and the memories that they are split into, one fact each.

Rules split whole sentences, and only where each of them is sure to mean alone what it means in the memory. Of what is
left a model proposes where to cut. Its parts are the words of the memory in their order, each in exactly one of them:
what may be left out is what joins two of them, and what may be repeated is the subject at the beginning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from schemas.commands import MemorySplit
from services.domain.texts.injection import steers
from services.domain.texts.risky import risk_of
from services.domain.texts.sentences import split
from services.dreamer.core.keeping import WHY as REASONS
from services.dreamer.core.offered import offered_memories, revision_key
from services.dreamer.core.sheet import DATA, about_offered, judged, listed
from services.dreamer.core.task import JudgedAnswer, QuestionSheet, Scene, TaskChange, waiting_in
from services.dreamer.core.wording import content_in_order, marked_names, weights_in
from services.memory.book import Book
from services.memory.decide.context import LONGEST, Refusal
from services.memory.decide.splitting import FEWEST, MOST, check_parts
from services.memory.decide.words import gate_verdict, rejecting
from services.memory.entry import Memory
from services.memory.gate.candidate import judge_candidate
from services.memory.policy import action_for
from services.memory.sameness import set_of, words_of

RULE = "each of its sentences states a fact of its own"
MODEL = "a model finds several facts in it"
_TRUST = "dreamer"
_LEANING = frozenset({
    "it", "its", "itself", "they", "them", "their", "theirs", "he", "she", "him", "her", "his", "this", "that",
    "these", "those", "here", "there", "such", "same", "former", "latter", "both", "either", "neither", "other",
    "others", "another", "ones", "instead", "otherwise", "then", "thus", "hence", "therefore", "also", "too", "however",
    "besides", "moreover", "furthermore", "additionally", "likewise", "similarly", "above", "below", "previous",
    "previously", "following", "next", "afterwards", "again", "still", "even", "except", "unlike", "whereas", "which",
    "who", "whose", "where", "thereby", "finally", "first", "second", "third", "last", "else",
})  # fmt: skip
"""Words by which a sentence may lean on another one, anywhere in it."""
_LEANING_FIRST = _LEANING | {
    "and", "or", "nor", "but", "yet", "so", "only", "like", "as", "now", "later", "all", "each", "every", "some",
    "none", "one",
}  # fmt: skip
"""Words by which it may at its beginning: `each` and `all` may be meant of what another one names."""
_STATING = frozenset({
    "is", "has", "have", "must", "should", "shall", "may", "can", "cannot", "never", "always", "not", "every", "each",
    "use", "uses", "need", "needs", "live", "lives", "require", "requires", "belong", "belongs", "prefer", "avoid",
    "start", "starts", "begin", "begins", "end", "ends",
})  # fmt: skip
"""Words of a sentence that states how things are, or always are to be done: other orders may be steps in a row."""
_SETTING = frozenset({
    "if", "when", "whenever", "unless", "until", "while", "during", "before", "after", "since", "for", "on", "in", "at",
    "with", "without", "under", "within", "from", "by", "to", "once", "because", "although", "though", "given", "per",
    "as",
})  # fmt: skip
"""Words with which a sentence begins whose condition may be meant of the next one, too."""
_ARTICLE = re.compile(r"\b[Tt]he\s+(?!`|[\w./-]*[./_]\w|[a-z]+[A-Z]|[A-Z]{2})")
"""Something that has been named before, as a reader takes it; a name behind the article makes clear what is meant."""
_OPENING = re.compile(r"[A-Z`]")
_CLOSING = re.compile(r"[.!]\Z")
_JOINED = re.compile(r"; |\band also\b|\bas well as\b|\n\s*(?:[-*•]|\d{1,2}[.)])\s|[.!]\s+\S")
"""Signs that a text may state several facts."""
_END = re.compile(r"[.!?;,]\s|\n")
_JOINS = frozenset({"and", "also", "as", "well", "furthermore", "moreover", "additionally", "besides", "plus", "too"})
"""Stems of words that only join two facts."""
MOST_SUBJECT = 6
"""Words at the beginning of a memory that its parts may repeat."""
_SYSTEM = f"""\
You look after what is remembered of a software project. You are given memories, one JSON object per line: a handle \
and a text. Some of them state several facts. Give each fact as a sentence of its own.

- Only cut the text. Each of its words is in exactly one of the parts, in the same order. You may leave out words that \
join two facts (`and also`), and repeat the words with which the text begins where a part has no subject.
- A part must be understood without the others: none begins with `it`, `this` or `they`.
- A condition, a reason or a negation stays with all that it is about. Where that cannot be done, do not split.
- Where a text states one fact, or cannot be cut so, give the whole text as the only part.

{DATA}

Answer with one JSON object and nothing else, with each handle once:
{{"splits": [{{"handle": "m1", "parts": ["...", "..."]}}]}}"""


class CompoundText(msgspec.Struct, frozen=True):
    """One memory in the prompt of a question."""

    handle: str
    text: str


class SplitParts(msgspec.Struct, frozen=True):
    """One item of an answer."""

    handle: str
    parts: tuple[str, ...]


class SplitAnswer(msgspec.Struct, frozen=True):
    """The whole answer."""

    splits: tuple[SplitParts, ...]


def splits_by_rules(scene: Scene) -> Iterator[TaskChange]:
    """The splits that are sure, also of memories of people and pinned ones: of these a person decides on each."""
    if action_for(scene.book.policy, _TRUST) == "refused":
        return
    waiting = waiting_in(scene.book)
    for memory in sorted(scene.book.memories.values(), key=lambda one: one.id):
        if _may_be_split(memory) and memory.id not in waiting and (parts := sure_parts(scene.book, memory)):
            command = MemorySplit(memory.id, parts, reason=RULE, revision=memory.revision)
            yield TaskChange(command, f"{memory.id}: {RULE}", target=split_key(memory))


def split_key(memory: Memory) -> str:
    """The name of a split of a memory in these words: a model that was asked about it is not asked again."""
    return f"{revision_key(memory)}/split"


def _may_be_split(memory: Memory) -> bool:
    """Whether it is active, and nobody has found that it is wrong: a part would have no such mark."""
    return memory.is_active and memory.verification not in ("stale", "flagged")


def sure_parts(book: Book, memory: Memory) -> tuple[str, ...]:
    """The sentences of a memory, where each of them is sure to mean the same alone; none: it is not split."""
    text = " ".join(memory.text.split())
    parts = tuple(split(text)) if len(text) <= LONGEST else ()
    if "\n" in memory.text.strip() or " ".join(parts) != text or not FEWEST <= len(parts) <= MOST:
        return ()
    if not all(_is_alone(part, is_first=number == 0) for number, part in enumerate(parts)):
        return ()
    if any(_first_word(part) in _SETTING for part in parts[:-1]):
        return ()
    return () if why_no_memories(book, memory, parts) else parts


def _is_alone(sentence: str, *, is_first: bool) -> bool:
    """Whether a sentence names what it is about, and points at nothing before or behind it."""
    return (
        _OPENING.match(sentence) is not None
        and _CLOSING.search(sentence) is not None
        and not re.search(r"[:;]\s", sentence)
        and not _LEANING & set_of(sentence)
        and _first_word(sentence) not in _LEANING_FIRST
        and bool(_STATING & set_of(sentence))
        and not REASONS & set_of(sentence)
        and (is_first or _ARTICLE.search(sentence) is None)
        and bool(marked_names(sentence))
    )


def _first_word(text: str) -> str:
    return next(iter(words_of(text)), "")


def why_no_memories(book: Book, memory: Memory, parts: Sequence[str]) -> str:
    """The reason why parts are no memories by themselves, as a sentence; empty: each of them would be taken in."""
    for part in parts:
        if len(part) > LONGEST or "\n" in part:
            return f"a part has several lines, or more than {LONGEST} characters"
        if risk_of(part) or steers(part):
            return "a part gives agents an order that only a person may give"
        if rejecting(gate_verdict(part, memory.memory_class, _TRUST), _TRUST):
            return "a part does not read as something lasting"
        alone = judge_candidate(part, memory.memory_class)
        if alone.verdict.reasons or alone.text != " ".join(part.split()):
            return "a part does not stand by itself"
    try:
        check_parts(book, memory, parts)
    except Refusal as refusal:
        return str(refusal)
    return ""


def compound_memories(scene: Scene) -> list[Memory]:
    """Memories that may state several facts, that rules do not split, and that no model was asked to split."""
    return offered_memories(
        scene,
        lambda one: _may_be_split(one) and _JOINED.search(one.text) is not None and not sure_parts(scene.book, one),
        split_key,
    )


def split_sheet(scene: Scene, most: int) -> QuestionSheet | None:
    """The next question about where to cut memories; none: none is left."""
    offered = {f"m{number}": memory for number, memory in enumerate(compound_memories(scene)[:most], 1)}
    if not offered:
        return None
    texts = [CompoundText(handle, memory.text) for handle, memory in offered.items()]
    return QuestionSheet(
        system=_SYSTEM,
        prompt=listed(f"Split these {len(texts)} memories, each under its handle.", texts),
        shape=SplitAnswer,
        check=lambda answer: about_offered(answer.splits, offered, "such as m1"),
        judge=lambda answer: splits_of(answer, offered, scene.book),
    )


def splits_of(answer: SplitAnswer, offered: Mapping[str, Memory], book: Book) -> JudgedAnswer:
    """The items of an answer whose parts pass the checks.

    A person decides on each of them, whatever the policy is: what a negation or a condition is about, code cannot see.
    """
    return judged(answer.splits, offered, split_key, lambda item, memory: _decided(item, memory, book))


def _decided(item: SplitParts, memory: Memory, book: Book) -> TaskChange | str | None:
    parts = tuple(part.strip() for part in item.parts)
    if len(parts) < FEWEST:
        return None if parts == (memory.text.strip(),) else "it gives one part with other words than the memory"
    if len(parts) > MOST:
        return f"it gives more than {MOST} parts"
    if wrong := words_not_once(parts, memory.text) or why_no_memories(book, memory, parts):
        return wrong
    command = MemorySplit(memory.id, parts, review=True, reason=MODEL, revision=memory.revision)
    return TaskChange(command, f"{memory.id}: {MODEL}", target=split_key(memory))


def words_not_once(parts: Sequence[str], original: str) -> str:
    """The reason why parts are not the words of the original, each once and in order; empty: they are."""
    if max(map(len, (original, *parts))) > LONGEST:
        return f"a text has more than {LONGEST} characters"
    if any(not part or _first_word(part) in _LEANING_FIRST for part in parts):
        return "a part is empty, or begins with a word that points at another part"
    names = sum((marked_names(part) for part in parts), Counter[str]())
    if names != marked_names(original):
        return "a name, a number or a path is in none of the parts, in several, or new"
    if sum((weights_in(part) for part in parts), Counter[str]()) != weights_in(original):
        return "the parts have other negations, conditions or reasons"
    whole, cuts, at = content_in_order(original), _cuts(original), 0
    for number, part in enumerate(parts):
        content, begin = content_in_order(part), at
        while number and at < len(whole) and whole[at] in _JOINS and content[:1] != whole[at : at + 1]:
            at += 1
        if number and at == begin and at not in cuts:
            return "the text is cut where no sentence and no clause ends"
        subject = 0 if number == 0 else _subject(content, whole, at)
        taken = len(content) - subject
        if not taken or content[subject:] != whole[at : at + taken]:
            return "the parts have words of their own, lack some, or have them in another order"
        at += taken
    return "" if at == len(whole) else "the parts leave words out"


def _cuts(text: str) -> frozenset[int]:
    """Behind how many words of a text a sentence, a clause or a line ends."""
    ends = (found.start() for found in _END.finditer(text) if text.count("`", 0, found.start()) % 2 == 0)
    return frozenset(len(content_in_order(text[:end])) for end in ends)


def _subject(content: Sequence[str], whole: Sequence[str], at: int) -> int:
    """The number of words that a part repeats of the beginning: as few as its other words allow."""
    for length in range(MOST_SUBJECT + 1):
        begins, rest = content[:length], content[length:]
        if begins != whole[:length]:
            break
        if rest and rest == whole[at : at + len(rest)]:
            return length
    return 0
