"""A harness, the log and the responder's core in memory: what an adapter would report, store and serve."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from itertools import takewhile

import msgspec

from schemas.codec import decode_edits, wrap
from schemas.envelope import Actor, Envelope
from schemas.events import (
    DropRequested,
    Event,
    FlushRequested,
    NativeCompacted,
    PartRecorded,
    PlanExtended,
    PlanRebased,
    StepOpened,
)
from schemas.inbox import (
    Attachment,
    Capability,
    Inbound,
    Listed,
    MessageSeen,
    Mode,
    PartSeen,
    Role,
    Seen,
    SessionSeen,
    StepSeen,
    ToolStatus,
    UsageSeen,
)
from schemas.plan import AnyEdit, Restore, Revision, Withdraw, target
from schemas.subjects import Address
from services.domain.attachments import attachment_tokens, picture_tokens
from services.domain.edits import ServedMessage, ServedPart, apply, faults
from services.domain.limits import Limits
from services.domain.tokens import tokens
from services.domain.window import Learned
from services.edges.client.adapter import as_sent
from services.plan.lanes import DROPS, TAGS, Lane, View
from services.plan.planner.forks import decide
from services.plan.planner.plan import Pass
from services.plan.provider_rules.signed_thinking import is_withheld
from services.plan.session.predecessor import Predecessor
from services.plan.session.state import Session, evolve
from services.tagger.core import decide as tagger
from services.tagger.core import state as tagger_state
from tests.helpers.given import drafted

replace = msgspec.structs.replace

ADDRESS = Address("p", "s")
START = datetime(2026, 1, 1, tzinfo=UTC)
LIMITS = Limits(threshold=65, protected_tags=1, min_reclaim=2000)
BASIC: tuple[Lane, ...] = (TAGS, DROPS)
"""The lanes that every session has."""
ALL = 1 << 30
"""As many revisions as there are."""


def text_part(text: str, *, ignored: bool = False) -> PartSeen:
    return PartSeen(message="", type="text", text=text, ignored=ignored)


def thought(text: str = "hm", *, signed: bool = False) -> PartSeen:
    return PartSeen(message="", type="reasoning", text=text, signed=signed)


def attached(url: str = "data:image/png;base64,AAAA") -> PartSeen:
    return PartSeen(message="", type="file", text=url, mime="image/png")


def ran(output: str, arguments: str = "{}", *, call: str = "c", pending: bool = False) -> PartSeen:
    status: ToolStatus = "pending" if pending else "completed"
    return PartSeen(message="", type="tool", tool="bash", call=call, input=arguments, output=output, status=status)


SHOWN = "Image read successfully"
"""The text that OpenCode adds to a picture."""


def with_picture(part: PartSeen, *, side: int = 900, mime: str = "image/png") -> PartSeen:
    """A tool's answer with a picture: of 900 by 900 pixels it costs 1,080 tokens."""
    picture = Attachment(mime, "shot.png", bytes=50_000, width=side, height=side, digest=f"{part.call}{side}")
    return replace(part, attachments=(picture,))


def asked(call: str, arguments: str = "{}") -> PartSeen:
    return PartSeen(message="", type="tool_call", tool="bash", call=call, input=arguments)


def answered(call: str, output: str) -> PartSeen:
    return PartSeen(message="", type="tool_result", tool="bash", call=call, output=output)


class Call(msgspec.Struct, frozen=True):
    """One model call, as it went out."""

    opened: StepOpened
    raw: tuple[ServedMessage, ...]
    served: tuple[ServedMessage, ...]
    made: Pass
    state: Session
    """The responder's state at the decision."""
    took: tuple[Revision, ...]
    """The revisions that reached the harness."""

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cause for revision in self.took for cause in revision.causes))

    @property
    def text(self) -> list[str]:
        """What a model reads, part by part."""
        return [
            part.output if part.kind in ("tool", "tool_result") else part.text
            for message in self.served
            for part in message.parts
        ]


