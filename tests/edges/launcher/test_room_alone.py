"""A room that a person starts by itself."""

import socket
from pathlib import Path

import pytest

from services.edges.launcher.broker import HOST
from tests.helpers.room_process import room

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]


@pytest.mark.usefixtures("broker")
async def test_a_port_that_is_taken_is_one_sentence_and_a_bad_end(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with room("tagger", tmp_path, ANNALS_HTTP__PORT=str(port)) as process:
            assert 1 == await process.ends()
    (line,) = (line for line in process.lines if line["level"] == "error")
    assert [] == process.plain
    assert "ANNALS_HTTP__PORT" in str(line["event"])
    assert "in use" in str(line["event"])
