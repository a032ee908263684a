"""Pictures and documents in messages: what is recorded of them, what they cost, what they are called."""

import struct
import zlib
from base64 import b64encode
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events import PartRecorded
from schemas.inbox import Attachment
from services.domain.attachments import (
    LEAST_OF_DOCUMENT,
    MOST_OF_DOCUMENT,
    MOST_OF_PICTURE,
    SMALLEST_PICTURE_URL,
    UNKNOWN_PICTURE,
    attachment,
    attachment_in_words,
    attachment_tokens,
    file_name,
    file_tokens,
    is_picture,
    is_picture_of_prompt,
    picture_tokens,
    pixel_tokens,
    pixels,
)


def png(width: int, height: int) -> str:
    """A picture of this size, as harnesses attach it."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(header)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return f"data:image/png;base64,{b64encode(head + bytes(900_000)).decode()}"


def data_url(body: bytes, mime: str) -> str:
    return f"data:{mime};base64,{b64encode(body).decode()}"


def test_of_a_picture_all_is_described_but_what_it_shows() -> None:
    found = attachment(png(1500, 1000), "image/png", "shot.png")

    assert (found.mime, found.filename, found.width, found.height) == ("image/png", "shot.png", 1500, 1000)
    assert found.bytes == 900_000 + 33
    assert attachment_tokens(found) == picture_tokens(png(1500, 1000)) == 2000


def test_what_lies_somewhere_else_is_described_by_its_address() -> None:
    found = attachment("https://example.org/a.png", "image/png")

    assert found == Attachment("image/png", digest=sha256(b"https://example.org/a.png").hexdigest())
    assert attachment_tokens(found) == UNKNOWN_PICTURE


def test_two_with_the_same_bytes_have_the_same_digest() -> None:
    one, other = (
        attachment(data_url(b"same", "image/png"), "image/png"),
        attachment(data_url(b"same", "a/b"), "image/png"),
    )

    assert one.digest == other.digest == sha256(b"same").hexdigest()
    assert one.digest != attachment(data_url(b"other", "image/png"), "image/png").digest


@pytest.mark.parametrize(
    ("mime", "size", "cost"),
    [
        ("text/plain", 400, 100),
        ("application/json", 0, 1),
        ("application/pdf", 0, LEAST_OF_DOCUMENT),
        ("application/pdf", 1_000_000, 50_000),
        ("application/pdf", 10**9, MOST_OF_DOCUMENT),
        ("text/plain", 10**9, MOST_OF_DOCUMENT),
        ("audio/wav", 40_000, 2000),
    ],
)
def test_a_document_costs_by_its_bytes(mime: str, size: int, cost: int) -> None:
    assert cost == attachment_tokens(Attachment(mime, bytes=size))


def test_a_document_of_a_prompt_costs_the_same_as_one_of_a_tool() -> None:
    url = data_url(bytes(300_000), "application/pdf")

    assert file_tokens(url, "application/pdf") == attachment_tokens(attachment(url, "application/pdf")) == 15_000
    assert file_tokens(url) == 15_000
    assert file_tokens(png(1500, 1000)) == 2000
    assert file_tokens("file:///a/b.txt", "text/plain") == 4


def test_a_document_that_is_no_base64_is_described_all_the_same() -> None:
    assert attachment("data:image/png;base64,A", "image/png").bytes == 0


@given(st.builds(Attachment, mime=st.text(), bytes=st.integers(), width=st.integers(), height=st.integers()))
def test_whatever_a_harness_says_its_cost_is_bounded(found: Attachment) -> None:
    assert 1 <= attachment_tokens(found) <= MOST_OF_DOCUMENT


def test_it_is_called_by_its_name_its_kind_and_its_size() -> None:
    assert "shot.png, image/png, 1500 x 1000 pixels, 900 kB" == attachment_in_words(
        attachment(png(1500, 1000), "image/png", "/home/ada/shots/shot.png")
    )
    assert "application/pdf, 300 bytes" == attachment_in_words(
        attachment(data_url(bytes(300), "a/b"), "application/pdf")
    )
    assert "file" == attachment_in_words(Attachment())


def test_a_name_is_one_line_without_folders() -> None:
    assert "a b.png" == file_name("", "C:\\shots\\a\nb.png")
    assert "b.png" == file_name("file:///a/b.png")
    assert "" == file_name("data:image/png;base64,AAAA")


@pytest.mark.parametrize(
    ("width", "height", "cost"),
    [(1500, 1000, 2000), (4000, 3000, MOST_OF_PICTURE), (1, 1, 1), (751, 1, 2), (100, 75, 10)],
)
def test_a_picture_costs_what_its_pixels_cost(width: int, height: int, cost: int) -> None:
    assert cost == picture_tokens(png(width, height))


def test_a_gif_is_read_as_well() -> None:
    head = b"GIF89a" + struct.pack("<HH", 300, 250)
    assert 100 == picture_tokens(f"data:image/gif;base64,{b64encode(head).decode()}")


@pytest.mark.parametrize("url", ["", "https://example.org/a.png", "data:image/png;base64,", "data:image/png,abc"])
def test_a_picture_that_nobody_can_read_costs_what_most_cost(url: str) -> None:
    assert UNKNOWN_PICTURE == picture_tokens(url)


@given(
    st.binary(max_size=64),
    st.sampled_from(
        [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 ", b"II+\0", b"BM", b"<svg"]
    ),
)
def test_garbage_costs_something_all_the_same(body: bytes, head: bytes) -> None:
    assert 1 <= picture_tokens(f"data:image/png;base64,{b64encode(head + body).decode()}") <= MOST_OF_PICTURE


def test_a_picture_is_known_by_its_media_type() -> None:
    assert is_picture("image/png")
    assert is_picture("IMAGE/PNG")
    assert not is_picture("application/pdf")
    assert not is_picture("")


@pytest.mark.parametrize(
    "body",
    [
        b'<svg width="10.5" height="3"/>',
        b'<svg width="1' + b"0" * 400 + b'" height="3"/>',
        b"P6\n" + b"9" * 150_000,
        b"BM" + bytes(16) + struct.pack("<ll", 2**31 - 1, 2**31 - 1) + bytes(20),
    ],
    ids=["drawn", "drawn without end", "words for numbers", "larger than any picture"],
)
def test_what_has_no_number_for_a_size_costs_what_most_cost(body: bytes) -> None:
    assert UNKNOWN_PICTURE == picture_tokens(f"data:image/png;base64,{b64encode(body).decode()}")
    assert pixels(f"data:image/png;base64,{b64encode(body).decode()}") == (0, 0)


@given(st.integers(), st.integers())
def test_whatever_a_harness_says_of_its_size_the_cost_is_bounded(width: int, height: int) -> None:
    assert 1 <= pixel_tokens(width, height) <= MOST_OF_PICTURE


@pytest.mark.parametrize(
    ("mime", "size", "head", "reference", "is_one"),
    [
        ("image/png", SMALLEST_PICTURE_URL + 1, "data:image/png;base64,", "", True),
        ("image/png", SMALLEST_PICTURE_URL + 1, "", "a-long-body", True),
        ("image/png", SMALLEST_PICTURE_URL + 1, "https://example.org/a.png", "", False),
        ("image/png", SMALLEST_PICTURE_URL, "data:image/png;base64,", "", False),
        ("text/plain", SMALLEST_PICTURE_URL + 1, "data:text/plain;base64,", "", False),
    ],
    ids=["within", "as a long body", "an address", "an icon", "a text"],
)
def test_a_picture_of_the_prompt_is_within_it_and_more_than_an_icon(
    mime: str, size: int, head: str, reference: str, *, is_one: bool
) -> None:
    part = PartRecorded(message="m", part="p", kind="file", mime=mime, bytes=size, text_ref=reference)
    assert is_one == is_picture_of_prompt(part, head)
