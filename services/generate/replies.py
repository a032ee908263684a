"""Finds the reply of each question: a reply names its question in the first words of its docstring."""

from inspect import getmembers, isclass

import msgspec

from schemas import asks, erasure_asks, profile_asks, question_asks, room_health, spending_asks, view_asks
from schemas.ask import Ask
from services.generate.docstrings import summary


def reply_to(ask: type[Ask]) -> type[msgspec.Struct]:
    words = f"The reply to `ask.{ask.NAME}`"
    modules = (asks, erasure_asks, profile_asks, question_asks, room_health, spending_asks, view_asks)
    members = (member for module in modules for member in getmembers(module, isclass))
    for _, candidate in members:
        if issubclass(candidate, msgspec.Struct) and summary(candidate).startswith(words):
            return candidate
    raise LookupError(
        f"no Struct of schemas/asks.py or of a module that it takes questions from says that it answers "
        f"{ask.__name__}; begin its reply's docstring with {words!r}"
    )
