"""The answer to `ask.session`: how a session stands, in Markdown, for a person."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from schemas.events import StepOpened
from schemas.plan import CutBefore
from services.kit.limits import Limits
from services.responder.notes import Notes
from services.responder.state import Session

MAX_RESERVED = 32_000
"""The most of a window that is kept for the answer."""
MAX_LINES = 10
"""The most lines of one list; what is beyond is counted."""
MAX_RANGES = 12
MAX_LINE_CHARACTERS = 120


def report(session: Session, limits: Limits, lag: int) -> str:
    """`lag`: how many facts of the log were not read yet."""
    return "\n".join(
        [
            _head(session),
            "",
            *_model(session, limits),
            *_usage(session, limits),
            *_tags(session),
            *_plan(session),
            *_history(session),
            *_todos(session.notes),
            *_troubles(session.notes),
            f"- **Log**: {'read to its end' if lag <= 0 else f'{_count(lag)} facts behind'}",
        ]
    )


def window(step: StepOpened, limits: Limits) -> tuple[int, int]:
    """The context window in tokens, and what of it a prompt may use: the rest is for the answer."""
    whole = step.context_limit or limits.default_context_limit
    return whole, max(1, whole - min(step.output_limit, MAX_RESERVED))


def _head(session: Session) -> str:
    title = _line(session.notes.title) or "This session"
    about = [session.notes.harness, session.step.mode if session.step else "no model call yet"]
    return f"**{title}** ({', '.join(filter(None, about))})"


def _model(session: Session, limits: Limits) -> Iterator[str]:
    step = session.step
    if step is None:
        return
    whole, usable = window(step, limits)
    name = "/".join(filter(None, (step.provider, step.model))) or "not known"
    told = "window" if step.context_limit else "window (presumed)"
    yield f"- **Model**: {name}, {told} {_count(whole)} tokens, of which {_count(usable)} for the prompt"


def _usage(session: Session, limits: Limits) -> Iterator[str]:
    usage, step = session.usage, session.step
    if usage is None or step is None:
        yield "- **Last call**: not counted yet"
        return
    prompt = usage.input + usage.cache_read + usage.cache_write
    share = 100 * prompt / window(step, limits)[1]
    cached = 100 * usage.cache_read / prompt if prompt else 0.0
    yield f"- **Last call**: {_count(prompt)} tokens, {share:.0f} % of what is usable; {cached:.0f} % from the cache"


def _tags(session: Session) -> Iterator[str]:
    yield f"- **Tags**: {_count(session.talk.last_number)} given, {_count(len(session.dropped))} dropped"
    if session.queued:
        numbers = sorted(session.queued)
        cost = sum(_cost(session, number) for number in numbers)
        yield f"- **Waiting to be dropped**: {_spoken(numbers)} (about {_count(cost)} tokens)"


def _history(session: Session) -> Iterator[str]:
    """What is compressed, and how much of it the prompt shows in the place of the messages."""
    sealed = session.history.sealed
    if not sealed:
        return
    cut = session.edits.get("cut")
    known = session.talk.messages.get(cut.message) if isinstance(cut, CutBefore) else None
    shown = known.ordinal - 1 if known else 0
    waiting = f"; from {shown + 1} on it waits for a rebase" if shown < session.history.last else ""
    cost = sum(one.tokens for one in sealed)
    yield (
        f"- **History**: messages {sealed[0].first}-{session.history.last} (about {_count(cost)} tokens) "
        f"in {len(sealed)} parts{waiting}"
    )


def _cost(session: Session, number: int) -> int:
    name = session.talk.numbered.get(number, "")
    return session.talk.parts[name].recorded.tokens if session.talk.place(name) else 0


def _plan(session: Session) -> Iterator[str]:
    served = max(0, session.talk.tokens - session.saved)
    yield (
        f"- **Plan**: revision {_count(session.revision)}; about {_count(served)} tokens as served, "
        f"{_count(session.talk.tokens)} as the harness holds them"
    )
    for rebase in reversed(session.notes.rebases):
        saved = rebase.before - rebase.after
        yield f"  - revision {_count(rebase.revision)}, {', '.join(rebase.causes)}: {_count(saved)} tokens saved"


def _todos(notes: Notes) -> Iterator[str]:
    lines = notes.open_todos
    if notes.todos.contents:
        yield f"- **To do**: {_count(len(lines))} open of {_count(len(notes.todos.contents))}"
        yield from _some([_line(line) for line in lines])


def _troubles(notes: Notes) -> Iterator[str]:
    if notes.refused is not None:
        status = f" ({notes.refused.status})" if notes.refused.status else ""
        words = _line(f"{notes.refused.name}{status} {notes.refused.text}")
        yield f"- **Last refusal**: {words}"


def _some(lines: Sequence[str]) -> Iterator[str]:
    for line in lines[:MAX_LINES]:
        yield f"  - {line}"
    if len(lines) > MAX_LINES:
        yield f"  - and {_count(len(lines) - MAX_LINES)} more"


def _line(text: str) -> str:
    """A text in one line of bounded length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_LINE_CHARACTERS else flat[: MAX_LINE_CHARACTERS - 1] + "…"


def _count(number: int) -> str:
    return f"{number:,}"


def _spoken(numbers: Iterable[int]) -> str:
    """Numbers as ranges: 3-5, 8."""
    runs: list[list[int]] = []
    ordered = sorted(numbers)
    for before, number in pairwise([ordered[0] - 2, *ordered]):
        if number == before + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    told = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return ", ".join([*told[:MAX_RANGES], *(["…"] if len(told) > MAX_RANGES else [])])
