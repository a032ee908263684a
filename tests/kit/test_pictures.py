"""What pictures cost in a prompt."""

import struct
import zlib
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.pictures import MOST, UNKNOWN, is_picture, picture_tokens


def png(width: int, height: int) -> str:
    """A picture of this size, as harnesses attach it."""
    told = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + told
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(told)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return f"data:image/png;base64,{b64encode(head + bytes(900_000)).decode()}"


@pytest.mark.parametrize(
    ("width", "height", "cost"), [(1500, 1000, 2000), (4000, 3000, MOST), (1, 1, 1), (751, 1, 2), (100, 75, 10)]
)
def test_a_picture_costs_what_its_pixels_cost(width: int, height: int, cost: int) -> None:
    assert cost == picture_tokens(png(width, height))


def test_a_gif_is_read_as_well() -> None:
    head = b"GIF89a" + struct.pack("<HH", 300, 250)
    assert 100 == picture_tokens(f"data:image/gif;base64,{b64encode(head).decode()}")


@pytest.mark.parametrize("url", ["", "https://example.org/a.png", "data:image/png;base64,", "data:image/png,abc"])
def test_a_picture_that_nobody_can_read_costs_what_most_cost(url: str) -> None:
    assert UNKNOWN == picture_tokens(url)


@given(
    st.binary(max_size=64),
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 "]),
)
def test_garbage_costs_something_all_the_same(body: bytes, head: bytes) -> None:
    assert 1 <= picture_tokens(f"data:image/png;base64,{b64encode(head + body).decode()}") <= MOST


def test_only_files_with_a_picture_in_them_are_pictures() -> None:
    assert is_picture("file", "image/png")
    assert not is_picture("file", "application/pdf")
    assert not is_picture("text", "image/png")
