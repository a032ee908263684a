import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.events import EVENTS
from services.desk.core.commands import COMMANDS
from services.generate.__main__ import DOCS, JSON, PAGES, ROOT, main, stale
from services.generate.schema import ASKS, reply_to
from tests.helpers.cells import cells

ASYNCAPI: dict[str, Any] = msgspec.json.decode((JSON / "asyncapi.json").read_bytes())
ADDRESSES = {channel["address"] for channel in ASYNCAPI["channels"].values()}
SCHEMAS = sorted(JSON.glob("*.json"))


def references(node: object) -> Iterator[str]:
    """Every `$ref` below a node."""
    match node:
        case {"$ref": str(reference)}:
            yield reference
        case dict():
            yield from (reference for child in node.values() for reference in references(child))
        case list():
            yield from (reference for child in node for reference in references(child))


@cache
def document(file: Path) -> Any:  # noqa: ANN401 - any document
    return msgspec.json.decode(file.read_bytes())


def resolve(file: Path, reference: str) -> Any:  # noqa: ANN401 - any node of a document
    """What a reference in a file leads to."""
    name, _, pointer = reference.partition("#/")
    node = document(file.parent / name if name else file)
    for key in pointer.split("/"):
        node = node[key]
    return node


def test_what_is_generated_is_fresh() -> None:
    names = [str(path.relative_to(ROOT)) for path, _ in stale()]
    assert [] == names, "run `make schema` and commit what it writes"


def test_a_stale_file_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("services.generate.__main__.PAGES", [(DOCS / "nowhere.md", str)])

    assert 1 == main(["--check"])

    errors = capsys.readouterr().err
    assert "run `make schema`" in errors
    assert "docs/nowhere.md" in errors


def test_a_stale_file_is_written_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "docs" / "page.md"
    monkeypatch.setattr("services.generate.__main__.ROOT", tmp_path)
    monkeypatch.setattr("services.generate.__main__.PAGES", [(page, lambda: "today's\n")])

    assert (0, 0) == (main([]), main(["--check"]))
    assert "today's\n" == page.read_text()


def test_a_golden_sample_is_added_but_never_rewritten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shipped = tmp_path / "session.idled.v1.json"
    shipped.write_text("as it was shipped")
    monkeypatch.setattr("services.generate.__main__.ROOT", tmp_path)
    monkeypatch.setattr("services.generate.__main__.GOLDEN", tmp_path)
    monkeypatch.setattr("services.generate.__main__.PAGES", [])

    main([])

    assert "as it was shipped" == shipped.read_text()
    assert len(EVENTS) == len(list(tmp_path.iterdir()))


def test_no_file_lies_among_the_generated_ones() -> None:
    assert SCHEMAS == sorted(path for path, _ in PAGES if path.parent == JSON)


@cells("path", SCHEMAS)
def test_every_reference_leads_somewhere(path: Path) -> None:
    for reference in references(msgspec.json.decode(path.read_bytes())):
        assert isinstance(resolve(path, reference), dict), reference


def test_every_event_command_and_question_has_its_address() -> None:
    expected = {
        "in.{harness}.{project}.{session}",
        "dead.{room}",
        *(f"log.{{shard}}.{{project}}.{{session}}.{event.TYPE}" for event in EVENTS),
        *(f"do.{{project}}.{{session}}.{command.TYPE}" for command in COMMANDS),
        *(f"ask.{ask.NAME}.{{project}}" for ask in ASKS),
    }
    assert expected == ADDRESSES - {None}


@cells("name", ASYNCAPI["channels"])
def test_the_parameters_of_an_address_are_declared(name: str) -> None:
    channel = ASYNCAPI["channels"][name]
    named = set(re.findall(r"{(\w+)}", channel["address"] or ""))
    assert named == set(channel.get("parameters", {}))


@cells("name", ASYNCAPI["operations"])
def test_an_operation_uses_messages_of_its_own_channel(name: str) -> None:
    operation = ASYNCAPI["operations"][name]
    assert operation["action"] in {"send", "receive"}
    for side in (operation, operation.get("reply", operation)):
        prefix = f"{side['channel']['$ref']}/messages/"
        assert all(message["$ref"].startswith(prefix) for message in side["messages"])


@cells("command", COMMANDS)
def test_every_command_is_sent_and_answered(command: Any) -> None:  # noqa: ANN401 - pytest's parameter
    assert "#/channels/do.reply" == ASYNCAPI["operations"][f"do.{command.TYPE}"]["reply"]["channel"]["$ref"]


@cells("ask", ASKS)
def test_every_question_is_sent_and_has_its_own_reply(ask: Any) -> None:  # noqa: ANN401 - pytest's parameter
    reply = ASYNCAPI["components"]["messages"][f"ask.{ask.NAME}.reply"]["payload"]["schema"]["$ref"]
    assert reply.endswith(f"/{reply_to(ask).__name__}")


@cells("name", ["in", *(f"log.{event.TYPE}" for event in EVENTS)])
def test_what_is_stored_in_a_stream_carries_its_id(name: str) -> None:
    headers = resolve(JSON / "asyncapi.json", ASYNCAPI["components"]["messages"][name]["headers"]["$ref"])
    assert ["Nats-Msg-Id"] == headers["required"]


@cells("event", EVENTS)
def test_every_event_has_its_section(event: Any) -> None:  # noqa: ANN401 - pytest's parameter
    assert f"### {event.TYPE}\n" in (DOCS / "events.md").read_text(encoding="utf-8")


def test_docstrings_of_fields_are_descriptions() -> None:
    defined = resolve(JSON / "events.schema.json", "#/$defs/plan.rebased/properties")
    assert "Tags whose drop is served from here on." == defined["dropped"]["description"]
    inherited = resolve(JSON / "plan.schema.json", "#/$defs/CutBefore/properties")
    assert "Log positions of the facts that led to it." == inherited["by"]["description"]


def test_text_that_only_the_log_keeps_is_marked() -> None:
    assert '| `edits` | str | `"[]"` | *Log only.* The edits as JSON' in (DOCS / "events.md").read_text(
        encoding="utf-8"
    )
