"""What a replay came to, as numbers and as a table."""

import statistics
from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.table import Table

from services.client.player import Played, Session


class Rebase(msgspec.Struct, frozen=True):
    """One rebase as the client saw it. Tokens are estimates of the prompt without any plan and as served."""

    cause: str
    session: str
    step: str
    tokens_before: int
    tokens_after: int
    prefix_kept: float
    """Share of the prompt, in bytes, that was as in the call before."""


class Times(msgspec.Struct, frozen=True):
    """Milliseconds from publishing a step to its plan in hand."""

    p50: float
    p99: float


class Report(msgspec.Struct, frozen=True):
    """Sums over all sessions that were played."""

    sessions: int
    steps: int
    messages: int
    tags: int
    drops: int
    rebases: tuple[Rebase, ...]
    unexplained_prefix_changes: int
    fallbacks: int
    """Steps that were served without an answer in time."""
    tokens_before: int
    """Estimated tokens of all prompts as the harness held them ..."""
    tokens_after: int
    """... and as they were served."""
    cached_share: float
    """Share of the served tokens that the provider's cache had."""
    transform_ms: Times


class Line(msgspec.Struct, frozen=True):
    """One model call: what was served, and how much of it the call before had sent in the same bytes."""

    session: str
    step: str
    pass_: str = msgspec.field(name="pass")
    causes: tuple[str, ...]
    edits: int
    """Edits that came with this call."""
    messages: int
    bytes: int
    prefix_messages: int
    prefix_bytes: int
    tokens_before: int
    tokens_after: int
    transform_ms: float


def lines(sessions: Sequence[Session]) -> list[Line]:
    return [
        Line(
            session=session.address.session,
            step=step.step,
            pass_=step.pass_ or step.status,
            causes=step.causes,
            edits=step.edits,
            messages=step.received.messages,
            bytes=step.received.bytes,
            prefix_messages=step.received.prefix_messages,
            prefix_bytes=step.received.prefix_bytes,
            tokens_before=step.raw_tokens,
            tokens_after=step.served_tokens,
            transform_ms=round(1000 * step.seconds, 3),
        )
        for session in sessions
        for step in session.steps
    ]


def report(sessions: Sequence[Session]) -> Report:
    steps = [step for session in sessions for step in session.steps]
    served = sum(step.received.tokens for step in steps)
    return Report(
        sessions=len(sessions),
        steps=len(steps),
        messages=sum(len(session.transcript.messages) for session in sessions),
        tags=sum(session.tags for session in sessions),
        drops=sum(session.dropped for session in sessions),
        rebases=tuple(_rebase(session, step) for session in sessions for step in session.steps if step.causes),
        unexplained_prefix_changes=sum(step.is_unexplained for step in steps),
        fallbacks=sum(step.status != "ready" for step in steps),
        tokens_before=sum(step.raw_tokens for step in steps),
        tokens_after=sum(step.served_tokens for step in steps),
        cached_share=round(sum(step.received.cached_tokens for step in steps) / served, 4) if served else 0.0,
        transform_ms=times([step.seconds for step in steps]),
    )


def _rebase(session: Session, step: Played) -> Rebase:
    return Rebase(
        cause=", ".join(step.causes),
        session=session.address.session,
        step=step.step,
        tokens_before=step.raw_tokens,
        tokens_after=step.served_tokens,
        prefix_kept=round(step.received.prefix_bytes / max(1, step.received.bytes), 4),
    )


def times(seconds: Sequence[float]) -> Times:
    ordered = sorted(seconds)
    if not ordered:
        return Times(0.0, 0.0)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return Times(round(1000 * statistics.median(ordered), 3), round(1000 * p99, 3))


def table(made: Report, console: Console) -> None:
    """Print the report for a person."""
    rows = Table("what", "value", title="What Annals did", title_justify="left")
    saved = 1 - made.tokens_after / made.tokens_before if made.tokens_before else 0.0
    for what, value in (
        ("sessions", f"{made.sessions:,}"),
        ("messages", f"{made.messages:,}"),
        ("model calls", f"{made.steps:,}"),
        ("tags given", f"{made.tags:,}"),
        ("tags the agent dropped", f"{made.drops:,}"),
        ("rebases", f"{len(made.rebases):,}  {_causes(made.rebases)}"),
        ("prefix changes without a rebase", f"{made.unexplained_prefix_changes:,}"),
        ("calls served by the last plan in hand", f"{made.fallbacks:,}"),
        ("prompt tokens, as the harness held them", f"{made.tokens_before:,}"),
        ("prompt tokens, as served", f"{made.tokens_after:,}  ({saved:.0%} less)"),
        ("of these in the provider's cache", f"{made.cached_share:.1%}"),
        ("step to plan in hand", f"p50 {made.transform_ms.p50:.1f} ms   p99 {made.transform_ms.p99:.1f} ms"),
    ):
        rows.add_row(what, value)
    console.print(rows)


def _causes(rebases: Sequence[Rebase]) -> str:
    counts: dict[str, int] = {}
    for rebase in rebases:
        counts[rebase.cause] = counts.get(rebase.cause, 0) + 1
    return f"({', '.join(f'{cause} {count}' for cause, count in counts.items())})" if counts else ""
