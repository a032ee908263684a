"""The answer to `ask.session`: the state of a session, for a person, in lines that need no markup to be read."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isinf

from schemas.asks import SessionAsk, SessionReport
from services.domain.learned_limits import GLOBAL
from services.domain.limits import Limits
from services.domain.often import quantity
from services.domain.project_settings import with_own
from services.domain.ranges import ranges
from services.domain.texts.bounds import in_line
from services.domain.window import NOTHING, Learned, Source, Window, cache_ttl, prompt_tokens, window
from services.plan.planner.attribution import attribution
from services.plan.planner.causes import cache_left
from services.plan.planner.outlook import outlook
from services.plan.session.session_activity import SessionActivity
from services.plan.session.state import Session, served_tokens
from services.responder.answers.base import LONG, Context, Question, UnknownSession, in_force, session_of, settings_of
from services.responder.answers.session_names import nearest
from services.responder.projections.folds import LEARNED_LIMITS

ORIGINS: Mapping[Source, str] = {
    "harness": "window",
    "settings": "window (as set)",
    "learned": "window (learned from a refusal)",
    "accepted": "window (learned from an answer)",
    "default": "window (presumed)",
}
MAX_LINES = 10
"""The most lines of one list; what is beyond is counted."""
MAX_RANGES = 12
MAX_LINE_CHARACTERS = 120


def report(session: Session, limits: Limits, lag: int, learned: Learned = NOTHING, now: datetime | None = None) -> str:
    """The state of a session. All tokens of prompts are as its provider counts them, tools and system prompt included.

    `lag`: how many facts of the log were not read yet. `learned`: what all sessions have learned of models' limits.
    `now`: the time, for the provider's cache; None where nobody knows it.
    """
    room = window(session.step, session.learned.with_shared(learned), limits) if session.step else None
    return "\n".join(
        [
            _head(session),
            "",
            *_model(session, room),
            *_usage(session, room),
            *_prompt(session, room, limits, now),
            *_tags(session),
            *_plan(session),
            *_history(session),
            *_todos(session.activity),
            *_troubles(session.activity),
            f"Log: {'read to its end' if lag <= 0 else f'{_count(lag)} facts behind'}",
        ]
    )


def _prompt(session: Session, room: Window | None, limits: Limits, now: datetime | None) -> Iterator[str]:
    """The parts of the coming prompt, and what the next rebase waits for."""
    if session.step is None or room is None:
        return
    made, ahead = attribution(session), outlook(session, session.step, room, limits)
    yield f"Prompt now: about {_count(made.prompt)} tokens, {ahead.percent:.0f} % of what is usable"
    yield (
        f"  system prompt and tools {_count(made.system)}, documents and memories {_count(made.documents)}, "
        f"history {_count(made.history)}, conversation {_count(made.conversation)}, "
        f"tool calls {_count(made.tool_calls)}"
    )
    known = session.usage.calibration
    if known.counted:
        yield f"  a token of the estimate counts as {known.density:.2f}, by what the provider has counted"
    else:
        yield "  presumed: the provider has counted no prompt yet"
    yield (
        f"Next rebase: between two turns from {ahead.threshold:.0f} % on ({_count(ahead.threshold_tokens)} "
        f"tokens), at once from {ahead.force:.0f} % on, or as soon as it is cheaper "
        f"(now at {min(ahead.spent, 100):.0f} % of that)"
    )
    yield from (f"  why there was none: {reason}" for reason in ahead.reasons)
    yield from _cache(session, limits, now)


def _cache(session: Session, limits: Limits, now: datetime | None) -> Iterator[str]:
    left = cache_left(session, limits, now) if now else None
    if left is None or session.step is None:
        return
    if left < 0:
        yield "Cache: presumed dead; the next call writes it anew, so that a rebase costs nothing"
    elif isinf(left):
        yield "Cache: never presumed dead, as set"
    else:
        yield f"Cache: presumed alive for {_time(left)} more, of {_time(cache_ttl(session.step, limits))}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _head(session: Session) -> str:
    title = _line(session.activity.title) or "This session"
    about = [session.activity.harness, session.step.mode if session.step else "no model call yet"]
    return f"{title} ({', '.join(filter(None, about))})"


def _model(session: Session, room: Window | None) -> Iterator[str]:
    step = session.step
    if step is None or room is None:
        return
    name = "/".join(filter(None, (step.provider, step.model))) or "not known"
    origin = ORIGINS[room.source]
    yield f"Model: {name}, {origin} {_count(room.context)} tokens, of which {_count(room.usable)} for the prompt"


def _usage(session: Session, room: Window | None) -> Iterator[str]:
    usage = session.usage.sample
    if usage is None or room is None:
        yield "Last call: not counted yet"
        return
    prompt = prompt_tokens(usage)
    share = room.percent(prompt)
    cached = 100 * usage.cache_read / prompt if prompt else 0.0
    yield f"Last call: {_count(prompt)} tokens, {share:.0f} % of what is usable; {cached:.0f} % from the cache"


def _tags(session: Session) -> Iterator[str]:
    yield f"Tags: {_count(session.conversation.last_number)} given, {_count(len(session.drops.dropped))} dropped"
    if session.drops.queued:
        numbers = sorted(session.drops.queued)
        cost = sum(_cost(session, number) for number in numbers)
        yield f"Waiting to be dropped: {ranges(numbers, MAX_RANGES)} (about {_count(cost)} tokens)"


def _history(session: Session) -> Iterator[str]:
    """The lines on compressed history, and on how much of it the prompt shows in the place of the messages."""
    sealed = session.history.sealed
    if not sealed:
        return
    cut = session.plan.cut
    known = session.conversation.messages.get(cut.message) if cut is not None else None
    served_through = known.ordinal - 1 if known else 0
    waiting = f"; from {served_through + 1} on it waits for a rebase" if served_through < session.history.last else ""
    cost = sum(one.tokens for one in sealed)
    yield (
        f"History: messages {sealed[0].first}-{session.history.last} (about {_count(cost)} tokens) "
        f"in {quantity(len(sealed), 'part')}{waiting}"
    )


def _cost(session: Session, number: int) -> int:
    name = session.conversation.numbered.get(number, "")
    return session.conversation.parts[name].recorded.tokens if session.conversation.place(name) else 0


def _plan(session: Session) -> Iterator[str]:
    """The lines on the plan's effect on the prompt: both numbers are of all of it."""
    served, raw = (
        session.usage.calibration.prompt(one) for one in (served_tokens(session), session.conversation.tokens)
    )
    yield (
        f"Plan: revision {_count(session.revision)}; the prompt is about {_count(served)} tokens as served, "
        f"{_count(raw)} as the harness holds it"
    )
    for rebase in reversed(session.activity.rebases):
        saved = rebase.before - rebase.after
        yield f"  revision {_count(rebase.revision)}, {', '.join(rebase.causes)}: {_count(saved)} tokens saved"


