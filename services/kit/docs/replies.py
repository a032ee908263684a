"""Which Struct answers which question: a reply says so in the first words of its docstring."""

import msgspec

from schemas import asks


def reply_to(ask: type[asks.Ask]) -> type[msgspec.Struct]:
    words = f"The reply to `ask.{ask.NAME}`"
    for candidate in vars(asks).values():
        if isinstance(candidate, type) and issubclass(candidate, msgspec.Struct):
            if (candidate.__doc__ or "").startswith(words):
                return candidate
    raise LookupError(f"no Struct of schemas/asks.py answers {ask.__name__}; begin its reply's docstring with {words!r}")
