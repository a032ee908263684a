"""Asks the rooms of an installation, as the commands do."""

from typing import TypeVar

import msgspec

from schemas.ask import Ask
from schemas.codec import encode
from schemas.subjects import ask
from services.kit.bus import Bus, Unreachable

Reply = TypeVar("Reply")


class NotUnderstood(Unreachable):
    """An answer has a form that this version does not know."""


async def answer(bus: Bus, question: Ask, kind: type[Reply], patience: float, token: str = "") -> Reply:
    """The answer to a question, within so many seconds; `token`: the project, or the room, that it is about.

    Raises `Unreachable`, which says what to try.
    """
    reply = await bus.request(ask(question.NAME, token), encode(question), patience)
    try:
        return msgspec.json.decode(reply, type=kind)
    except msgspec.DecodeError as error:
        remedy = "see that the installation and this command are of the same version"
        raise NotUnderstood(f"the answer to ask.{question.NAME} is not understood ({error}); {remedy}") from error
