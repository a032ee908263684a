"""The parts of a prompt, in tokens as the provider counts them."""

import msgspec
from msgspec.structs import replace

from services.domain.conversation import Message
from services.domain.edits import SLOTS
from services.plan.session.costs import before_cut, cost
from services.plan.session.plan_state import added_by
from services.plan.session.state import Session, served_tokens


class Attribution(msgspec.Struct, frozen=True):
    """The parts of the coming prompt, if it is sent as it is. Each but the first is estimated, and then calibrated."""

    system: int
    """The system prompt and the tools: the provider's count without the messages, or an estimate."""
    documents: int
    """Documents, key files and memories of the project, at the head."""
    history: int
    """Compressed history, at the head."""
    conversation: int
    """Texts and reasoning, with what was added to them."""
    tool_calls: int
    """Calls of tools with their arguments and outputs."""

    @property
    def prompt(self) -> int:
        """All of it."""
        return self.system + self.documents + self.history + self.conversation + self.tool_calls


def attribution(session: Session) -> Attribution:
    """The parts that the prompt is made of now, in tokens."""
    sent = list(session.conversation.after(max(0, session.cut - 1)))
    calls = cost(session.conversation, session.plan, [_calls(session, message) for message in sent])
    calls += before_cut(session.conversation, session.plan, lambda part: bool(part.tool))
    documents, history = (added_by(session.plan.heads.get(slot)) for slot in SLOTS)
    words = max(0, served_tokens(session) - documents - history - calls)
    density = session.usage.calibration.density
    return Attribution(
        system=overhead(session),
        documents=int(documents * density),
        history=int(history * density),
        conversation=int(words * density),
        tool_calls=int(calls * density),
    )


def overhead(session: Session) -> int:
    """Tokens of the system prompt and the tools."""
    known = session.usage.calibration
    return max(0, known.counted - int(known.estimate * known.density)) if known.counted else known.overhead


def _calls(session: Session, message: Message) -> Message:
    """The message with nothing but its calls of tools."""
    known = session.conversation.parts
    names = tuple(name for name in message.parts if name in known and known[name].recorded.tool)
    return replace(message, parts=names, tokens=sum(known[name].recorded.tokens for name in names))
