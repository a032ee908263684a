"""Leaves out of an explanation what people have taken back: none of it is repeated there word for word."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from schemas.codec import decode_event
from schemas.envelope import Envelope
from schemas.explain_asks import Explained, Fact, PromptHint
from schemas.plan import AppendText, InsertPair, ReplaceOutput, ReplaceText, SetHead
from services.domain.texts.bounds import beginning, flat
from services.domain.texts.markup import escaped
from services.memory.book import Book
from services.memory.remembered import Remembered
from services.memory.state import source_key
from services.plan.lanes.hints import MAX_HIT_CHARACTERS
from services.plan.session.predecessor import Predecessor

TAKEN_BACK = "(a person has taken this back)"
"""The replacement of a text that was taken back."""

replace = msgspec.structs.replace


class WithheldTexts(msgspec.Struct, frozen=True):
    """Everything that is not to be repeated: texts, their names, and the facts that are about them."""

    texts: tuple[str, ...] = ()
    """The longest first."""
    names: frozenset[str] = frozenset()
    """Ids of memories, and of the sessions, messages and runs of which all was taken back."""
    facts: frozenset[int] = frozenset()
    """Positions of the log."""

    def words(self, text: str) -> str:
        """A text without those that are taken back."""
        for one in self.texts:
            text = text.replace(one, TAKEN_BACK)
        return text

    def answer(self, text: str) -> str:
        """An answer to a search: all of it is withheld where it has one of these names."""
        return TAKEN_BACK if any(name in text for name in self.names) else self.words(text)

    def edit(self, one: Explained) -> Explained:
        """An edit with its facts."""
        facts = tuple(self._fact(fact) for fact in one.facts)
        edit = one.edit
        if isinstance(edit, SetHead | AppendText | ReplaceText | ReplaceOutput):
            edit = replace(edit, text=self.words(edit.text))
        elif isinstance(edit, InsertPair):
            edit = replace(edit, output=self.words(edit.output))
        return replace(one, edit=edit, facts=facts)

    def hint(self, one: PromptHint) -> PromptHint:
        """A hint."""
        is_gone = one.id in self.names
        return replace(one, text=TAKEN_BACK if is_gone else self.words(one.text))

    def _fact(self, fact: Fact) -> Fact:
        return replace(fact, text=TAKEN_BACK if fact.seq in self.facts and fact.text else self.words(fact.text))


NOTHING = WithheldTexts()


def withholding(
    remembered: Remembered, predecessor: Predecessor, facts: Mapping[int, Envelope], hints: Sequence[PromptHint]
) -> WithheldTexts:
    """Everything that is to be left out where a prompt is explained with these facts and hints.

    `predecessor`: what the session's first plan has recorded of the session before it.
    """
    book = remembered.book
    if not len(book.quarantines):
        return NOTHING
    memories = [one for one in remembered.shelf if one.status == "quarantined"]
    names = frozenset({*(one.id for one in memories), *_sources(book)})
    about = {seq: event for seq, one in facts.items() if (event := decode_event(one)) and _memory(event) in names}
    texts = [
        *(one.text for one in memories),
        *(getattr(event, "text", "") for event in about.values()),
        *(one.text for one in hints if one.id in names),
        *_left_open(predecessor, book),
    ]
    return WithheldTexts(tuple(_as_shown(texts)), names, frozenset(about))


def _sources(book: Book) -> Iterator[str]:
    """The ids of the sources of which all was taken back. Not of actors, whose facts name much else."""
    for prefix in (source_key(kind, "") for kind in ("session", "message", "run")):
        yield from (key.removeprefix(prefix) for key in book.quarantines if key.startswith(prefix))


def _memory(event: object) -> str:
    name = getattr(event, "memory", "")
    return name if isinstance(name, str) else ""


def _left_open(predecessor: Predecessor, book: Book) -> Iterable[str]:
    """Lines that the session before this one left, and that are left out now."""
    still = predecessor.without(book.quarantines)
    return (line for line in predecessor.lines if line not in still.lines)


def _as_shown(texts: Iterable[str]) -> list[str]:
    """The texts in each form in which a prompt shows them."""
    lines = [line for text in texts for line in (text, flat(text))]
    cut = [beginning(line, MAX_HIT_CHARACTERS) for line in lines]
    forms = {form for line in (*lines, *cut) for form in (line, escaped(line)) if form.strip()}
    return sorted(forms, key=lambda one: (-len(one), one))
