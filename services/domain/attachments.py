"""Pictures and documents in a prompt: what one is, what it costs, what it is called.

What a picture is and what it costs is decided here alone; its size in pixels is read from its first bytes.
"""

from base64 import b64decode
from binascii import a2b_base64
from hashlib import sha256
from io import BytesIO

import imagesize

from schemas.codec import decode_attachments
from schemas.events import PartRecorded
from schemas.inbox import Attachment
from services.domain.tokens import tokens

PIXELS_PER_TOKEN = 750
MOST_OF_PICTURE = 4500
"""Tokens: providers make larger pictures smaller."""
UNKNOWN_PICTURE = 1200
"""Tokens of a picture that is somewhere else, or that nobody can read."""
ENOUGH = 256 * 1024
"""Characters of base64 in which the size of a picture is found."""
LONGEST_SIDE = 1_000_000
"""Pixels: what says that it is longer is no picture."""
NO_SIZE = (0, 0)

DRAWN = (b"<", b"P")
"""Beginnings of pictures that state their size as text: no provider takes those, and that text can be endless."""
DOCUMENT_BYTES_PER_TOKEN = 20
"""A page of a PDF takes about 50 kB, and as text and as a picture about 2,500 tokens."""
LEAST_OF_DOCUMENT = 1500
"""Tokens: one page."""
MOST_OF_DOCUMENT = 250_000
"""Tokens of a hundred pages: providers take no more."""
TEXTS = ("text/", "application/json", "application/xml", "application/yaml")
KILO = 1000
LONGEST_NAME = 120
"""Characters of a name that are printed."""
SMALLEST_PICTURE_URL = 200
"""Bytes: a data url that is not longer holds an icon, or nothing."""
MOST_CAPTION_BYTES = 600
"""Bytes that a tool writes about a picture that it shows. An answer with more stays for its text."""


def is_picture(mime: str) -> bool:
    return mime.lower().startswith("image/")


def is_picture_of_prompt(part: PartRecorded, head: str) -> bool:
    """Whether a part that begins with `head` is a picture that the prompt itself holds, and more than an icon."""
    if not is_picture(part.mime) or part.bytes <= SMALLEST_PICTURE_URL:
        return False
    return head.startswith("data:") or part.text_ref != ""


def is_picture_of_tool(part: PartRecorded) -> bool:
    """Whether a tool's answer is little else than pictures."""
    if not part.attachment_tokens or part.bytes > MOST_CAPTION_BYTES:
        return False
    return any(is_picture(one.mime) for one in decode_attachments(part.attachments))


def picture_tokens(url: str) -> int:
    """Estimated tokens of the picture at this address, which may hold it itself."""
    return pixel_tokens(*pixels(url))


def pixel_tokens(width: int, height: int) -> int:
    """Estimated tokens: width times height over 750, from 1 to 4,500."""
    if width <= 0 or height <= 0:
        return UNKNOWN_PICTURE
    return min(-(-width * height // PIXELS_PER_TOKEN), MOST_OF_PICTURE)


def pixels(url: str) -> tuple[int, int]:
    """Width and height of the picture that a data url holds; zeros where it holds none that can be read."""
    body = encoded(url)
    if not body:
        return NO_SIZE
    try:
        data = b64decode(body[:ENOUGH])
    except ValueError:
        return NO_SIZE
    if data.startswith(DRAWN):
        return NO_SIZE
    width, height = imagesize.get(BytesIO(data), exif_rotation=False)
    return (width, height) if 0 < width <= LONGEST_SIDE and 0 < height <= LONGEST_SIDE else NO_SIZE


def encoded(url: str) -> str:
    """The base64 of a data url; empty: it is another kind of address."""
    head, _, body = url.partition(",")
    return body if head.startswith("data:") and head.endswith(";base64") else ""


def attachment(url: str, mime: str, filename: str = "") -> Attachment:
    """A file's description, from its address, which may contain the file itself."""
    body = _decoded(url)
    width, height = pixels(url) if is_picture(mime) else (0, 0)
    return Attachment(
        mime=mime,
        filename=filename,
        bytes=len(body),
        width=width,
        height=height,
        digest=sha256(body or url.encode()).hexdigest(),
    )


def attachment_tokens(one: Attachment) -> int:
    """Estimated tokens: of a picture by its pixels, of everything else by its bytes."""
    if is_picture(one.mime):
        return pixel_tokens(one.width, one.height)
    return _document_tokens(one.mime, one.bytes)


def file_tokens(url: str, mime: str = "") -> int:
    """Estimated tokens of a file that is a part of its own. An address that does not hold it is read as words.

    Where its type is not given, it is read from a data url.
    """
    mime = mime or url.partition(",")[0].removeprefix("data:").partition(";")[0]
    if is_picture(mime):
        return picture_tokens(url)
    body = encoded(url)
    return _document_tokens(mime, len(body) * 3 // 4) if body else tokens(len(url.encode()))


def attachment_in_words(one: Attachment) -> str:
    """An attachment in a few words: `shot.png, image/png, 1280 x 800 pixels, 153 kB`."""
    size = f"{one.width} x {one.height} pixels" if one.width and one.height else ""
    return ", ".join(filter(None, (short_name(one.filename), one.mime or "file", size, _weight(one.bytes))))


def short_name(filename: str) -> str:
    """The name of a file, on one line, without the folders that it is in."""
    return " ".join(filename.replace("\\", "/").rsplit("/", 1)[-1].split())[:LONGEST_NAME]


def file_name(url: str, filename: str = "") -> str:
    """A file's name, or the end of its address, unless that contains the file itself."""
    return short_name(filename or ("" if url.startswith("data:") else url))


def _document_tokens(mime: str, size: int) -> int:
    if mime.lower().startswith(TEXTS):
        return min(max(1, tokens(size)), MOST_OF_DOCUMENT)
    return min(max(LEAST_OF_DOCUMENT, size // DOCUMENT_BYTES_PER_TOKEN), MOST_OF_DOCUMENT)


def _decoded(url: str) -> bytes:
    try:
        return a2b_base64(encoded(url))
    except ValueError:
        return b""


def _weight(size: int) -> str:
    """Bytes as a person reads them; empty: they are not known."""
    if size <= 0:
        return ""
    return f"{size} bytes" if size < KILO else f"{size / KILO:,.0f} kB"
