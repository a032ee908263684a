"""Serving a question: read it, see that it is about the project of its subject, answer, measure.

Every room that answers does it through here, so that what holds for one question holds for all of them.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import msgspec

from schemas.ask import Ask
from schemas.codec import encode
from schemas.subjects import Address, BadSubject, parse_ask
from services.domain.addressing import check_address
from services.domain.misread import misread
from services.kit import metrics
from services.kit.bus import Unreachable
from services.kit.room import Kit

LOGS = "its log lines say why, and `annals doctor` says where they are"
A = TypeVar("A", bound=Ask)
R = TypeVar("R")


class Declined(RuntimeError):
    """A question that is well asked and not answered; the message is for who asked."""

    status = "failed"
    """The status under which it is counted."""


class AskHandler(Generic[A, R]):
    """One question as its room answers it. Whatever goes wrong is an answer, too."""

    def __init__(self, kit: Kit, ask: type[A], answer: Callable[[A], Awaitable[R]], failed: Callable[[str], R]) -> None:
        """`failed` makes the reply that says why there is none."""
        self._kit = kit
        self._ask = ask
        self._answer = answer
        self._failed = failed
        self._decoder = msgspec.json.Decoder(ask)
        self.in_hand = 0
        """The number of questions that are being answered."""

    async def open(self) -> None:
        """Answer from here on."""
        await self._kit.bus.serve(f"ask.{self._ask.NAME}.*", self._kit.room, self.handle)

    async def handle(self, subject: str, data: bytes) -> bytes:
        """The encoded reply to an encoded question."""
        began = time.monotonic()
        self.in_hand += 1
        try:
            encoded, status = await self._reply(subject, data)
        finally:
            self.in_hand -= 1
        most = self._kit.bus.max_payload
        if len(encoded) > most:  # it would never arrive, and who asks would learn nothing
            reason = f"the answer has {len(encoded):,} bytes, and one message has room for {most:,}; ask for less"
            encoded, status = encode(self._failed(reason)), "failed"
        metrics.ASKS.labels(self._ask.NAME, status).observe(time.monotonic() - began)
        return encoded

    async def _reply(self, subject: str, data: bytes) -> tuple[bytes, str]:
        try:
            reply = await self._answer(self._read(subject, data))
            encoded = encode(reply)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError, BadSubject) as error:
            reason = f"this question cannot be read: {misread(error)}; ask again with what it takes"
            return self._reason(reason), "refused"
        except Declined as error:
            return self._reason(str(error)), error.status
        except Unreachable as error:
            return self._reason(str(error)), "failed"
        except Exception:
            self._kit.log.exception("a question could not be answered", subject=subject)
            reason = f"{self._ask.NAME} could not be answered, {self._kit.room} failed; {LOGS}"
            return self._reason(reason), "failed"
        return encoded, getattr(reply, "status", "error" if getattr(reply, "error", "") else "ok")

    def _reason(self, text: str) -> bytes:
        """The encoded reply that says why there is none, whatever is quoted in it."""
        return encode(self._failed(text.encode(errors="backslashreplace").decode()))

    def _read(self, subject: str, data: bytes) -> A:
        """The question, which is about the project of its subject. Raises what msgspec does, and `BadSubject`."""
        _, project = parse_ask(subject)
        ask = self._decoder.decode(data)
        check_address(Address(project), ask)
        return ask
