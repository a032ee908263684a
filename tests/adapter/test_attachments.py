"""The adapter's reports of pictures and documents in tools' answers: the same as the reader of recordings does."""

import json
import struct
from base64 import b64encode
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.inbox import Attachment, MessageSeen
from services.domain.attachments import pixels
from services.domain.tokens import tokens
from services.edges.client.readers import read
from tests.adapter.conftest import Adapter
from tests.domain.test_attachments import png
from tests.helpers.examples import examples

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    """A picture of this size, with other segments before that of its size."""
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9) + before + frame + b"\xff\xda"


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + kind + struct.pack("<I", len(body)) + body + bytes(16)


def triple(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


EXIF = b"\xff\xe1" + struct.pack(">H", 40_002) + bytes(40_000)
PICTURES = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">IIBBBBB", 640, 480, 8, 2, 0, 0, 0),
    "jpeg": jpeg(800, 600),
    "jpeg behind a long segment": jpeg(801, 602, EXIF * 2 + b"\xff\xff\xc4" + struct.pack(">H", 4) + b"\0\0"),
    "gif": b"GIF89a" + struct.pack("<HH", 300, 250) + bytes(20),
    "webp": webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 1024, 768)),
    "webp without loss": webp(b"VP8L", b"\x2f" + struct.pack("<I", (511 & 0x3FFF) | (255 << 14))),
    "webp extended": webp(b"VP8X", bytes(4) + triple(1919) + triple(1079)),
    "bmp": b"BM" + bytes(12) + struct.pack("<Ill", 40, 320, -200) + bytes(20),
    "nothing": b"",
    "words": b"hello",
    "drawn": b'<svg width="10" height="10"/>',
    "cut": jpeg(800, 600)[:24],
    "no size": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(13),
}


@pytest.mark.parametrize("name", PICTURES)
def test_reads_the_size_of_a_picture_as_the_service_does(adapter: Adapter, name: str) -> None:
    data = b64encode(PICTURES[name]).decode()

    width, height = adapter("pixels", data)

    assert (width, height) == pixels(f"data:image/png;base64,{data}")
    assert bool(width) == (name not in ("nothing", "words", "drawn", "cut", "no size"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(200))
@given(head=st.sampled_from([one[:12] for one in PICTURES.values()]), body=st.binary(max_size=80))
def test_no_bytes_break_the_reader_of_sizes(adapter: Adapter, head: bytes, body: bytes) -> None:
    width, height = adapter("pixels", b64encode(head + body).decode())

    assert width >= 0
    assert height >= 0


def answer(**state: object) -> dict[str, Any]:
    """A message of OpenCode with one tool's answer."""
    whole = {"status": "completed", "input": {}, "output": "Image read successfully", **state}
    part = {
        "id": "p",
        "messageID": "m",
        "sessionID": "s",
        "type": "tool",
        "tool": "read",
        "callID": "c",
        "state": whole,
    }
    return {"info": {"id": "m", "sessionID": "s", "role": "assistant", "time": {"created": 1}}, "parts": [part]}


def shot(url: str = "", mime: str = "image/png", **more: str) -> dict[str, str]:
    return {"id": "f", "type": "file", "mime": mime, "url": url or png(800, 600), **more}


def entry_attachments(adapter: Adapter, entry: dict[str, Any]) -> tuple[Attachment, ...]:
    return msgspec.convert(adapter("entry", entry), MessageSeen).parts[0].attachments


STATES = {
    "a picture": {"attachments": [shot(filename="shot.png")]},
    "several": {
        "attachments": [shot(), shot("data:application/pdf;base64,AAAA", "application/pdf"), shot("https://x/y")]
    },
    "none": {},
    "an empty list": {"attachments": []},
    "pruned": {"attachments": [shot()], "time": {"start": 1, "compacted": 2}},
    "failed": {"attachments": [shot()], "status": "error", "error": "no"},
    "running": {"attachments": [shot()], "status": "running"},
}


@pytest.mark.parametrize("name", STATES)
def test_reports_attachments_as_the_reader_does(adapter: Adapter, tmp_path: Path, name: str) -> None:
    entry = answer(**STATES[name])
    file = tmp_path / "session.json"
    file.write_text(json.dumps({"info": {"id": "s"}, "messages": [entry]}))
    (transcript,) = read(file)

    found = entry_attachments(adapter, entry)

    assert found == transcript.messages[0].parts[0].attachments
    assert len(found) == {"a picture": 1, "several": 3}.get(name, 0)


def test_a_picture_is_reported_without_its_bytes(adapter: Adapter) -> None:
    (found,) = entry_attachments(adapter, answer(attachments=[shot(filename="shot.png")]))
    encoded = json.dumps(adapter("entry", answer(attachments=[shot(filename="shot.png")])))

    assert (found.mime, found.filename, found.width, found.height) == ("image/png", "shot.png", 800, 600)
    assert tokens(len(encoded)) < 200


@pytest.mark.parametrize(
    "strange", ["text", 7, {"a": 1}, [None], [7], [{"mime": "image/png"}], [{"url": 7, "mime": 7}]]
)
def test_attachments_of_another_shape_are_left_untold(adapter: Adapter, strange: object) -> None:
    assert entry_attachments(adapter, answer(attachments=strange)) == ()


def test_a_file_is_reported_with_its_name(adapter: Adapter) -> None:
    entry = answer()
    entry["parts"] = [{**shot(filename="shot.png"), "id": "p", "messageID": "m", "sessionID": "s"}]

    assert "shot.png" == msgspec.convert(adapter("entry", entry), MessageSeen).parts[0].filename


def test_a_secret_in_the_name_of_a_file_never_leaves_the_harness(adapter: Adapter) -> None:
    entry = adapter("entry", answer(attachments=[shot(filename=f"{SECRET}.png")]))

    text_files = adapter("messages", "in.opencode.p.s", "s/evt", "2026-01-01T00:00:00Z", [entry])

    assert SECRET in json.dumps(entry)
    assert SECRET not in json.dumps(text_files)


def edited(adapter: Adapter, *edits: dict[str, str], **state: object) -> dict[str, Any]:
    (entry,) = adapter("apply", [answer(attachments=[shot()], **state)], list(edits))
    return dict(entry["parts"][0]["state"])


PREFIX = {"op": "prefix_text", "part": "p", "text": "§7§ "}
REPLACE = {"op": "replace_output", "part": "p", "text": "[dropped §7§]"}
APPEND = {"op": "append_text", "part": "p", "text": " more"}


def test_words_before_and_behind_an_answer_keep_its_pictures(adapter: Adapter) -> None:
    for edits in ([PREFIX], [APPEND], [PREFIX, APPEND]):
        assert [shot()] == edited(adapter, *edits)["attachments"]


def test_an_answer_that_is_replaced_takes_its_pictures_with_it(adapter: Adapter) -> None:
    for first, second in product([REPLACE], [APPEND, REPLACE]):
        assert "attachments" not in edited(adapter, first, second)
