"""Which Struct answers which question: a reply says so in the first words of its docstring."""

import inspect

import msgspec

from schemas import asks
from services.generate.docstrings import summary


def reply_to(ask: type[asks.Ask]) -> type[msgspec.Struct]:
    words = f"The reply to `ask.{ask.NAME}`"
    for _, candidate in inspect.getmembers(asks, inspect.isclass):
        if issubclass(candidate, msgspec.Struct) and summary(candidate).startswith(words):
            return candidate
    raise LookupError(
        f"no Struct of schemas/asks.py says that it answers {ask.__name__}; begin its reply's docstring with {words!r}"
    )
