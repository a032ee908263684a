"""Facts and traits that hold beyond a stretch, where the evidence is strong.

That is: lasting rules, commands that check the work, turns that it took, what a person says again and again, and what
still fails at its end.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from services.domain.texts import phrase_patterns
from services.domain.texts.bounds import beginning, flat
from services.domain.texts.own import OWN_WORDS
from services.domain.texts.paragraphs import sentences
from services.domain.texts.rule_sentences import category_of, is_firm
from services.domain.texts.sentences import alike, is_informative, words
from services.domain.tools.shell import is_checking
from services.historian.core.rules.steps import Step
from services.historian.core.rules.work import CommandRun, UnitWork
from services.historian.core.summary import Observation, SummaryFact

MOST_FACTS = 5
MOST_OBSERVATIONS = 3
MOST_TRAITS, MOST_QUESTIONS = 2, 1
LONGEST = 300
AGAIN = 0.7
"""Sentences that share so much of their words count as repeated."""
_CORRECTION = 400
_QUESTION = ("?", "\uff1f")
OFTEN = 3
"""The runs from which on a command counts as the way in which the work is checked."""
COUNTED = 2
"""The runs that are enough for a command that also counts what passed."""


def facts(unit: Sequence[Step]) -> Iterator[SummaryFact]:
    """Rules that a person gave in so many words: always, never, use this instead of that."""
    for step in unit:
        for text in step.of_person:
            if len(text) <= OWN_WORDS:
                for sentence in filter(is_firm, sentences(text)):
                    yield SummaryFact(category_of(sentence), beginning(sentence, LONGEST), (step.first,))


def observations(unit: Sequence[Step], done: UnitWork) -> Iterator[Observation]:
    """The turns that a person gave the work, and failures that were overcome."""
    is_answered = False
    for step in unit:
        for text in step.of_person:
            if is_answered and len(text) <= _CORRECTION and phrase_patterns.CORRECTION.search(flat(text)):
                yield Observation("trajectory_correction", beginning(flat(text), LONGEST), step.first, step.last)
        is_answered = is_answered or bool(step.reports or step.calls)
    for run in done.runs:
        if run.before and not run.error:
            text = f"`{run.command}` failed ({run.before}) and works now."
            yield Observation("causal_incident", beginning(text, LONGEST), unit[0].first, run.at)


def checking(done: Sequence[UnitWork]) -> Iterator[SummaryFact]:
    """The commands that the work was checked with again and again, and that passed."""
    runs: dict[str, list[CommandRun]] = defaultdict(list)
    for run in chain.from_iterable(work.runs for work in done):
        if is_checking(run.command):
            runs[run.command].append(run)
    for command, found in runs.items():
        least = COUNTED if any(run.result for run in found) else OFTEN
        if sum(run.times for run in found) >= least and any(not run.error for run in found):
            text = f"The work is checked with `{command}`."
            yield SummaryFact("CONFIG_VALUES", text, tuple(run.at for run in found))


def failing(done: Sequence[UnitWork]) -> Iterator[Observation]:
    """The commands that failed more than once and never passed again."""
    last = {run.command: run for work in done for run in work.runs}
    for command, run in last.items():
        if run.error and run.times > 1:
            text = f"`{command}` still fails: {run.error}"
            yield Observation("open_question", beginning(text, LONGEST), run.at, run.at)


def repeated(steps: Sequence[Step]) -> Iterator[Observation]:
    """Rules that a person gave in more than one message, in about the same words."""
    known: list[tuple[Step, frozenset[str]]] = []
    reported: set[frozenset[str]] = set()
    for step in steps:
        for sentence in chain.from_iterable(map(stated_rules, step.of_person)):
            own = words(sentence)
            before = next((one for one, other in known if one is not step and alike(own, other) >= AGAIN), None)
            if before is not None and not any(alike(own, other) >= AGAIN for other in reported):
                reported.add(own)
                text = beginning(f"Said more than once: {sentence}", LONGEST)
                yield Observation("user_trait", text, before.first, step.last)
            known.append((step, own))


def stated_rules(text: str) -> Iterator[str]:
    """The rules of a person: what they want or do not want, in sentences of some words."""
    for sentence in sentences(text) if len(text) <= OWN_WORDS else ():
        if phrase_patterns.RULE.search(sentence) and is_informative(sentence) and not sentence.endswith(_QUESTION):
            yield sentence
