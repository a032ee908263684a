"""Long bodies: stored in their bucket, masked, with what the facts must know of them all the same."""

import asyncio

import msgspec

from schemas.codec import encode, mended_json
from schemas.inbox import DocumentSeen, MessageSeen, PartSeen, Seen, ToolsSeen
from schemas.streams import BODIES, INBOUND_BODIES, MAX_BODY_BYTES
from services.domain.attachments import file_tokens
from services.domain.secrets import mask
from services.domain.tools.request import Request, request_of
from services.kit.bus import Bodies, Bus
from services.tagger.core.signals import definitions

LONGEST_CHARACTER = 6
"""Bytes that one character takes in JSON at most."""

replace = msgspec.structs.replace


class StoredBodies(msgspec.Struct):
    """The bodies of one message that are in the bucket."""

    sizes: dict[str, int] = {}
    """Reference -> UTF-8 bytes."""
    requests: dict[str, Request] = {}
    """Reference of a call's arguments -> what the call asks for."""
    files: dict[str, int] = {}
    """Reference of a file -> its estimated tokens."""
    definitions: dict[str, str] = {}
    """Digest of a set of tools -> reference of its definitions."""


class BodyStore:
    """The buckets: long bodies come from one and go to the other."""

    def __init__(self, bus: Bus) -> None:
        self._inbound = Bodies(bus, INBOUND_BODIES)
        self._bodies = Bodies(bus, BODIES)

    async def externalise(self, item: Seen, stored: StoredBodies) -> Seen:
        """The item with references in the place of its long bodies; `stored` takes what is known of them."""
        match item:
            case MessageSeen(parts=parts) if any(_is_long(part) for part in parts):
                short = [await self._part(part, stored) if _is_long(part) else part for part in parts]
                return replace(item, parts=tuple(short))
            case PartSeen() if _is_long(item):
                return await self._part(item, stored)
            case DocumentSeen(text=text, text_ref=reference):
                body, found = await self._body(text, reference, stored)
                return replace(item, text=body, text_ref=found)
            case ToolsSeen():
                _, found = await self._body(definitions(item), "", stored)
                if found:
                    stored.definitions[item.digest] = found
                return item
            case _:
                return item

    async def _part(self, part: PartSeen, stored: StoredBodies) -> PartSeen:
        whole = await self._whole(part.text, part.text_ref)
        text, text_ref = await self._body(whole, "", stored)
        if text_ref and part.type == "file":
            stored.files[text_ref] = file_tokens(whole, part.mime)
        output, output_ref = await self._body(part.output, part.output_ref, stored)
        arguments = mended_json(await self._whole(part.input, part.input_ref))
        given, input_ref = await self._body(arguments, "", stored)
        if input_ref:
            stored.requests[input_ref] = request_of(part.tool, arguments)
        return replace(
            part,
            text=text,
            text_ref=text_ref,
            input=given,
            input_ref=input_ref,
            output=output,
            output_ref=output_ref,
        )

    async def _body(self, text: str, reference: str, stored: StoredBodies) -> tuple[str, str]:
        """A text as it is, or its reference alone where it is too long for a message."""
        body = await self._whole(text, reference)
        if len(encode(body)) <= MAX_BODY_BYTES:  # as JSON, where it may be six times as long
            return body, ""
        found = await self._bodies.put(body)
        stored.sizes[found] = len(body.encode())
        return "", found

    async def _whole(self, text: str, reference: str) -> str:
        """The text, fetched and masked where it came by reference."""
        return await asyncio.to_thread(mask, await self._inbound.get(reference)) if reference else text


def _is_long(part: PartSeen) -> bool:
    if part.text_ref or part.input_ref or part.output_ref:
        return True
    return max(len(part.text), len(part.input), len(part.output)) * LONGEST_CHARACTER > MAX_BODY_BYTES
