"""The answer to `ask.session`: how a session stands, in Markdown, for a person."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from schemas.plan import CutBefore
from services.kit.limits import Limits
from services.kit.window import NOTHING, Learned, Source, Window, prompt_tokens, window
from services.responder.notes import Notes
from services.responder.state import Session

SAID_BY: Mapping[Source, str] = {
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


def report(session: Session, limits: Limits, lag: int, house: Learned = NOTHING) -> str:
    """`lag`: how many facts of the log were not read yet. `house`: what all sessions have learned of models' limits."""
    room = window(session.step, session.learned.beside(house), limits) if session.step else None
    return "\n".join(
        [
            _head(session),
            "",
            *_model(session, room),
            *_usage(session, room),
            *_tags(session),
            *_plan(session),
            *_history(session),
            *_todos(session.notes),
            *_troubles(session.notes),
            f"- **Log**: {'read to its end' if lag <= 0 else f'{_count(lag)} facts behind'}",
        ]
    )


def _head(session: Session) -> str:
    title = _line(session.notes.title) or "This session"
    about = [session.notes.harness, session.step.mode if session.step else "no model call yet"]
    return f"**{title}** ({', '.join(filter(None, about))})"


def _model(session: Session, room: Window | None) -> Iterator[str]:
    step = session.step
    if step is None or room is None:
        return
    name = "/".join(filter(None, (step.provider, step.model))) or "not known"
    told = SAID_BY[room.source]
    yield f"- **Model**: {name}, {told} {_count(room.context)} tokens, of which {_count(room.usable)} for the prompt"


def _usage(session: Session, room: Window | None) -> Iterator[str]:
    usage = session.usage
    if usage is None or room is None:
        yield "- **Last call**: not counted yet"
        return
    prompt = prompt_tokens(usage)
    share = room.percent(prompt)
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