def _todos(activity: SessionActivity) -> Iterator[str]:
    lines = activity.open_todos
    if activity.todos.contents:
        yield f"To do: {_count(len(lines))} open of {_count(len(activity.todos.contents))}"
        yield from _some([_line(line) for line in lines])


def _troubles(activity: SessionActivity) -> Iterator[str]:
    if activity.refused is not None:
        status = f" (status {activity.refused.status})" if activity.refused.status else ""
        yield f"Last refusal: {_line(activity.refused.text or 'without a word')}{status}"


def _some(lines: Sequence[str]) -> Iterator[str]:
    for line in lines[:MAX_LINES]:
        yield f"  {line}"
    if len(lines) > MAX_LINES:
        yield f"  and {_count(len(lines) - MAX_LINES)} more"


def _line(text: str) -> str:
    """A text in one line of bounded length."""
    return in_line(text, MAX_LINE_CHARACTERS)


def _count(number: int) -> str:
    return f"{number:,}"


def _open(context: Context) -> Callable[[SessionAsk], Awaitable[SessionReport]]:
    async def answer(ask: SessionAsk) -> SessionReport:
        try:
            session = await session_of(context.cache, ask)
        except UnknownSession as error:
            raise await nearest(context, ask.project, ask.session) or error from None
        learned = await context.cache.state(LEARNED_LIMITS, GLOBAL)
        lag = await context.kit.reader.head() - context.projector.read_through
        own = in_force(await settings_of(context.cache, ask.project), session)
        limits, now = with_own(context.limits, own), datetime.now(UTC)
        return SessionReport(await asyncio.to_thread(report, session, limits, lag, learned, now))

    return answer


SESSION_REPORT = Question(SessionAsk, _open, lambda reason: SessionReport(error=reason), LONG)
