"""What a picture costs in a prompt, by its size in pixels, read from its first bytes."""

import binascii
import struct
from base64 import b64decode
from io import BytesIO

import imagesize

PIXELS_PER_TOKEN = 750
MOST = 4500
"""Tokens: providers make larger pictures smaller."""
UNKNOWN = 1200
"""Tokens of a picture that is somewhere else, or that nobody can read."""
ENOUGH = 256 * 1024
"""Characters of base64 in which the size is told."""


def is_picture(kind: str, mime: str) -> bool:
    """Whether a part is one, by its kind and its media type."""
    return kind == "file" and mime.startswith("image/")


def picture_tokens(url: str) -> int:
    """Estimated tokens: width times height over 750, from 1 to 4,500."""
    head, _, body = url.partition(",")
    if not (head.startswith("data:") and head.endswith(";base64")):
        return UNKNOWN
    try:
        size: tuple[int, int] = imagesize.get(BytesIO(b64decode(body[:ENOUGH])))
    except (ValueError, binascii.Error, struct.error):
        return UNKNOWN
    width, height = size
    if width <= 0 or height <= 0:
        return UNKNOWN
    return min(-(-width * height // PIXELS_PER_TOKEN), MOST)
