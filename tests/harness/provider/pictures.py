"""Pictures in a request: a model reads their pixels, not the base64 that they come in."""

import hashlib
import struct
from base64 import b64decode
from collections.abc import Iterator

from tests.harness.provider.content import Json

PIXELS_PER_TOKEN = 750
UNREADABLE = 1200
"""Tokens of a picture of unknown size."""
_BYTES = 4
"""Bytes of a token, about."""
_PNG = b"\x89PNG\r\n\x1a\n"


def pictures(value: object) -> list[str]:
    """The pictures in a part of a request, in order, each by its digest."""
    return [hashlib.sha256(b64decode(data)).hexdigest() for data in _found(value)]


def measured_rebases(value: object) -> object:
    """The same with as many bytes in the place of each picture as its tokens are worth, and others for another one."""
    match value:
        case list():
            return [measured_rebases(one) for one in value]
        case dict():
            data = _data(value)
            return {"picture": _filler(data)} if data else {key: measured_rebases(one) for key, one in value.items()}
        case _:
            return value


def picture_tokens(data: str) -> int:
    """Tokens of a PNG: width times height over 750."""
    body = b64decode(data)
    if not body.startswith(_PNG):
        return UNREADABLE
    width, height = struct.unpack(">II", body[16:24])
    return int(-(-width * height // PIXELS_PER_TOKEN))


def _filler(data: str) -> str:
    digest = hashlib.sha256(data.encode()).hexdigest()
    size = picture_tokens(data) * _BYTES
    return (digest * (size // len(digest) + 1))[:size]


def _found(value: object) -> Iterator[str]:
    match value:
        case list():
            for one in value:
                yield from _found(one)
        case dict():
            data = _data(value)
            if data:
                yield data
            for one in value.values() if not data else ():
                yield from _found(one)


def _data(block: Json) -> str:
    """The base64 of a picture: OpenAI has it in an address, Anthropic by itself."""
    match block:
        case {"type": "image_url", "image_url": {"url": str(url)}} if url.startswith("data:image/"):
            return url.partition(",")[2]
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            return data
        case _:
            return ""
