"""Sessions as the harness holds them, written in the neutral format that `annals replay` reads."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from schemas.inbox import MessageSeen, PartSeen
from services.edges.client.readers import opencode
from services.edges.client.transcript import Transcript
from tests.harness.api import Api

LEFT_OUT = {"type": "left out"}
"""Holds the place of a part that says nothing, so that the others keep theirs."""


async def stored_transcripts(oc: Api, session: str) -> Iterator[Transcript]:
    """One session as the harness stores it; nothing where it has no message."""
    info = msgspec.convert(await oc.info(session), opencode.OpenCodeSession)
    entries = msgspec.convert(await oc.messages(session), list[opencode.OpenCodeMessage])
    return opencode.from_entries(info, entries)


def neutral(transcript: Transcript) -> bytes:
    """One line of a neutral file. It has no room for what is the harness's own: usage, models, files, signatures."""
    seen = transcript.seen
    line = {
        "session_id": transcript.session,
        "source": transcript.harness,
        "title": seen.title,
        "cwd": seen.directory,
        "parent": seen.parent or None,
        "messages": [_message(message) for message in transcript.messages],
    }
    return msgspec.json.encode(_without_nothing(line)) + b"\n"


def _message(message: MessageSeen) -> dict[str, Any]:
    return _without_nothing(
        {
            "id": message.message,
            "role": message.role,
            "time": message.at.isoformat() if message.at else None,
            "synthetic": message.synthetic or None,
            "parts": list(_placed(message)),
        }
    )


def _placed(message: MessageSeen) -> Iterator[Mapping[str, Any]]:
    place = 0
    for part in message.parts:
        yield from [LEFT_OUT] * (part.position - place)
        yield _part(part)
        place = max(place, part.position) + 1


def _part(part: PartSeen) -> Mapping[str, Any]:
    match part.type:
        case "tool":
            return _without_nothing(
                {
                    "type": "tool",
                    "name": part.tool,
                    "call_id": part.call,
                    "input": msgspec.Raw(part.input.encode()) if part.input else None,
                    "output": part.output,
                    "status": part.status,
                }
            )
        case "compaction":
            return {"type": "compaction", "summary": part.text}
        case "text" | "reasoning":
            return {"type": part.type, "text": part.text}
        case _:
            return LEFT_OUT


def _without_nothing(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
