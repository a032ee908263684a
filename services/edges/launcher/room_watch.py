"""Whether a room still answers. One that hangs does not end by itself, so its supervisor must notice it."""

import asyncio
from pathlib import Path

from services.kit.health_address import HealthAddress, read_address

LOOK = 1.0
"""Seconds between two requests."""
REQUEST = b"GET /healthz HTTP/1.0\r\n\r\n"


async def until_hung(data: Path, room: str, pid: int, seconds: float) -> None:
    """Return as soon as a request for the room's health page has had no answer for so many seconds.

    Any answer will do: a room that reports that it is not well knows of it. One that has no page yet is being opened.
    """
    while True:
        address = read_address(data, room, pid)
        if address is not None and not await _answers(address, seconds):
            return
        await asyncio.sleep(LOOK)


async def _answers(address: HealthAddress, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            try:
                writer.write(REQUEST)
                await reader.read(1)
            finally:
                writer.close()
    except TimeoutError:
        return False
    except OSError:
        return True  # nobody listens there: the process ends, or has ended, which its supervisor learns otherwise
    return True
