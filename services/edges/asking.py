"""Asks the rooms of an installation, as the commands do."""

from typing import TypeVar

from schemas.ask import Ask
from schemas.codec import encode
from schemas.subjects import ask
from services.kit.bus import Bus
from services.kit.replies import understood

Reply = TypeVar("Reply")


async def answer(bus: Bus, question: Ask, kind: type[Reply], patience: float, token: str = "") -> Reply:
    """The answer to a question, within so many seconds; `token`: the project, or the room, that it is about.

    Raises `Unreachable`, which says what to try.
    """
    reply = await bus.request(ask(question.NAME, token), encode(question), patience)
    return understood(reply, kind, f"ask.{question.NAME}")
