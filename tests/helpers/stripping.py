"""What the tests of the lanes that strip prompts share: aged sessions, and random ones."""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from schemas.events import PartRecorded
from schemas.inbox import Capability, PartSeen
from services.domain.edits import ServedMessage
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS, Lane, View
from services.plan.lanes.base import emptying, finders_of
from services.plan.lanes.index import indexed
from tests.helpers.harness import (
    SHOWN,
    Call,
    Harness,
    attached,
    ran,
    replace,
    text_part,
    thought,
    with_picture,
)
from tests.helpers.random_sessions import Story, removing

LIMITS = Limits(protected_tags=2, clear_reasoning_age=3, min_reclaim=200)
IDLE = 301
"""Seconds after which no cache is left."""


def harness_with(lane: Lane, limits: Limits = LIMITS, *capabilities: Capability) -> Harness:
    harness = Harness(limits, (TAGS, DROPS, lane))
    harness.capabilities = capabilities or ("accepts_empty_content",)
    return harness


def age(harness: Harness, turns: int = 4) -> None:
    """So many questions and answers more."""
    for _ in range(turns):
        harness.user("and?")
        harness.assistant(text_part("so"))


def rebased(harness: Harness) -> Call:
    """A call, and another one after a long pause: what waits is served."""
    harness.step()
    harness.use(10_000)
    harness.wait(IDLE)
    return harness.step()


def view_of(harness: Harness) -> View:
    """What a rebase would be decided on now, with every text at hand."""
    session = harness.session
    facts = {event.part: event for _, event in harness.log if isinstance(event, PartRecorded)}
    texts = {name: event.output or event.text for name, event in facts.items()}
    return View(
        session,
        harness.limits,
        frozenset({"idle"}),
        indexed(session, finders_of(LANES)),
        texts,
        emptying=emptying(LANES),
    )


def kinds(messages: Sequence[ServedMessage]) -> dict[str, list[str]]:
    """Message -> the kinds of what is served of it."""
    return {message.id: [part.kind for part in message.parts] for message in messages}


def text_of(call: Call, part: str) -> str:
    """What a model reads in a part."""
    found = [one for message in call.served for one in message.parts if one.id == part]
    return found[0].output or found[0].text if found else ""


def lanes_of(harness: Harness) -> dict[str, str]:
    """Target -> lane, of the edits in force that a strip has decided."""
    return {key: edit.lane for key, edit in harness.edits.items() if edit.lane not in ("", "drops")}


# Random sessions

Act = Callable[[Harness], None]

TEXTS = {
    "short": "ok",
    "long": "word " * 120,
    "blank": " \n",
    "inline thinking": "<think>let me see</think>\n\nDone.",
    "only inline thinking": "<thinking>nothing else</thinking>",
    "reminder": "go\n<system-reminder>be quick</system-reminder>\non",
    "only a reminder": "<system-reminder>be quick</system-reminder>",
    "a copied placeholder": "[dropped §3§]",
}
THOUGHTS = {
    "plain": thought("because " * 40),
    "signed": thought("because " * 40, signed=True),
    "empty": thought(""),
    "cleared": thought("[cleared]"),
}
OUTPUTS = {
    "fine": ran("FILE " * 50),
    "error": replace(ran("no such file: " + "x" * 300), status="error"),
    "short error": replace(ran("no"), status="error"),
    "late": ran("", pending=True),
    "a picture": with_picture(ran(SHOWN)),
    "a picture with many words": with_picture(ran("words " * 200)),
}
IMAGE = "data:image/png;base64," + "A" * 300


def asking(text: str, *, with_image: bool) -> Act:
    images = (attached(IMAGE),) if with_image else ()
    return lambda harness: _ignored(harness.add_message("user", *images, text_part(TEXTS[text])))


def answering(thoughts: list[str], texts: list[str], outputs: list[str]) -> Act:
    def act(harness: Harness) -> None:
        at = len(harness.log)
        tools = [replace(OUTPUTS[output], call=f"c{at}.{n}") for n, output in enumerate(outputs)]
        parts: list[PartSeen] = [
            *(THOUGHTS[one] for one in thoughts),
            *(text_part(TEXTS[one]) for one in texts),
            *tools,
        ]
        if parts:
            harness.assistant(*parts)

    return act


def changing(at: int, text: str) -> Act:
    """What a part holds is another thing now: a person has edited it, or it came late."""

    def act(harness: Harness) -> None:
        parts = [part for message in harness.messages for part in message.parts if part.type != "file"]
        if parts:
            part = parts[at % len(parts)]
            if part.type == "tool":
                harness.change(part.part, output="LATE " * 50, status="completed")
            else:
                harness.change(part.part, text=TEXTS[text])

    return act


def dropping(wanted: list[int]) -> Act:
    def act(harness: Harness) -> None:
        session, last = harness.session, harness.session.conversation.last_number
        tags = sorted({number % last + 1 for number in wanted}) if last else []
        tags = [number for number in tags if number not in session.drops.queued and number not in session.drops.dropped]
        if tags:
            harness.drop(*tags)

    return act


def pausing(harness: Harness) -> None:
    harness.use(10_000, f"a{len(harness.log)}")
    harness.wait(IDLE)


def switching(harness: Harness) -> None:
    harness.model = "sonnet" if harness.model == "opus" else "opus"
    needy: tuple[Capability, ...] = ("requires_reasoning_on_tool_calls",)
    others = tuple(one for one in harness.capabilities if one not in needy)
    harness.capabilities = others if len(others) < len(harness.capabilities) else (*others, *needy)


def _ignored(_: object) -> None:
    return None


GROWTH: st.SearchStrategy[Act] = st.one_of(
    st.builds(asking, st.sampled_from([*TEXTS]), with_image=st.booleans()),
    st.builds(
        answering,
        st.lists(st.sampled_from([*THOUGHTS]), max_size=2),
        st.lists(st.sampled_from([*TEXTS]), max_size=2),
        st.lists(st.sampled_from([*OUTPUTS]), max_size=2),
    ),
)
CHANCES: st.SearchStrategy[Act] = st.one_of(
    st.just(pausing),
    st.just(pausing),
    st.lists(st.integers(0, 30), min_size=1, max_size=5).map(dropping),
    st.builds(changing, st.integers(0, 40), st.sampled_from([*TEXTS])),
    st.integers(0, 40).map(removing),
    st.just(Harness.restart),
    st.just(Harness.restart_harness),
    st.just(switching),
)
ABILITIES: st.SearchStrategy[tuple[Capability, ...]] = st.sampled_from(
    [
        ("accepts_empty_content",),
        ("requires_alternation",),
        ("merges_adjacent_assistants", "caches_exact_prefix"),
        ("merges_adjacent_assistants", "binds_signed_thinking", "accepts_empty_content"),
        ("binds_signed_thinking", "accepts_empty_content"),
        ("requires_reasoning_on_tool_calls",),
    ]
)
STORIES = st.builds(
    Story,
    around=st.lists(st.tuples(st.lists(GROWTH, max_size=4), st.lists(CHANCES, max_size=2)), min_size=3, max_size=10),
    abilities=ABILITIES,
    protected=st.just(LIMITS.protected_tags),
)
