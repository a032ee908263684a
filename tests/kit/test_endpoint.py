"""The broker's address: it is given, or was written to a file here, and is never guessed."""

from pathlib import Path

import pytest

from services.kit.bus import Unreachable, without_password
from services.kit.endpoint import Endpoint, EndpointFile, find, write
from services.settings import Nats, Settings


def test_the_broker_of_the_settings_comes_before_the_one_that_was_started_here(tmp_path: Path) -> None:
    write(tmp_path, EndpointFile("nats://127.0.0.1:1", {"room": "of the room"}))
    assert Endpoint("nats://127.0.0.1:1", "room", "of the room") == find(Settings(data=tmp_path))
    assert "nats://elsewhere:2" == find(Settings(data=tmp_path, nats=Nats(url="nats://elsewhere:2"))).url


def test_where_none_was_started_another_is_not_taken_for_it(tmp_path: Path) -> None:
    """One at the usual address would be somebody else's."""
    with pytest.raises(Unreachable, match="start one with `annals up`, or set ANNALS_NATS__URL"):
        find(Settings(data=tmp_path))


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("nats://host:1", "nats://host:1"),
        ("nats://user:word@host:1", "nats://host:1"),
        ("tls://user:w@rd@host:1", "tls://host:1"),
        ("nats://user:w://rd@host:1", "nats://host:1"),
        ("user:word@host:1", "host:1"),
        ("host:1", "host:1"),
    ],
)
def test_what_is_reported_of_an_address_has_no_password(url: str, bare: str) -> None:
    assert bare == without_password(url)
