"""The result of a replay, as numbers and as a table."""

import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec
from rich.console import Console
from rich.table import Table

from services.edges.client.cost import CACHED, NEW
from services.edges.client.player import Played, PlayedSession
from services.edges.client.recall import recalled
from services.edges.styling import styled


class ReplayRebase(msgspec.Struct, frozen=True):
    """One rebase as the client saw it. Tokens are estimates of the prompt without any plan and as served."""

    cause: str
    session: str
    step: str
    tokens_before: int
    tokens_after: int
    prefix_kept: float
    """Share of the prompt, in bytes, that was as in the call before."""
    net: float = 0.0
    """Cost units that it has saved until the next one or the end, less what writing the cache anew has cost."""


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
    rebases: tuple[ReplayRebase, ...]
    unexplained_prefix_changes: int
    fallbacks: int
    """Steps that were served without an answer in time."""
    tokens_before: int
    """Estimated tokens of all prompts in the harness's lists."""
    tokens_after: int
    """Estimated tokens of all prompts as they were served."""
    cached_share: float
    """Share of the served tokens that the provider's cache had."""
    prompt_tokens: int
    """Tokens of all prompts as the provider counts them, tools and system prompt included."""
    cached_tokens: int
    """Tokens of all prompts that the provider's cache had."""
    largest_prompt: int
    """Tokens of the largest prompt as the provider counts them."""
    refused: int
    """Requests that were too long for the model."""
    failed: int
    """Calls that never came through."""
    aside_tokens: int
    """Tokens, in and out, of calls outside the conversation: compactions."""
    cost_units_raw: float
    """The cost of all of it, see `cost.units`."""
    cost_units: float
    """The cost with what would have to be looked at again, see `recall`."""
    misses: int
    """Outputs and messages that would have to be looked at again."""
    seen: float
    """Share of the names that the agent wrote and had been shown that stood in the prompt as served."""
    basis: float
    """Share of the edits whose old text had been shown and stood there: `based` of `file_edits`."""
    file_edits: int
    based: int
    rebases_at_a_loss: int
    transform_ms: Times


class CallLine(msgspec.Struct, frozen=True):
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
    tokens: int
    """Tokens of the whole prompt, as the provider counts it."""
    cached_tokens: int
    """Tokens of the prompt that were in the provider's cache."""
    refused: int
    aside_tokens: int
    cost_units: float
    names: int
    """The number of names that the agent wrote and had been shown."""
    missing: tuple[str, ...]
    """Names that the agent wrote and had seen before, and that were nowhere in the prompt."""
    file_edits: int
    """The number of edits whose old text had been shown."""
    based: int
    """The number of edits whose old text had been shown and was in the prompt."""
    misses: int
    miss_units: float


def lines(sessions: Sequence[PlayedSession]) -> list[CallLine]:
    return [
        CallLine(
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
            tokens=step.received.tokens,
            cached_tokens=step.received.cached_tokens,
            refused=step.refused,
            aside_tokens=step.aside,
            cost_units=round(step.cost, 1),
            names=step.recall.names,
            missing=tuple(sorted(step.recall.missing)),
            file_edits=step.recall.edits,
            based=step.recall.based,
            misses=step.recall.misses,
            miss_units=round(step.recall.units, 1),
        )
        for session in sessions
        for step in session.steps
    ]


