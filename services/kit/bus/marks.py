"""The records at positions of the log, as far as they distinguish one log from another."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from nats.aio.client import Client

from schemas.streams import LOG
from services.domain.record import read_record
from services.kit.same_log import Mark

SEQUENCE, SUBJECT, STORED = "Nats-Sequence", "Nats-Subject", "Nats-Time-Stamp"
AT_ONCE = 16
"""Positions that are asked for together."""
WAIT = 5.0
"""Seconds in which the broker must have answered."""
NANOSECONDS = 1_000_000_000
ACK_TOKENS, ACK_STORED, ACK_STORED_IN_DOMAIN = 9, 7, 9
"""Of the subject by which a delivery is acknowledged: how many tokens it has, and which one is the time."""


async def marks(client: Client, seqs: Iterable[int]) -> dict[int, Mark]:
    """The marks of these positions; without those that are not there. Raises what the client raises."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(seq: int) -> Mark | None:
        async with turns:
            return await _mark(client, seq)

    found = await asyncio.gather(*map(one, sorted(set(seqs))))
    return {mark.seq: mark for mark in found if mark is not None}


async def _mark(client: Client, seq: int) -> Mark | None:
    request = json.dumps({"seq": seq}).encode()
    message = await client.request(f"$JS.API.DIRECT.GET.{LOG.name}", request, timeout=WAIT)
    headers = message.headers or {}
    if SEQUENCE not in headers:
        return None
    record = read_record(headers[SUBJECT], message.data, seq)
    return Mark(seq, record.envelope.id, stored_at(headers))


def stored_at(headers: Mapping[str, str]) -> int:
    """When the broker stored what it sends with these headers, in nanoseconds since 1970; 0: they do not say."""
    return nanoseconds(headers.get(STORED, ""))


def nanoseconds(moment: str) -> int:
    """A moment as the broker writes it, in nanoseconds since 1970; 0: it is none."""
    seconds, _, fraction = moment.removesuffix("Z").partition(".")
    try:
        since = int(datetime.fromisoformat(f"{seconds}+00:00").timestamp())
        return since * NANOSECONDS + int(fraction.ljust(9, "0") or 0)
    except ValueError:
        return 0


def delivered_at(ack: str) -> int:
    """The marks of a delivery that is acknowledged on this subject."""
    tokens = ack.split(".")
    place = ACK_STORED if len(tokens) == ACK_TOKENS else ACK_STORED_IN_DOMAIN
    return int(tokens[place]) if len(tokens) > place and tokens[place].isdecimal() else 0