class Harness:
    """One session. Its messages are what it would send; everything it reports and everything decided is in `log`."""

    def __init__(self, limits: Limits = LIMITS, lanes: Sequence[Lane] = BASIC) -> None:
        self.limits = limits
        self.lanes = lanes
        self.now = START
        self.log: list[tuple[Envelope, Event]] = []
        self.tagger = tagger_state.TaggedSession()
        self.session = Session()
        self.shared = Learned()
        """What all sessions have learned of models' limits."""
        self.messages: list[MessageSeen] = []
        self.mode: Mode = "primary"
        self.agent = ""
        self.model = "opus"
        self.system = "v1"
        self.capabilities: tuple[Capability, ...] = ("accepts_empty_content",)
        self.context_limit = 100_000
        self.output_limit = 0
        self.revision = 0
        self.edits: dict[str, AnyEdit] = {}
        self._named = 0
        self._steps = 0
        self._last: tuple[str, ...] = ()
        self._unreported = False
        self._reported: dict[str, MessageSeen] = {}
        self.known: dict[str, MessageSeen] = {}
        """Every message that was ever reported."""
        self.origin: Harness | None = None
        """The session that this one was copied from."""
        self.seen: Callable[[View], View] = lambda view: view
        """Adds what is known of the project to what a pass is decided on."""
        self.predecessor = Predecessor()
        """What was found of the session before this one."""
        self.compacts = False
        """Whether it compacts a session that fills the window."""
        self.names = "m"
        """What the names of its messages begin with."""

    # What happens in the session

    def add_message(self, role: Role, *parts: PartSeen) -> str:
        """A new message at the end; its name."""
        self._named += 1
        name = f"{self.names}{self._named}"
        named = [replace(part, message=name, part=f"{name}.{n}", position=n) for n, part in enumerate(parts)]
        self.messages.append(MessageSeen(message=name, role=role, at=self.now, parts=tuple(named)))
        return name

    def user(self, text: str, *, typed: bool = True) -> str:
        """A message of a user. `typed`: the harness vouches that a person typed it."""
        return self.add_message("user", replace(text_part(text), typed=typed))

    def assistant(self, *parts: PartSeen) -> str:
        return self.add_message("assistant", *parts)

    def change(self, part: str, **fields: object) -> None:
        """The harness holds other content in a part than before."""
        self.messages = [
            replace(message, parts=tuple(replace(one, **fields) if one.part == part else one for one in message.parts))
            for message in self.messages
        ]

    def without(self, name: str) -> None:
        """The harness lists this message no more."""
        self.messages = [message for message in self.messages if message.message != name]

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def report(self, *items: Seen) -> None:
        """What the harness says, as facts."""
        inbound = Inbound(id=f"in{len(self.log)}", at=self.now, items=items)
        origin = self.origin.tagger if self.origin else None
        context = tagger.InboundContext("test", inbound, origin)
        for event in drafted(tagger_state.evolve, self.tagger, lambda draft: tagger.decide(draft, context)):
            self.append(event)

    def fork(self, before: str = "") -> "Harness":
        """A copy with all messages, or with those before this one, under other ids."""
        copy = Harness(self.limits, self.lanes)
        copy.seen = self.seen
        copy.names, copy.now, copy.origin, copy.capabilities = f"{self.names}f", self.now, self, self.capabilities
        copied = list(takewhile(lambda message: message.message != before, self.messages))
        for message in copied:
            copy.add_message(message.role, *message.parts)
            copy.messages[-1] = replace(copy.messages[-1], at=message.at)
        is_whole = len(copied) == len(self.messages)
        copy.report(SessionSeen(forked_from=ADDRESS.session, forked_at="" if is_whole else copied[-1].message))
        return copy

    def use(self, prompt: int, message: str = "") -> None:
        """The provider has counted so many tokens for an answer."""
        self.report(UsageSeen(message=message or f"a{self._steps}", input=prompt))

    def drop(self, *tags: int) -> None:
        self.append(DropRequested(tags=list(tags)))

    def flush(self) -> None:
        self.append(FlushRequested())

    def compact(self) -> None:
        self.append(NativeCompacted(last_tag=self.tagger.last_number))

    # The log

    def append(self, event: Event) -> None:
        """A fact of another pen than the responder's."""
        envelope = self._recorded(event)
        self.tagger = tagger_state.evolve(self.tagger, event, envelope)
        self.session = evolve(self.session, event, envelope)

    def _recorded(self, event: Event) -> Envelope:
        seq = len(self.log) + 1
        envelope = wrap(event, ADDRESS, id=f"e{seq}", at=self.now, actor=Actor("room"))
        self.log.append((replace(envelope, seq=seq), event))
        return self.log[-1][0]

    def folded(self) -> Session:
        """The responder's state, from the log alone."""
        return fold(self.log)

    def twin(self) -> "Harness":
        """This session once more, with all its reports: the two are independent from then on."""
        values = (*self.log, *self.messages, *self.known.values(), self.tagger, self.session, self.lanes, self.limits)
        return deepcopy(self, {id(value): value for value in values})

    def restart(self) -> None:
        """A responder starts that knows nothing but the log."""
        self.session = self.folded()

    def restart_harness(self) -> None:
        """The harness starts anew; its plan is stored."""
        self._reported = {}

    # A model call

    def step(self, *, asks: bool = True, takes: int = ALL, meanwhile: Iterable[Event] = ()) -> Call:
        """Report the step, let the plan be decided unless nobody `asks`, and serve what the harness then has.

        It takes in only so many of the new revisions: the others did not reach it. `meanwhile` stands in the log
        before the decision and is read after it.
        """
        self.report_step()
        state = self.session
        opened = state.step
        if opened is None:
            raise ValueError("no step was opened")
        made = self._decide(state) if asks else Pass("replay")
        self.append_plan(made.events, meanwhile)
        revisions = [self.session.revisions.made[n] for n in range(self.revision + 1, self.session.revision + 1)]
        took = tuple(revisions[:takes]) if asks and not is_withheld(self.session, self.revision) else ()
        for revision in took:
            self._take(revision)
        raw = tuple(as_sent(message) for message in self.messages)
        return Call(opened, raw, tuple(apply(raw, self.edits.values())), made, state, took)

    def step_unreported(self) -> Call:
        """A call goes out with what the harness holds, and nobody hears of it."""
        self._last = tuple(message.message for message in self.messages)
        self._reported |= {message.message: message for message in self.messages}
        self._unreported = True
        raw = tuple(as_sent(message) for message in self.messages)
        return Call(StepOpened(step=""), raw, tuple(apply(raw, self.edits.values())), Pass("replay"), self.session, ())

    def _shared(self) -> tuple[str, ...]:
        """What this call and the one before it begin with; after a new start, by their names."""
        shared = []
        for old, message in zip(self._last, self.messages, strict=False):
            if old != message.message or (self._reported and self._reported.get(old) != message):
                break
            shared.append(old)
        return tuple(shared)

    def report_step(self) -> None:
        self._steps += 1
        names = tuple(message.message for message in self.messages)
        shared = self._shared()
        common = 0 if self._unreported or not self._reported else len(shared)
        reported = {} if self._unreported else self._reported
        fresh = [message for message in self.messages if reported.get(message.message) != message]
        listed = [
            Listed(message.message, tuple(part.part for part in message.parts)) for message in self.messages[common:]
        ]
        step = StepSeen(
            step=f"s{self._steps}",
            after=names[common - 1] if common else "",
            messages=tuple(listed),
            count=len(names),
            sent="" if common else "".join(shared[-1:]),
            served=self.revision,
            agent=self.agent,
            mode=self.mode,
            provider="anthropic",
            model=self.model,
            context_limit=self.context_limit,
            output_limit=self.output_limit,
            capabilities=self.capabilities,
            system_digest=self.system,
            compacts=self.compacts,
        )
        self.report(*fresh, step)
        self._reported.update({message.message: message for message in fresh})
        self.known |= self._reported
        self._last = names
        self._unreported = False

    def append_plan(self, events: Sequence[Event], meanwhile: Iterable[Event]) -> None:
        """The log gets what came in between first; the state that decided gets its own events first."""
        between = [(self._recorded(event), event) for event in meanwhile]
        for event in events:
            envelope = self._recorded(event)
            self.session = evolve(self.session, event, replace(envelope, seq=0))
        for envelope, event in between:
            self.tagger = tagger_state.evolve(self.tagger, event, envelope)
            self.session = evolve(self.session, event, envelope)
        if events:
            self.session = replace(self.session, seq=len(self.log))

    def _decide(self, state: Session) -> Pass:
        """Decide, with the texts that a lane wants to see."""
        view = View(state, self.limits, learned=self.shared, predecessor=self.predecessor)
        return self._decided(self.seen(view))

    def _decided(self, view: View) -> Pass:
        state = view.session
        origin = self.origin.session if self.origin is not None and not state.revision else None
        made = decide(view, origin, self.lanes)
        while made.needs:
            texts = {name: self._text(state, name) for name in made.needs}
            view = replace(view, texts={**view.texts, **texts})
            made = decide(view, origin, self.lanes)
        return made

    def _text(self, state: Session, name: str) -> str:
        """The pristine text or output of a part, from the log."""
        _, event = self.log[state.conversation.parts[name].seq - 1]
        assert isinstance(event, PartRecorded)
        return event.output or event.text

    def _take(self, revision: Revision) -> None:
        for edit in revision.edits:
            if isinstance(edit, Restore | Withdraw):
                self.edits.pop(str(target(edit)), None)
            else:
                self.edits[str(target(edit))] = edit
        self.revision = revision.revision


