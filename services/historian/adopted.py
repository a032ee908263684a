"""How a model's checked answer becomes a summary: without secrets, whoever brought them in."""

from services.historian.contract import healed
from services.historian.drafts import TITLE, Draft, Fact, Observation, Summary
from services.historian.shape import Bounds, Compartment, Happening, Output
from services.kit.secrets import mask

LONGEST = 800
"""Characters of an observation."""


def to_summary(output: Output, shown: Bounds) -> Summary:
    """Of an answer that `check` finds nothing wrong with."""
    output = healed(output, shown)
    first, last = output.compartments[0].start, output.compartments[-1].end
    observations = [
        *(Observation("user_trait", _clean(text), first, last) for text in output.user_observations),
        *(Observation(event.kind, _told(event), event.at, event.at) for event in output.events),
        *(Observation("open_question", _clean(text), first, last) for text in output.open_questions),
    ]
    return Summary(
        compartments=tuple(map(_draft, output.compartments)),
        facts=tuple(Fact(fact.category, _clean(fact.text), fact.evidence) for fact in output.facts),
        observations=tuple(observations),
        unprocessed_from=last + 1 if last < shown.last else 0,
    )


def _draft(one: Compartment) -> Draft:
    anchors = tuple(dict.fromkeys(map(_clean, one.anchors)))
    return Draft(
        first=one.start,
        last=one.end,
        title=_clean(one.title)[:TITLE],
        episode=tuple(dict.fromkeys(one.episode)),
        importance=one.importance,
        p1=_clean(one.p1),
        p2=_clean(one.p2),
        p3=_clean(one.p3),
        p4=_clean(one.p4),
        anchors=anchors,
        names=anchors,
    )


def _told(event: Happening) -> str:
    """Its summary, and behind that what else was said of it."""
    fields = {name: " ".join(text.split()) for name, text in event.fields.items() if text.strip()}
    summary = fields.pop("summary", "")
    more = "; ".join(f"{name.replace('_', ' ')}: {text}" for name, text in fields.items())
    return _clean(f"{summary} ({more})" if more else summary)[:LONGEST]


def _clean(text: str) -> str:
    return mask(text.strip())
