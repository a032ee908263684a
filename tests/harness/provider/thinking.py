"""Signatures of thinking: each is bound to the words that it signs and to all that stood before them."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence

from tests.harness.provider.content import Block, Json, blocks, digests

_SIZE = 16
_NOTHING = bytes(32)

KEY = b"the key of the scripted provider"

MODIFIED = (
    "{where}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
INVALID = "{where}: Invalid `signature` in `thinking` block"
ELSEWHERE = ". The block is bound to a different conversation. Remove the block."
MUST_START = (
    "{where}.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a "
    "final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and "
    "`tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, "
    "disable `thinking`."
)


def sign(key: bytes, messages: Sequence[Json], text: str) -> str:
    """The signature of thinking that answers these messages."""
    prefix = list(digests(blocks(messages)))
    claim = _short(prefix[-1] if prefix else _NOTHING) + _short(text.encode())
    return base64.b64encode(claim + _seal(key, claim)).decode()


def _short(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:_SIZE]


def _seal(key: bytes, claim: bytes) -> bytes:
    return hmac.digest(key, claim, "sha256")[:_SIZE]


def faults(
    key: bytes, body: Json, messages: Sequence[Json], *, is_bound: bool = True, is_preserved: bool = False
) -> list[str]:
    """Thinking that was changed, or moved: while its turn still runs, or ever, where thinking is preserved."""
    found = blocks(messages)
    turn = running_turn(messages)
    before = [_NOTHING, *digests(found)]
    misplaced = [
        _fault(key, block, prefix, is_running=block.message > turn, is_bound=is_bound, is_preserved=is_preserved)
        for block, prefix in zip(found, before, strict=False)
        if block.kind == "thinking"
    ]
    return [*_must_start(body, messages, turn), *filter(None, misplaced)]


def running_turn(messages: Sequence[Json]) -> int:
    """Where the newest message of a user stands that holds more than the results of tools."""
    spoken = [block.message for block in blocks(messages) if block.role == "user" and block.kind != "tool_result"]
    return max(spoken, default=-1)


def _fault(key: bytes, block: Block, prefix: bytes, *, is_running: bool, is_bound: bool, is_preserved: bool) -> str:
    where = f"messages.{block.message}.content.{block.place}"
    try:
        sealed = base64.b64decode(str(block.data.get("signature", "")), validate=True)
    except (binascii.Error, ValueError):
        return INVALID.format(where=where)
    claim, seal = sealed[: 2 * _SIZE], sealed[2 * _SIZE :]
    if not hmac.compare_digest(seal, _seal(key, claim)):
        return INVALID.format(where=where)
    if claim[_SIZE:] != _short(str(block.data.get("thinking", "")).encode()):
        return (MODIFIED if is_running else INVALID).format(where=where)
    if is_bound and is_running and claim[:_SIZE] != _short(prefix):
        return MODIFIED.format(where=where) + " They were produced behind other messages than they are sent behind."
    if is_preserved and claim[:_SIZE] != _short(prefix):
        return INVALID.format(where=where) + ELSEWHERE
    return ""


def thinks(body: Json) -> bool:
    """Whether each answer has to begin with thinking."""
    setting = body.get("thinking")
    return isinstance(setting, dict) and setting.get("type") == "enabled"


def _must_start(body: Json, messages: Sequence[Json], turn: int) -> list[str]:
    last = max((place for place, one in enumerate(messages) if one.get("role") == "assistant"), default=-1)
    if not thinks(body) or last <= turn:
        return []
    found = [block.kind for block in blocks([messages[last]])]
    if "tool_use" not in found or found[0] in {"thinking", "redacted_thinking"}:
        return []
    return [MUST_START.format(where=f"messages.{last}.content.0", found=found[0])]
