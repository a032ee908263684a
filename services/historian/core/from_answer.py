"""Makes a summary of a model's checked answer, without secrets, whoever brought them in."""

from services.domain.secrets import mask
from services.domain.texts.bounds import flat
from services.domain.texts.posing import unposed
from services.historian.core.model_answer import Bounds, Compartment, Happening, Output
from services.historian.core.quotations import is_quoted
from services.historian.core.summary import TITLE, CompartmentDraft, Observation, Summary, SummaryFact
from services.historian.core.validate import healed

LONGEST = 800
"""Characters of an observation."""
TASK = "Task:"
"""The beginning of a line of what the agent wrote that started the session."""


def to_summary(output: Output, bounds: Bounds) -> Summary:
    """Of an answer that `check` finds nothing wrong with."""
    output = healed(output, bounds)
    first, last = output.compartments[0].start, output.compartments[-1].end
    observations = [
        *(Observation("user_trait", _clean(text), first, last) for text in output.user_observations),
        *(Observation(event.kind, _text_of(event), event.at, event.at) for event in output.events),
        *(Observation("open_question", _clean(text), first, last) for text in output.open_questions),
    ]
    return Summary(
        compartments=tuple(_draft(one, bounds) for one in output.compartments),
        facts=tuple(SummaryFact(fact.category, _clean(fact.text), fact.evidence) for fact in output.facts),
        observations=tuple(observations),
        unprocessed_from=last + 1 if last < bounds.last else 0,
    )


def _draft(one: Compartment, bounds: Bounds) -> CompartmentDraft:
    anchors = tuple(dict.fromkeys(flat(_clean(anchor)) for anchor in one.anchors))
    return CompartmentDraft(
        first=one.start,
        last=one.end,
        title=unposed(_clean(one.title))[:TITLE],
        episode=tuple(dict.fromkeys(one.episode)),
        importance=one.importance,
        p1=_clean(_attributed(one.p1, bounds)),
        p2=_clean(_attributed(one.p2, bounds)),
        p3=_clean(unposed(one.p3)),
        p4=_clean(unposed(one.p4)),
        anchors=anchors,
        names=anchors,
    )


def _attributed(text: str, bounds: Bounds) -> str:
    """Only what a person did write is set as a person's words; and likewise what the agent wrote that started it."""
    return "\n".join(_line(line, bounds) for line in text.splitlines())


def _line(line: str, bounds: Bounds) -> str:
    plain = unposed(line)
    is_quote, quoted = plain != flat(line), plain
    if bounds.tasks and quoted.startswith(TASK):
        is_quote, quoted = True, quoted.removeprefix(TASK).strip()
    if not is_quote:
        return line
    if is_quoted(quoted, bounds.tasks):
        return f"{TASK} {quoted}"
    return f"U: {quoted}" if is_quoted(quoted, bounds.requests) else f"- {quoted}"


def _text_of(event: Happening) -> str:
    """Its summary, followed by the rest of the answer about it."""
    fields = {name: " ".join(text.split()) for name, text in event.fields.items() if text.strip()}
    summary = fields.pop("summary", "")
    more = "; ".join(f"{name.replace('_', ' ')}: {text}" for name, text in fields.items())
    return _clean(f"{summary} ({more})" if more else summary)[:LONGEST]


def _clean(text: str) -> str:
    return mask(text.strip())
