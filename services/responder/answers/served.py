"""The answer to `ask.served`: what of a session, and of the project's knowledge, is in its prompt now."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from schemas.search_asks import Served, ServedAsk
from schemas.subjects import Address
from services.domain.conversation import Message
from services.domain.newest import NewestMap
from services.domain.texts.markup import escaped
from services.memory.remembered import Remembered
from services.memory.state import source_key
from services.plan.session.state import Session
from services.responder.answers.base import Context, Question, UnknownSession, remembered_of, session_of

MOST_KNOWN = 16
"""Sessions whose newest answer is remembered: an agent searches more than once between two calls."""
WRITTEN, OUTPUTS = frozenset({"text"}), frozenset({"tool", "tool_call", "tool_result"})
"""The kinds of parts that a message's text is made of, and those that hold calls and their outputs."""


def served(session: Session, remembered: Remembered) -> Served:
    """By the edits in force: messages that nothing is taken of, and what the head or a notice was made of."""
    rendered = {position for edit in _rendered_facts(session) for position in edit}
    remaining = [one for one in _remaining(session) if one.recorded.message not in session.plan.left_out]
    return Served(
        messages=tuple(one.recorded.message for one in remaining if _is_whole(session, one, WRITTEN)),
        outputs=tuple(
            one.recorded.message for one in remaining if _has_output(session, one) and _is_whole(session, one, OUTPUTS)
        ),
        memories=tuple(name for name, position in remembered.newest.items() if position in rendered),
        compartments=tuple(_compressed(session)),
        quarantined=quarantined_of(remembered),
        quarantined_messages=quarantined_messages_of(remembered),
    )


_SESSION, _MESSAGE = source_key("session", ""), source_key("message", "")


def quarantined_of(remembered: Remembered) -> tuple[str, ...]:
    """The sessions of which a person has taken back everything."""
    return tuple(sorted(key.removeprefix(_SESSION) for key in remembered.book.quarantines if key.startswith(_SESSION)))


def quarantined_messages_of(remembered: Remembered) -> tuple[tuple[str, str], ...]:
    """The messages of which a person has taken back everything, each behind its session.

    A message is quarantined by what is remembered of it, and that names its session.
    """
    book = remembered.book
    named = ((key.removeprefix(_MESSAGE), one) for key, one in book.quarantines.items() if key.startswith(_MESSAGE))
    return tuple(
        sorted(
            {
                (source.session, message)
                for message, quarantine in named
                for name in quarantine.memories
                for source in book.memories[name].sources
                if source.message == message
            }
        )
    )


def _remaining(session: Session) -> Iterator[Message]:
    return session.conversation.after(max(0, session.cut - 1))


def _is_whole(session: Session, message: Message, kinds: frozenset[str]) -> bool:
    """Whether its parts of these kinds are sent as they are: tools' outputs are dropped before what was written is."""
    sent = session.conversation.sent_parts(message)
    return all(session.plan.is_whole(name) for name, part in sent if part.recorded.kind in kinds)


def _has_output(session: Session, message: Message) -> bool:
    return any(part.recorded.kind in OUTPUTS for _, part in session.conversation.sent_parts(message))


def _rendered_facts(session: Session) -> Iterator[tuple[int, ...]]:
    """The positions of the facts that the heads and the notices are made of."""
    yield from (head.by for head in session.plan.heads.values())
    yield from (end.by for end in session.plan.ends.values())


def _compressed(session: Session) -> Iterator[str]:
    head = "\n".join(session.plan.head_texts)
    for one in session.history.sealed:
        if one.title and (one.title in head or escaped(one.title) in head):
            yield one.compartment


class ServedAnswers:
    """A cache of what sessions are served: computed once for each state, and not on the loop that makes plans."""

    def __init__(self) -> None:
        self._known = NewestMap[Address, tuple[Session, Remembered, Served]](MOST_KNOWN)
        """Those that were asked for last, the newest last."""

    async def of(self, address: Address, session: Session, remembered: Remembered) -> Served:
        known = self._known.get(address)
        if known is None or known[0] is not session or known[1] is not remembered:
            known = session, remembered, await asyncio.to_thread(served, session, remembered)
        self._known[address] = known
        return known[2]


def _open(context: Context) -> Callable[[ServedAsk], Awaitable[Served]]:
    answers = ServedAnswers()

    async def answer(ask: ServedAsk) -> Served:
        remembered = await remembered_of(context.cache, ask.project)
        try:
            session = await session_of(context.cache, ask)
        except UnknownSession as error:  # what is taken back is so for a session that has made no call, too
            return Served(
                quarantined=quarantined_of(remembered),
                quarantined_messages=quarantined_messages_of(remembered),
                error=str(error),
            )
        return await answers.of(Address(ask.project, ask.session), session, remembered)

    return answer


SERVED = Question(ServedAsk, _open, lambda reason: Served(is_known=False, error=reason))
