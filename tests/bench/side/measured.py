"""What a played scenario came to: counted from the requests as the model received them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from services.edges.client import cost
from services.edges.client.changes import argument_texts
from services.edges.client.recall import AgentOutput, Recall, RecallOfCalls, VisibleText, recalled
from tests.harness.provider.content import Json, blocks_in, listed, mapping, text_of
from tests.harness.provider.wire import Request, prefix_break


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario in one arm."""

    scenario: str
    arm: str
    calls: int = 0
    """Requests of the agent that were answered."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    new_tokens: int = 0
    largest: int = 0
    prefix_changes: int = 0
    aside_calls: int = 0
    """Compactions and other calls than the agent's ..."""
    aside_tokens: int = 0
    """... and their tokens, in and out."""
    refused: int = 0
    """Requests that were too long."""
    failed_turns: int = 0
    invalid: int = 0
    """Requests that break a provider's rules."""
    lost_steps: int = 0
    """Recorded answers that were never asked for."""
    cost_raw: int = 0
    cost: int = 0
    """With what would have to be looked at again."""
    misses: int = 0
    seen: float = 1.0
    basis: float = 1.0
    rebases: dict[str, int] = {}
    """By cause."""
    seconds: float = 0.0
    note: str = ""


class Answered(msgspec.Struct, frozen=True):
    """One answer of the agent: the request, what it wrote, and what had been shown since the one before."""

    request: Request
    written: AgentOutput
    shown: tuple[VisibleText, ...]


def measured(
    row: Row, requests: Sequence[Request], refused: Iterable[int], answers: Sequence[Sequence[Answered]], home: str
) -> Row:
    """The row with all that can be counted. `answers`: those of each session that was played."""
    over = set(refused)
    sessions = {one.request.session for played in answers for one in played}
    main = {one.number for one in requests if one.session in sessions and one.kind == "main"}
    served = [one for one in requests if one.number not in over and not one.faults]
    answered = [one for one in served if one.number in main]
    aside = [one for one in served if one.number not in main and one.kind != "title"]
    aside_tokens = sum(one.usage.prompt + one.usage.output for one in aside)
    prompt = sum(one.usage.prompt for one in answered)
    cached = sum(one.usage.cached for one in answered)
    raw = cost.units(prompt, cached, aside_tokens)
    recall = recalled(remembered(played, home) for played in answers)
    by_session = [[one for one in answered if one.session == session] for session in sorted(sessions)]
    return msgspec.structs.replace(
        row,
        calls=len(answered),
        prompt_tokens=prompt,
        cached_tokens=cached,
        new_tokens=prompt - cached,
        largest=max((one.usage.prompt for one in answered), default=0),
        prefix_changes=sum(bool(prefix_break(*both)) for played in by_session for both in pairwise(played)),
        aside_calls=len(aside),
        aside_tokens=aside_tokens,
        refused=len(over),
        invalid=sum(bool(one.faults) for one in requests),
        cost_raw=round(raw),
        cost=round(raw + recall.units),
        misses=recall.misses,
        seen=round(recall.seen, 4),
        basis=round(recall.basis, 4),
    )


def remembered(answers: Iterable[Answered], home: str) -> RecallOfCalls:
    """What stood in each prompt of what its answer used."""
    recall, texts = Recall(home), _Texts()
    return recalled(
        recall.call(texts.of(one.request), one.written, one.shown, one.request.usage.prompt) for one in answers
    )


class _Texts:
    """The texts of a request's messages; each message is read once."""

    def __init__(self) -> None:
        self._read: dict[bytes, tuple[str, ...]] = {}

    def of(self, request: Request) -> tuple[str, ...]:
        found: list[str] = []
        for data in request.messages:
            if data not in self._read:
                self._read[data] = tuple(filter(None, texts(msgspec.json.decode(data))))
            found += self._read[data]
        return tuple(found)


def texts(message: Json) -> Iterator[str]:
    """All that a model reads of a message, in either format; arguments without their escapes."""
    yield str(message.get("reasoning_content") or "")
    for call in listed(message.get("tool_calls")):
        yield from argument_texts(str(mapping(mapping(call).get("function")).get("arguments", "")))
    for block in blocks_in(message.get("content") or ""):
        match block.get("type"):
            case "tool_use":
                yield from argument_texts(msgspec.json.encode(block.get("input")).decode())
            case "tool_result":
                yield text_of(block.get("content"))
            case "thinking":
                yield str(block.get("thinking") or "")
            case _:
                yield str(block.get("text") or "")


def ratio(row: Row, alone: Row | None) -> float | None:
    """Cost relative to OpenCode alone, misses paid for."""
    return round(row.cost / alone.cost, 3) if alone and alone.cost else None


def table(rows: Sequence[Row]) -> str:
    """All rows as a table in Markdown."""
    headings = (
        "scenario", "arm", "calls", "prompt tokens", "cached", "new", "largest", "prefix changes", "aside (tokens)",
        "refused", "failed turns", "invalid", "lost steps", "cost raw", "cost", "relative to alone", "misses", "seen",
        "basis", "rebases", "note",
    )  # fmt: skip
    alone = {row.scenario: row for row in rows if row.arm == "alone"}
    lines = [f"| {' | '.join(headings)} |", "|" + "---|" * len(headings)]
    lines += [f"| {' | '.join(_cells(row, alone.get(row.scenario)))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cells(row: Row, alone: Row | None) -> Iterator[str]:
    yield from (row.scenario, row.arm)
    share = row.cached_tokens / row.prompt_tokens if row.prompt_tokens else 0.0
    relative = ratio(row, alone)
    yield from (f"{row.calls:,}", f"{row.prompt_tokens:,}", f"{share:.1%}", f"{row.new_tokens:,}", f"{row.largest:,}")
    yield from (f"{row.prefix_changes}", f"{row.aside_calls} ({row.aside_tokens:,})", f"{row.refused}")
    yield from (f"{row.failed_turns}", f"{row.invalid}", f"{row.lost_steps}", f"{row.cost_raw:,}", f"{row.cost:,}")
    yield from ("" if relative is None else f"{relative:.2f}", f"{row.misses}", f"{row.seen:.1%}", f"{row.basis:.1%}")
    yield from (", ".join(f"{cause} {count}" for cause, count in row.rebases.items()), row.note)
