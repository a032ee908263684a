"""Sessions of any length, made of recorded ones."""

from collections.abc import Iterator, Sequence

import msgspec

from schemas.inbox import MessageSeen, SessionSeen
from services.edges.client.transcript import Transcript


def long_session(name: str, sources: Sequence[Transcript], count: int) -> Transcript:
    """A session of so many messages: recorded ones over and over, with new ids and without their times."""
    messages = tuple(message for message, _ in zip(_endless(sources), range(count), strict=False))
    return Transcript("opencode", name, SessionSeen(title=name, directory="/recorded"), messages)


def short_sessions(sources: Sequence[Transcript], count: int, length: int) -> list[Transcript]:
    """So many sessions of one length, cut from different places."""
    messages = _endless(sources)
    made = []
    for number in range(count):
        cut = tuple(message for message, _ in zip(messages, range(length), strict=False))
        made.append(Transcript("opencode", f"short-{number}", SessionSeen(title=f"short {number}"), cut))
    return made


def _endless(sources: Sequence[Transcript]) -> Iterator[MessageSeen]:
    turn = 0
    while True:
        for source in sources:
            for message in source.messages:
                yield _renamed(message, turn)
        turn += 1


def _renamed(message: MessageSeen, turn: int) -> MessageSeen:
    name = f"{message.message}-{turn}"
    parts = tuple(
        msgspec.structs.replace(
            part, message=name, part=f"{part.part}-{turn}", call=part.call and f"{part.call}-{turn}"
        )
        for part in message.parts
    )
    return msgspec.structs.replace(message, message=name, parts=parts, at=None)