def report(sessions: Sequence[PlayedSession]) -> Report:
    steps = [step for session in sessions for step in session.steps]
    served = sum(step.received.tokens for step in steps)
    recall = recalled(step.recall for step in steps)
    cost = sum(step.cost for step in steps)
    rebases = tuple(rebase for session in sessions for rebase in _rebases(session))
    return Report(
        sessions=len(sessions),
        steps=len(steps),
        messages=sum(len(session.transcript.messages) for session in sessions),
        tags=sum(session.tags for session in sessions),
        drops=sum(session.dropped for session in sessions),
        rebases=rebases,
        unexplained_prefix_changes=sum(step.is_unexplained for step in steps),
        fallbacks=sum(step.status != "ready" for step in steps),
        tokens_before=sum(step.raw_tokens for step in steps),
        tokens_after=sum(step.served_tokens for step in steps),
        cached_share=round(sum(step.received.cached_tokens for step in steps) / served, 4) if served else 0.0,
        prompt_tokens=served,
        cached_tokens=sum(step.received.cached_tokens for step in steps),
        largest_prompt=max((step.received.tokens for step in steps), default=0),
        refused=sum(step.refused for step in steps),
        failed=sum(step.failed for step in steps),
        aside_tokens=sum(step.aside for step in steps),
        cost_units_raw=round(cost),
        cost_units=round(cost + recall.units),
        misses=recall.misses,
        seen=round(recall.seen, 4),
        basis=round(recall.basis, 4),
        file_edits=recall.edits,
        based=recall.based,
        rebases_at_a_loss=sum(rebase.net < 0 for rebase in rebases),
        transform_ms=times([step.seconds for step in steps]),
    )


def _rebases(session: PlayedSession) -> Iterator[ReplayRebase]:
    steps = session.steps
    at = [index for index, step in enumerate(steps) if step.causes]
    for index, after in pairwise([*at, len(steps)]):
        yield _rebase(session, steps[index], _net(steps[index - 1] if index else None, steps[index], after - index))


def _net(before: Played | None, step: Played, calls: int) -> float:
    """The gain of a rebase in so many calls, its own included; a dead cache would have been written anyway."""
    if before is None:
        return 0.0
    growth = step.raw_tokens - before.raw_tokens
    saved = before.received.tokens + growth - step.received.tokens
    if not step.received.warm:
        return round(NEW * saved + CACHED * saved * (calls - 1), 1)
    rewritten = max(0, step.received.tokens - step.received.cached_tokens - growth)
    return round(CACHED * saved * calls - (NEW - CACHED) * rewritten - step.aside, 1)


def _rebase(session: PlayedSession, step: Played, net: float) -> ReplayRebase:
    return ReplayRebase(
        cause=", ".join(step.causes),
        session=session.address.session,
        step=step.step,
        tokens_before=step.raw_tokens,
        tokens_after=step.served_tokens,
        prefix_kept=round(step.received.prefix_bytes / max(1, step.received.bytes), 4),
        net=net,
    )


def times(seconds: Sequence[float]) -> Times:
    ordered = sorted(seconds)
    if not ordered:
        return Times(0.0, 0.0)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return Times(round(1000 * statistics.median(ordered), 3), round(1000 * p99, 3))


def table(made: Report, out: Console) -> None:
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
        ("prompt tokens, as the harness stores them", f"{made.tokens_before:,}"),
        ("prompt tokens, as served", f"{made.tokens_after:,}  ({saved:.0%} less)"),
        ("of these in the provider's cache", f"{made.cached_share:.1%}"),
        ("requests that were too long, calls that failed", f"{made.refused:,}, {made.failed:,}"),
        ("cost in plain input tokens", f"{made.cost_units_raw:,.0f}"),
        ("with what would be looked at again", f"{made.cost_units:,.0f}  ({made.misses:,} times)"),
        ("names the agent used that were in sight", f"{made.seen:.1%}"),
        ("edits whose old text was in sight", _share(made.based, made.file_edits)),
        ("step to plan in hand", f"p50 {made.transform_ms.p50:.1f} ms   p99 {made.transform_ms.p99:.1f} ms"),
    ):
        rows.add_row(what, styled(value))
    out.print(rows)


def _share(some: int, of: int) -> str:
    """A share with its counts: of a few a percentage says little, and of none nothing."""
    return f"{some / of:.1%}  ({some:,} of {of:,})" if of else "none was made"


def _causes(rebases: Sequence[ReplayRebase]) -> str:
    counts: dict[str, int] = {}
    for rebase in rebases:
        counts[rebase.cause] = counts.get(rebase.cause, 0) + 1
    return f"({', '.join(f'{cause} {count}' for cause, count in counts.items())})" if counts else ""
