"""The base of all questions."""

from typing import ClassVar

import msgspec


class Ask(msgspec.Struct, frozen=True):
    """A question. It changes nothing but what the answer itself must remember."""

    NAME: ClassVar[str]
