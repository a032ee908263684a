"""A harness, the log and the responder's core in memory: what an adapter would tell, hold and serve."""

import re
from collections.abc import Iterable, Sequence
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
    Capability,
    Inbound,
    Listed,
    MessageSeen,
    Mode,
    PartSeen,
    Role,
    Seen,
    StepSeen,
    ToolStatus,
    UsageSeen,
)
from schemas.plan import AnyEdit, Restore, Revision, Withdraw, target
from schemas.subjects import Address
from services.client.adapter import as_sent
from services.kit.edits import Message, Part, apply, faults
from services.kit.limits import Limits
from services.kit.pictures import picture_tokens
from services.kit.tokens import tokens
from services.kit.window import Learned
from services.responder.admission import is_held_back
from services.responder.lanes import DROPS, TAGS, Lane, View
from services.responder.plan import Pass, decide
from services.responder.state import Session, evolve
from services.tagger import core as tagger
from services.tagger import state as tagger_state

replace = msgspec.structs.replace

ADDRESS = Address("p", "s")
START = datetime(2026, 1, 1, tzinfo=UTC)
LIMITS = Limits(protected_tags=1, min_reclaim=2000)
BASIC: tuple[Lane, ...] = (TAGS, DROPS)
"""The lanes that every session has."""
ALL = 1 << 30
"""As many revisions as there are."""


def said(text: str, *, ignored: bool = False) -> PartSeen:
    return PartSeen(message="", type="text", text=text, ignored=ignored)


def thought(text: str = "hm", *, signed: bool = False) -> PartSeen:
    return PartSeen(message="", type="reasoning", text=text, signed=signed)


def attached(url: str = "data:image/png;base64,AAAA") -> PartSeen:
    return PartSeen(message="", type="file", text=url, mime="image/png")


def ran(output: str, arguments: str = "{}", *, call: str = "c", pending: bool = False) -> PartSeen:
    status: ToolStatus = "pending" if pending else "completed"
    return PartSeen(message="", type="tool", tool="bash", call=call, input=arguments, output=output, status=status)


def asked(call: str, arguments: str = "{}") -> PartSeen:
    return PartSeen(message="", type="tool_call", tool="bash", call=call, input=arguments)


def answered(call: str, output: str) -> PartSeen:
    return PartSeen(message="", type="tool_result", tool="bash", call=call, output=output)


