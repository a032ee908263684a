"""Which Struct answers which question: a reply says so in the first words of its docstring."""

from inspect import getmembers, isclass

import msgspec

from schemas import asks, view_asks
from schemas.ask import Ask
from services.generate.docstrings import summary


def reply_to(ask: type[Ask]) -> type[msgspec.Struct]:
    words = f"The reply to `ask.{ask.NAME}`"
    for _, candidate in (*getmembers(asks, isclass), *getmembers(view_asks, isclass)):
        if issubclass(candidate, msgspec.Struct) and summary(candidate).startswith(words):
            return candidate
    raise LookupError(
        f"no Struct of schemas/asks.py or schemas/view_asks.py says that it answers {ask.__name__}; begin its reply's "
        f"docstring with {words!r}"
    )
