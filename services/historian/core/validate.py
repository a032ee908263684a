"""Checks a model's summary: everything that can be wrong with it, and what is corrected."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from schemas.events.fact import CATEGORIES
from services.domain.texts.posing import unposed
from services.domain.tokens import tokens
from services.historian.core.model_answer import Bounds, Compartment, Output
from services.historian.core.summary import ANCHORS, EPISODES, TITLE

replace = msgspec.structs.replace

HEALED = 15
"""Messages between two compartments that are taken into the first of them, whatever they say."""
P1_PERCENT = 40
"""The largest share of the transcript's tokens, in percent, that all p1 have together."""
P1_LEAST = 200
"""The tokens that all p1 may have in any case, however short the transcript is."""
ANCHOR_PREFIX = 7
"""Characters of an anchor that are enough of it, as in a short hash."""
LONGEST_ANCHOR = 120
LONGEST_TEXT = 400
"""Characters of a fact, an observation or a question."""
MOST_FACTS, MOST_EVENTS, MOST_OBSERVATIONS, MOST_QUESTIONS = 20, 10, 5, 1
KINDS = ("causal_incident", "trajectory_correction")
MOST_FAULTS = 8
"""The number of faults that the model is given at once at most."""


def healed(output: Output, bounds: Bounds) -> Output:
    """In order, with small or silent gaps taken into the compartment before, and no call parted from its result."""
    ordered = sorted(output.compartments, key=lambda one: (one.start, one.end))
    if not ordered:
        return output
    covers_all = output.unprocessed_from in {None, bounds.last + 1}
    ends = [*(one.start for one in ordered[1:]), bounds.last + 1 if covers_all else ordered[-1].end + 1]
    extended = tuple(_extended(one, end, bounds) for one, end in zip(ordered, ends, strict=True))
    return _snapped(replace(output, compartments=extended), bounds)


def _snapped(output: Output, bounds: Bounds) -> Output:
    """A bound that lies between a call and its result goes behind the result, as far as it leaves something there."""
    compartments = list(output.compartments)
    for at, one in enumerate(compartments):
        end = next((last for first, last in bounds.arcs if first <= one.end < last), one.end)
        following = compartments[at + 1] if at + 1 < len(compartments) else None
        if end == one.end or (following is not None and following.end <= end):
            continue
        compartments[at] = replace(one, end=end)
        if following is not None:
            start = next(iter(bounds.between(end, bounds.last + 1)), following.start)
            compartments[at + 1] = replace(following, start=max(following.start, start))
    unprocessed = output.unprocessed_from
    if unprocessed is not None and compartments[-1].end != output.compartments[-1].end:
        unprocessed = next(iter(bounds.between(compartments[-1].end, bounds.last + 1)), None)
    return replace(output, compartments=tuple(compartments), unprocessed_from=unprocessed)


def _extended(one: Compartment, end: int, bounds: Bounds) -> Compartment:
    gap = bounds.between(one.end, end)
    if not gap or one.end not in bounds.ordinals:
        return one
    silent = any(first <= gap[0] and gap[-1] <= last for first, last in bounds.tool_only)
    return replace(one, end=gap[-1]) if silent or len(gap) <= HEALED else one


def check(output: Output, bounds: Bounds) -> str:
    """The faults, in sentences that name the messages; empty: there are none."""
    output = healed(output, bounds)
    if not output.compartments:
        return f"There is no compartment; give at least one for the messages {bounds.first}-{bounds.last}."
    faults = [*_places(output.compartments, bounds), *_end(output, bounds)]
    for one in output.compartments:
        faults += _compartment(one)
    faults += _texts(output.compartments, bounds)
    faults += _others(output)
    more = len(faults) - MOST_FAULTS
    return " ".join([*faults[:MOST_FAULTS], *([f"And {more} more faults of these kinds."] if more > 0 else [])])


def _places(compartments: Sequence[Compartment], bounds: Bounds) -> Iterator[str]:
    known = set(bounds.ordinals)
    for one in compartments:
        for edge, name in ((one.start, "begins"), (one.end, "ends")):
            if edge not in known:
                yield (
                    f"The compartment {one.place} {name} at {edge}, "
                    f"which is no message of the transcript {bounds.first}-{bounds.last}."
                )
        torn = next((f"{first}-{last}" for first, last in bounds.arcs if first <= one.end < last), "")
        if torn:
            yield f"The compartment {one.place} ends inside the messages {torn}, which are a call and its result."
        if one.start > one.end:
            yield f"The compartment {one.place} runs backwards."
    if compartments[0].start != bounds.first:
        yield f"The first compartment begins at {compartments[0].start}; it must begin at {bounds.first}."
    for before, one in pairwise(compartments):
        gap = bounds.between(before.end, one.start)
        if one.start <= before.end:
            yield f"The compartments {before.place} and {one.place} overlap."
        elif gap:
            yield f"The messages {gap[0]}-{gap[-1]} belong to no compartment, between {before.place} and {one.place}."


