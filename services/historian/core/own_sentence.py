"""The sentence in which a person stated a trait themselves: only what they typed can count as theirs."""

from collections.abc import Iterable, Iterator

from services.domain.texts.bounds import bounded
from services.domain.texts.clean import cleaned
from services.domain.texts.content import RecordedMessage
from services.domain.texts.own import own_lines
from services.domain.texts.sentences import alike, words
from services.historian.core.rules.facts import AGAIN, stated_rules


def own_sentence(trait: str, recorded: Iterable[RecordedMessage]) -> str:
    """The sentence of a person that has most words of a trait; empty: they typed none that says about the same.

    What a model writes of a person may come from anywhere: an output, a file, a page. So it counts only where the
    person typed a rule in about the same words, and then as they typed it. What was pasted or quoted, what the harness
    does not vouch for, and what an agent has written is left out.
    """
    wanted = words(trait)
    found = [(alike(words(sentence), wanted), sentence) for sentence in _typed_rules(recorded)]
    share, sentence = max(found, key=lambda one: one[0], default=(0.0, ""))
    return sentence if share >= AGAIN else ""


def _typed_rules(recorded: Iterable[RecordedMessage]) -> Iterator[str]:
    """The rules that a person typed, in their order."""
    for message in recorded:
        if message.role != "user" or message.synthetic or message.is_task:
            continue
        for piece in message.pieces:
            if piece.kind == "text" and piece.is_typed and not (piece.ignored or piece.synthetic):
                yield from stated_rules("\n".join(own_lines(bounded(cleaned(piece.text)))))
