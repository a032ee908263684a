"""A recorded session, played in memory a model call at a time by all lanes, and what became of each of its rebases."""

from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256
from itertools import takewhile

import msgspec

from schemas.codec import encode
from schemas.inbox import Capability, CompactionSeen, ErrorSeen, MessageSeen
from schemas.plan import AnyEdit, target
from services.domain.edits import ServedMessage, apply
from services.domain.limits import Limits
from services.edges.client.player import TidyAgent
from services.edges.client.provider import Provider
from services.edges.client.transcript import Transcript
from services.plan.lanes import LANES
from services.plan.planner.causes import causes
from services.plan.planner.economics import prices_of
from services.plan.provider_rules.signed_thinking import place
from tests.helpers.harness import Call, Harness, cost, edits_of, rebases
from tests.helpers.measured_rebases import Rebase, followed
from tests.helpers.project_documents import Project

LIMITS = Limits(smart_drops=True, caveman=True)
ABLE: tuple[Capability, ...] = ("caches_exact_prefix", "accepts_empty_content")
OVERHEAD = 10_000
"""Tokens of a prompt without its messages: system prompt and tools. Providers have counted 7,000 to 15,000."""
NEWS = 60
"""Calls after which a document of the project is another one."""
ATTEMPTS = 2
"""A harness tries a refused call once more."""
PACE = timedelta(seconds=1)
LINES = "A line about a module and what it does.\n" * 200


class Played(msgspec.Struct, frozen=True):
    """A session that was played."""

    session: str
    calls: int
    refused: int
    """Calls that were too long for the model."""
    rebases: tuple[Rebase, ...]
    unexplained: int
    """Calls in which something changed that was sent before, without a rebase that says why."""
    faults: tuple[str, ...]
    digest: str = ""
    """Of all facts of the session, those that were decided included."""


def play(transcript: Transcript, window: int, *, tidy: bool, limits: Limits = LIMITS) -> Played:
    """Make every call of a recording with a model that takes so many tokens. A `tidy` agent drops what is old."""
    return _Play(transcript, window, limits, tidy=tidy).played()


class _Play:
    """One session at work."""

    def __init__(self, transcript: Transcript, window: int, limits: Limits, *, tidy: bool) -> None:
        self._transcript = transcript
        self._window = window
        self._project = Project(ARCHITECTURE=LINES, STRUCTURE=LINES)
        self._harness = Harness(limits, LANES)
        self._harness.seen = self._project.seen
        self._harness.mode = transcript.seen.mode
        self._harness.context_limit = window
        self._harness.capabilities = ABLE
        self._project.session = self._harness
        self._agent = TidyAgent() if tidy else None
        self._provider = Provider()
        self._calls = self._refused = self._unexplained = 0
        self._rebases: list[Rebase] = []
        self._faults: dict[str, None] = {}

    def played(self) -> Played:
        for number, message in enumerate(self._transcript.messages):
            if message.role == "assistant" and number:
                self._answered(message)
            if message.role != "assistant" and any(part.type == "compaction" for part in message.parts):
                self._harness.messages = []
                self._harness.report(CompactionSeen(auto=True))
            self._arrive(message)
            self._harness.messages.append(message)
        done = tuple(followed(self._rebases, self._calls))
        name = self._transcript.session
        facts = sha256(b"\n".join(encode(event) for _, event in self._harness.log)).hexdigest()
        return Played(name, self._calls, self._refused, done, self._unexplained, tuple(self._faults), facts)

    def _answered(self, answer: MessageSeen) -> None:
        """One call, made again where the model refuses it; the count of the provider, and what the agent drops then."""
        harness = self._harness
        harness.model = answer.model or harness.model
        harness.now = max(harness.now, (answer.at or harness.now + PACE) - PACE)
        for _ in range(ATTEMPTS):
            call = self._call()
            used = self._used(call, answer.message)
            if used <= self._window:
                self._arrive(answer)
                harness.use(used, answer.message)
                break
            self._refused += 1
            harness.report(ErrorSeen(text=f"prompt is too long: {used} tokens > {self._window} maximum"))
        if self._agent is not None and (reply := self._agent.after(call.served)) is not None:
            wanted = _open(harness, map(int, reply.drop.split(",")))
            if wanted:
                harness.drop(*wanted)
        if self._calls % NEWS == 0:
            self._project.write("ARCHITECTURE.md", f"Since call {self._calls}:\n{LINES}")

    def _arrive(self, message: MessageSeen) -> None:
        self._harness.now = max(self._harness.now, message.at or self._harness.now + PACE)

    def _call(self) -> Call:
        before = dict(self._harness.edits)
        call = self._harness.step()
        self._calls += 1
        received = self._provider.receive(call.served, self._harness.now)
        self._unexplained += received.changed and not call.causes
        self._faults |= dict.fromkeys(call.made.faults)
        if rebases(call.made):
            self._rebases.append(_measured(self._calls, call, before))
        return call

    def _used(self, call: Call, answer: str) -> int:
        """What a provider counts: its count in the recording outside of the messages, or as much as is usual."""
        counted = self._transcript.usage.get(answer)
        served = cost(call.served)
        if counted is None:
            return served + OVERHEAD
        prompt = counted.input + counted.cache_read + counted.cache_write
        return served + max(0, prompt - cost(call.raw))


def _open(harness: Harness, tags: Iterable[int]) -> list[int]:
    """Those that a desk lets through."""
    session = harness.session
    return [
        tag
        for tag in tags
        if tag not in session.drops.queued
        and tag not in session.drops.dropped
        and session.conversation.place(session.conversation.numbered.get(tag, ""))
    ]


def _measured(number: int, call: Call, before: dict[str, AnyEdit]) -> Rebase:
    """Compare what is served with what would be served if only what is new were edited."""
    session, unchanged = call.state, call.opened.unchanged
    fresh = {str(target(edit)): edit for edit in edits_of(call.made) if place(session, edit) > unchanged}
    without = apply(call.raw, (before | fresh).values())
    same = len([*takewhile(lambda both: both[0] == both[1], zip(without, call.served, strict=False))])
    event = rebases(call.made)[0]
    return Rebase(
        call=number,
        causes=causes(session, LIMITS),
        reclaimed=cost(without) - cost(call.served),
        rewritten=cost(message for message in call.served[same:] if _was_sent(call, message)),
        planned=event.rewritten,
        steps=event.steps,
        prices=prices_of(call.opened, LIMITS),
    )


def _was_sent(call: Call, message: ServedMessage) -> bool:
    known = call.state.conversation.messages.get(message.id)
    return known is None or known.ordinal <= call.opened.unchanged