class Call(msgspec.Struct, frozen=True):
    """One model call, as it went out."""

    opened: StepOpened
    raw: tuple[Message, ...]
    served: tuple[Message, ...]
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
    """One session. Its messages are what it would send; everything it tells and everything decided is in `log`."""

    def __init__(self, limits: Limits = LIMITS, lanes: Sequence[Lane] = BASIC) -> None:
        self.limits = limits
        self.lanes = lanes
        self.now = START
        self.log: list[tuple[Envelope, Event]] = []
        self.tagger = tagger_state.Session()
        self.session = Session()
        self.house = Learned()
        """What all sessions have learned of models' limits."""
        self.messages: list[MessageSeen] = []
        self.mode: Mode = "primary"
        self.agent = ""
        self.model = "opus"
        self.system = "v1"
        self.capabilities: tuple[Capability, ...] = ("accepts_empty_content",)
        self.context_limit = 100_000
        self.revision = 0
        self.edits: dict[str, AnyEdit] = {}
        self._named = 0
        self._steps = 0
        self._last: tuple[str, ...] = ()
        self._unheard = False
        self._told: dict[str, MessageSeen] = {}
        self.known: dict[str, MessageSeen] = {}
        """Every message that was ever told."""

    # What happens in the session

    def says(self, role: Role, *parts: PartSeen) -> str:
        """A new message at the end; its name."""
        self._named += 1
        name = f"m{self._named}"
        named = [replace(part, message=name, part=f"{name}.{n}", position=n) for n, part in enumerate(parts)]
        self.messages.append(MessageSeen(message=name, role=role, at=self.now, parts=tuple(named)))
        return name

    def user(self, text: str) -> str:
        return self.says("user", said(text))

    def assistant(self, *parts: PartSeen) -> str:
        return self.says("assistant", *parts)

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

    def tell(self, *items: Seen) -> None:
        """What the harness says, as facts."""
        inbound = Inbound(id=f"in{len(self.log)}", at=self.now, items=items)
        for event in tagger.decide(self.tagger, tagger.Told("test", inbound)):
            self.append(event)

    def use(self, prompt: int, message: str = "") -> None:
        """The provider has counted so many tokens for an answer."""
        self.tell(UsageSeen(message=message or f"a{self._steps}", input=prompt))

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

    def restart(self) -> None:
        """A responder starts that knows nothing but the log."""
        self.session = self.folded()

    def restart_harness(self) -> None:
        """The harness starts anew; its plan it has kept."""
        self._told = {}

    # A model call

    def step(self, *, asks: bool = True, takes: int = ALL, meanwhile: Iterable[Event] = ()) -> Call:
        """Tell the step, let the plan be decided unless nobody `asks`, and serve what the harness then holds.

        It takes in only so many of the new revisions: the others did not reach it. `meanwhile` stands in the log
        before the decision and is read after it.
        """
        self.tell_step()
        state = self.session
        opened = state.step
        if opened is None:
            raise ValueError("no step was opened")
        made = self._decide(state) if asks else Pass("replay")
        self.append_plan(made.events, meanwhile)
        revisions = [self.session.revisions[n] for n in range(self.revision + 1, self.session.revision + 1)]
        took = tuple(revisions[:takes]) if asks and not is_held_back(self.session, self.revision) else ()
        for revision in took:
            self._take(revision)
        raw = tuple(as_sent(message) for message in self.messages)
        return Call(opened, raw, tuple(apply(raw, self.edits)), made, state, took)

    def step_unheard(self) -> Call:
        """A call goes out with what the harness holds, and nobody hears of it."""
        self._last = tuple(message.message for message in self.messages)
        self._told |= {message.message: message for message in self.messages}
        self._unheard = True
        raw = tuple(as_sent(message) for message in self.messages)
        return Call(StepOpened(step=""), raw, tuple(apply(raw, self.edits)), Pass("replay"), self.session, ())

    def _shared(self) -> tuple[str, ...]:
        """What this call and the one before it begin with; after a new start, by their names."""
        shared = []
        for old, message in zip(self._last, self.messages, strict=False):
            if old != message.message or (self._told and self._told.get(old) != message):
                break
            shared.append(old)
        return tuple(shared)

    def tell_step(self) -> None:
        self._steps += 1
        names = tuple(message.message for message in self.messages)
        shared = self._shared()
        common = 0 if self._unheard or not self._told else len(shared)
        heard = {} if self._unheard else self._told
        fresh = [message for message in self.messages if heard.get(message.message) != message]
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
            capabilities=self.capabilities,
            system_digest=self.system,
        )
        self.tell(*fresh, step)
        self._told.update({message.message: message for message in fresh})
        self.known |= self._told
        self._last = names
        self._unheard = False

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
        view = View(state, self.limits, learned=self.house)
        made = decide(view, self.lanes)
        if made.needs:
            made = decide(replace(view, texts={name: self._text(state, name) for name in made.needs}), self.lanes)
        return made

    def _text(self, state: Session, name: str) -> str:
        """The pristine text or output of a part, from the log."""
        _, event = self.log[state.talk.parts[name].seq - 1]
        assert isinstance(event, PartRecorded)
        return event.output or event.text

    def _take(self, revision: Revision) -> None:
        for edit in revision.edits:
            if isinstance(edit, Restore | Withdraw):
                self.edits.pop(target(edit), None)
            else:
                self.edits[target(edit)] = edit
        self.revision = revision.revision


def is_sound(calls: Iterable[Call]) -> bool:
    """See that no provider refuses what is served, until a harness tears a call from its result: such a list is
    refused without a plan, too, and what is decided then stays.
    """
    whole = takewhile(lambda call: not faults(call.raw, call.opened.capabilities), calls)
    return all(not faults(call.served, call.opened.capabilities) for call in whole)


def fold(facts: Iterable[tuple[Envelope, Event]]) -> Session:
    """The responder's state, from facts alone."""
    session = Session()
    for envelope, event in facts:
        session = evolve(session, event, envelope)
    return session


def edits_of(made: Pass) -> list[AnyEdit]:
    """All edits of a pass, in order."""
    planned = [event for event in made.events if isinstance(event, PlanExtended | PlanRebased)]
    return [edit for event in planned for edit in decode_edits(event.edits)]


def rebases(made: Pass) -> list[PlanRebased]:
    return [event for event in made.events if isinstance(event, PlanRebased)]


def extensions(made: Pass) -> list[PlanExtended]:
    return [event for event in made.events if isinstance(event, PlanExtended)]


def cost(messages: Iterable[Message]) -> int:
    """Estimated tokens of messages as they are served."""
    return sum(_cost(part) for message in messages for part in message.parts)


def _cost(part: Part) -> int:
    tag, picture, url = part.text.partition("data:image/")
    if part.kind == "file" and picture:
        return picture_tokens(picture + url) + tokens(len(tag.encode()))
    return tokens(len((part.text + part.output + part.input).encode()))


TAG = re.compile(r"^§(\d+)§ ")


def shown(call: Call) -> list[int]:
    """The tags that a model sees."""
    return [int(found[1]) for text in call.text if (found := TAG.match(text))]
