"""Long bodies: put into their bucket, masked, with what the facts must know of them all the same."""

import asyncio

import msgspec

from schemas.codec import encode
from schemas.inbox import DocumentSeen, MessageSeen, PartSeen, Seen, ToolsSeen
from schemas.streams import BODIES, INBOUND_BODIES, MAX_BODY_BYTES
from services.kit.bus import Bodies, Bus
from services.kit.pictures import is_picture, picture_tokens
from services.kit.secrets import mask
from services.tagger.notes import definitions
from services.tagger.use import Use, use

LONGEST_CHARACTER = 6
"""Bytes that one character takes in JSON at most."""

replace = msgspec.structs.replace


class Kept(msgspec.Struct):
    """What is known of the bodies of one message that are kept aside."""

    sizes: dict[str, int] = {}
    """Reference -> UTF-8 bytes."""
    uses: dict[str, Use] = {}
    """Reference of a call's arguments -> what the call is about."""
    pictures: dict[str, int] = {}
    """Reference of a picture -> its estimated tokens."""
    definitions: dict[str, str] = {}
    """Digest of a set of tools -> reference of its definitions."""


class Aside:
    """The buckets: long bodies come from one and go to the other."""

    def __init__(self, bus: Bus) -> None:
        self._inbound = Bodies(bus, INBOUND_BODIES)
        self._bodies = Bodies(bus, BODIES)

    async def put(self, item: Seen, kept: Kept) -> Seen:
        """The item with its long bodies put aside; `kept` takes what is known of them."""
        match item:
            case MessageSeen(parts=parts) if any(_is_long(part) for part in parts):
                held = [await self._part(part, kept) if _is_long(part) else part for part in parts]
                return replace(item, parts=tuple(held))
            case PartSeen() if _is_long(item):
                return await self._part(item, kept)
            case DocumentSeen(text=text, text_ref=reference):
                body, found = await self._body(text, reference, kept)
                return replace(item, text=body, text_ref=found)
            case ToolsSeen():
                _, found = await self._body(definitions(item), "", kept)
                if found:
                    kept.definitions[item.digest] = found
                return item
            case _:
                return item

    async def _part(self, part: PartSeen, kept: Kept) -> PartSeen:
        whole = await self._whole(part.text, part.text_ref)
        text, text_ref = await self._body(whole, "", kept)
        if text_ref and is_picture(part.type, part.mime):
            kept.pictures[text_ref] = picture_tokens(whole)
        output, output_ref = await self._body(part.output, part.output_ref, kept)
        arguments = await self._whole(part.input, part.input_ref)
        given, input_ref = await self._body(arguments, "", kept)
        if input_ref:
            kept.uses[input_ref] = use(part.tool, arguments)
        return replace(
            part,
            text=text,
            text_ref=text_ref,
            input=given,
            input_ref=input_ref,
            output=output,
            output_ref=output_ref,
        )

    async def _body(self, text: str, reference: str, kept: Kept) -> tuple[str, str]:
        """A text as it is, or its reference alone where it is too long for a message."""
        body = await self._whole(text, reference)
        if len(encode(body)) <= MAX_BODY_BYTES:  # as JSON, where it may be six times as long
            return body, ""
        found = await self._bodies.put(body)
        kept.sizes[found] = len(body.encode())
        return "", found

    async def _whole(self, text: str, reference: str) -> str:
        """The text, fetched and masked where it came by reference."""
        return await asyncio.to_thread(mask, await self._inbound.get(reference)) if reference else text


def _is_long(part: PartSeen) -> bool:
    if part.text_ref or part.input_ref or part.output_ref:
        return True
    return max(len(part.text), len(part.input), len(part.output)) * LONGEST_CHARACTER > MAX_BODY_BYTES
