"""Orders for plugins that an erasure does not reach, without the texts that they are to look for.

A plugin computes a filter at each position of what it has stored, a second one where that fits, and the slow digest
where both do. Whoever reads an order can do the same with texts that they guess: each guess costs them two filters,
and one in a million costs a digest. `deploy/adapter-core/src/orders.ts` computes the same.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from math import ceil
from typing import NamedTuple

from schemas.events import ErasureOrdered
from services.domain.erasure.scope import ErasureScope
from services.domain.erasure.secret import MASK, Masks

ANCHOR = 8
"""Bytes at the beginning of a spelling that the first filter sees: no spelling is shorter."""
ANCHOR_BITS, CHECK_BITS = 12, 8
COST = 1024
"""The parameter N of scrypt: some 3 ms, and 1 MB of memory, for each digest."""
SALT_BYTES = DIGEST_BYTES = 16
ID_BYTES = 8
MOST = 500
"""Spellings of one order: a message carries it many times over."""
MOST_NAMES = 1000
"""Sessions and projects of one order, for the same reason."""
_WORD = 2**32 - 1

RandomBytes = Callable[[int], bytes]
"""So many random bytes."""


class Filters:
    """The two filters of one order: 32-bit hashes over bytes, whose base follows from the salt."""

    def __init__(self, salt: bytes) -> None:
        self._base = int.from_bytes(hashlib.sha256(salt).digest()[:4]) | 1

    def anchor(self, spelling: bytes) -> int:
        return self._hash(spelling[:ANCHOR]) >> (32 - ANCHOR_BITS)

    def check(self, spelling: bytes) -> int:
        return self._hash(spelling) >> (32 - CHECK_BITS)

    def _hash(self, data: bytes) -> int:
        found = 0
        for byte in data:
            found = (found * self._base + byte + 1) & _WORD
        return ((found ^ (found >> 16)) * 0x45D9F3B) & _WORD


class ErasedSpelling(NamedTuple):
    """One spelling in an order."""

    digest: str
    length: int
    anchor: int
    check: int
    is_encoded: bool


def orders(scope: ErasureScope, at: datetime, random: RandomBytes, cost: int = COST) -> Iterator[ErasureOrdered]:
    """The orders that an erasure of this gives. `cost`: the parameter N of scrypt, a power of two."""
    spellings = sorted(scope.masks)
    names = [*(("sessions", one) for one in sorted(scope.session_ids))]
    names += [("projects", one) for one in sorted(scope.projects)]
    count = max(1, ceil(len(spellings) / MOST), ceil(len(names) / MOST_NAMES))
    for number in range(count):
        masks = {one: scope.masks[one] for one in spellings[number * MOST : (number + 1) * MOST]}
        yield _order(masks, at, random, cost, names[number * MOST_NAMES : (number + 1) * MOST_NAMES])


def _order(
    masks: Masks, at: datetime, random: RandomBytes, cost: int, names: Sequence[tuple[str, str]]
) -> ErasureOrdered:
    salt = random(SALT_BYTES)
    filters = Filters(salt)
    erased = sorted(
        ErasedSpelling(_digest(one, salt, cost), len(one), filters.anchor(one), filters.check(one), mask != _PLAIN)
        for one, mask in masks.items()
    )
    return ErasureOrdered(
        order=random(ID_BYTES).hex(),
        ordered_at=at,
        salt=salt.hex(),
        cost=cost,
        lengths=[one.length for one in erased],
        anchors=[one.anchor for one in erased],
        checks=[one.check for one in erased],
        digests=[one.digest for one in erased],
        encoded=[one.is_encoded for one in erased],
        sessions=[name for kind, name in names if kind == "sessions"],
        projects=[name for kind, name in names if kind == "projects"],
    )


_PLAIN = MASK.encode()


def _digest(spelling: bytes, salt: bytes, cost: int) -> str:
    return hashlib.scrypt(spelling, salt=salt, n=cost, r=8, p=1, dklen=DIGEST_BYTES).hex()
