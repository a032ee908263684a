"""How a model's checked answer becomes a summary: without secrets, whoever brought them in."""

from collections.abc import Sequence

from services.domain.secrets import mask
from services.domain.texts.bounds import flat
from services.domain.texts.posing import unposed
from services.historian.core.model_answer import Bounds, Compartment, Happening, Output
from services.historian.core.quotations import is_quoted
from services.historian.core.summary import TITLE, Draft, Fact, Observation, Summary
from services.historian.core.validate import healed

LONGEST = 800
"""Characters of an observation."""


def to_summary(output: Output, shown: Bounds) -> Summary:
    """Of an answer that `check` finds nothing wrong with."""
    output = healed(output, shown)
    first, last = output.compartments[0].start, output.compartments[-1].end
    observations = [
        *(Observation("user_trait", _clean(text), first, last) for text in output.user_observations),
        *(Observation(event.kind, _text_of(event), event.at, event.at) for event in output.events),
        *(Observation("open_question", _clean(text), first, last) for text in output.open_questions),
    ]
    return Summary(
        compartments=tuple(_draft(one, shown.requests) for one in output.compartments),
        facts=tuple(Fact(fact.category, _clean(fact.text), fact.evidence) for fact in output.facts),
        observations=tuple(observations),
        unprocessed_from=last + 1 if last < shown.last else 0,
    )


def _draft(one: Compartment, requests: Sequence[str]) -> Draft:
    anchors = tuple(dict.fromkeys(flat(_clean(anchor)) for anchor in one.anchors))
    return Draft(
        first=one.start,
        last=one.end,
        title=unposed(_clean(one.title))[:TITLE],
        episode=tuple(dict.fromkeys(one.episode)),
        importance=one.importance,
        p1=_clean(_attributed(one.p1, requests)),
        p2=_clean(_attributed(one.p2, requests)),
        p3=_clean(unposed(one.p3)),
        p4=_clean(unposed(one.p4)),
        anchors=anchors,
        names=anchors,
    )


def _attributed(text: str, requests: Sequence[str]) -> str:
    """Only what a person did write is set as a person's words."""
    return "\n".join(_line(line, requests) for line in text.splitlines())


def _line(line: str, requests: Sequence[str]) -> str:
    plain = unposed(line)
    if plain == flat(line):
        return line
    return f"U: {plain}" if is_quoted(plain, requests) else f"- {plain}"


def _text_of(event: Happening) -> str:
    """Its summary, and behind that what else was said of it."""
    fields = {name: " ".join(text.split()) for name, text in event.fields.items() if text.strip()}
    summary = fields.pop("summary", "")
    more = "; ".join(f"{name.replace('_', ' ')}: {text}" for name, text in fields.items())
    return _clean(f"{summary} ({more})" if more else summary)[:LONGEST]


def _clean(text: str) -> str:
    return mask(text.strip())