def _end(output: Output, bounds: Bounds) -> Iterator[str]:
    last = output.compartments[-1].end
    rest = bounds.between(last, bounds.last + 1)
    unprocessed = output.unprocessed_from
    if unprocessed in {None, bounds.last + 1}:
        if rest:
            yield (
                f"The last compartment ends at {last} and the transcript at {bounds.last}: "
                f"cover {rest[0]}-{rest[-1]}, or set unprocessed_from to {rest[0]}."
            )
    elif unprocessed not in bounds.ordinals:
        yield f"unprocessed_from is {unprocessed}, which is no message of the transcript {bounds.first}-{bounds.last}."
    elif not rest or unprocessed != rest[0]:
        right = str(rest[0]) if rest else "null"
        yield f"unprocessed_from is {unprocessed} and the last compartment ends at {last}; it must be {right}."
    if last <= bounds.previous_last:
        yield f"The last compartment ends at {last}, and all up to {bounds.previous_last} was summarised before."


def _compartment(one: Compartment) -> Iterator[str]:
    where = f"of the compartment {one.place}"
    if not 0 < len(unposed(one.title)) <= TITLE:
        yield f"The title {where} has {len(unposed(one.title))} characters; it must have 1 to {TITLE}."
    if not 1 <= one.importance <= 100:  # noqa: PLR2004 - the whole scale
        yield f"The importance {where} is {one.importance}; it must be 1 to 100."
    unknown = [name for name in one.episode if name not in EPISODES]
    if unknown:
        yield f"The episode {where} names {', '.join(unknown)}; allowed are {', '.join(EPISODES)}."
    tiers = {"p1": one.p1.strip(), "p2": one.p2.strip(), "p3": one.p3.strip(), "p4": one.p4.strip()}
    for name in ("p1", "p2", "p3"):
        if not tiers[name]:
            yield f"{name} {where} is empty."
    for (longer, full), (shorter, brief) in pairwise(tiers.items()):
        if len(brief) > len(full):
            yield f"{shorter} {where} is longer than {longer} ({len(brief)} and {len(full)} characters)."
    yield from _anchors(one, tiers, where)


def _anchors(one: Compartment, tiers: Mapping[str, str], where: str) -> Iterator[str]:
    if len(one.anchors) > ANCHORS:
        yield f"There are {len(one.anchors)} anchors {where}; at most {ANCHORS} are allowed."
    for anchor in one.anchors[:ANCHORS]:
        if not 0 < len(anchor.strip()) <= LONGEST_ANCHOR:
            yield f"An anchor {where} has {len(anchor)} characters; it must have 1 to {LONGEST_ANCHOR}."
            continue
        lost = [name for name, text in tiers.items() if text and anchor.strip()[:ANCHOR_PREFIX] not in text]
        if lost:
            yield f"{' and '.join(lost)} {where} must hold its anchor {anchor!r}, or the anchor must go."


def _texts(compartments: Sequence[Compartment], bounds: Bounds) -> Iterator[str]:
    seen: dict[str, Compartment] = {}
    for one in compartments:
        other = seen.setdefault(" ".join(one.p1.lower().split()), one)
        if other is not one:
            yield f"The compartments {other.place} and {one.place} have the same p1."
    total = sum(tokens(len(one.p1.encode())) for one in compartments)
    most = max(P1_LEAST, bounds.tokens * P1_PERCENT // 100)
    if total > most:
        yield f"All p1 together have about {total} tokens; for this transcript at most {most} are allowed."


def _others(output: Output) -> Iterator[str]:
    spans = [(one.start, one.end) for one in output.compartments]
    for number, fact in enumerate(output.facts, 1):
        if fact.category not in CATEGORIES:
            yield f"Fact {number} has the category {fact.category!r}; allowed are {', '.join(CATEGORIES)}."
        yield from _length(fact.text, f"Fact {number}")
        outside = [ordinal for ordinal in fact.evidence if not _inside(ordinal, spans)]
        if outside:
            yield f"Fact {number} names the message {outside[0]} as evidence, which no compartment covers."
    for number, event in enumerate(output.events, 1):
        if event.kind not in KINDS:
            yield f"Event {number} has the kind {event.kind!r}; allowed are {', '.join(KINDS)}."
        if not event.fields.get("summary", "").strip():
            yield f"Event {number} needs a summary in its fields."
        if not _inside(event.at, spans):
            yield f"Event {number} is at the message {event.at}, which no compartment covers."
    for count, what, most in ((len(output.facts), "facts", MOST_FACTS), (len(output.events), "events", MOST_EVENTS)):
        if count > most:
            yield f"There are {count} {what}; at most {most} are allowed, those that will matter most."
    for texts, what, most in (
        (output.user_observations, "user_observations", MOST_OBSERVATIONS),
        (output.open_questions, "open_questions", MOST_QUESTIONS),
    ):
        if len(texts) > most:
            yield f"There are {len(texts)} {what}; at most {most} are allowed."
        for number, text in enumerate(texts, 1):
            yield from _length(text, f"{what} {number}")


def _length(text: str, what: str) -> Iterator[str]:
    if not 0 < len(text.strip()) <= LONGEST_TEXT:
        yield f"{what} has {len(text.strip())} characters; it must have 1 to {LONGEST_TEXT}."


def _inside(ordinal: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(first <= ordinal <= last for first, last in spans)
