"""What OpenCode knows of its models and agents: asked for until it has answered."""

from pathlib import Path

from tests.adapter.conftest import Adapter


def test_what_it_refuses_to_list_is_noted_and_asked_for_again(adapter: Adapter, tmp_path: Path) -> None:
    refused = {"error": {"name": "UnknownError", "data": {"message": "the plugins are loading"}}}
    found = adapter("known", str(tmp_path), [refused, {}, {}])
    why = {"error": "Error: the plugins are loading"}
    assert [["agents are not known yet", why], ["models are not known yet", why]] == sorted(found["notes"])
    assert ["models", "agents"] * 2 == found["asked"]