def is_sound(calls: Iterable[Call]) -> bool:
    """See that no provider refuses what is served, until a harness tears a call from its result: such a list is
    refused without a plan, too, and what is decided then stays.
    """
    whole = takewhile(lambda call: not faults(call.raw, call.opened.capabilities), calls)
    return all(not faults(call.served, call.opened.capabilities) for call in whole)


def fold(facts: Iterable[tuple[Envelope, Event]], session: Session | None = None) -> Session:
    """The responder's state, from facts alone; or from an earlier state, and the facts since then."""
    session = session or Session()
    for envelope, event in facts:
        session = evolve(session, event, envelope)
    return session


def folds(logs: Iterable[Sequence[tuple[Envelope, Event]]]) -> Iterator[Session]:
    """The state after each of these beginnings of one log. Each fact is folded once: sessions are long."""
    session, done = Session(), 0
    for log in logs:
        session, done = fold(log[done:], session), len(log)
        yield session


def edits_of(made: Pass) -> list[AnyEdit]:
    """All edits of a pass, in order."""
    planned = [event for event in made.events if isinstance(event, PlanExtended | PlanRebased)]
    return [edit for event in planned for edit in decode_edits(event.edits)]


def rebases(made: Pass) -> list[PlanRebased]:
    return [event for event in made.events if isinstance(event, PlanRebased)]


def extensions(made: Pass) -> list[PlanExtended]:
    return [event for event in made.events if isinstance(event, PlanExtended)]


def cost(messages: Iterable[ServedMessage]) -> int:
    """Estimated tokens of messages as they are served."""
    return sum(_cost(part) for message in messages for part in message.parts)


def _cost(part: ServedPart) -> int:
    tag, picture, url = part.text.partition("data:image/")
    if part.kind == "file" and picture:
        return picture_tokens(picture + url) + tokens(len(tag.encode()))
    attachments = sum(map(attachment_tokens, part.attachments or ()))
    return tokens(len((part.text + part.output + part.input).encode())) + attachments


TAG = re.compile(r"^§(\d+)§ ")


def shown(call: Call) -> list[int]:
    """The tags that a model sees."""
    return [int(found[1]) for text in call.text if (found := TAG.match(text))]
