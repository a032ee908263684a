"""Texts of a conversation without what harnesses and we ourselves put into them."""

import re

_BLOCK = re.compile(
    r"<(system-reminder|local-command-caveat|environment_context|permissions instructions|command-name|command-message"
    r"|user_instructions|INSTRUCTIONS)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_MARKS = re.compile(
    r"<!--\s*(?:\+[\dwdhm ]+|OMO_INTERNAL_INITIATOR)\s*-->|\[dropped §\d+§\]|§\d+§ ?|\[SYSTEM DIRECTIVE:[^\]]*\]"
)
_CUT = " [… {} characters left out …] "
_CUT_BYTES = 60


def cleaned(text: str) -> str:
    """A person's text without reminders and internal marks, and without white space around."""
    if "<" in text:
        text = _BLOCK.sub("", text)
    if "§" in text or "<!--" in text or "[SYSTEM" in text:
        text = _MARKS.sub("", text)
    return text.strip()


def flat(text: str) -> str:
    """On one line."""
    return " ".join(text.split())


def shortened(text: str, most: int) -> str:
    """At most `most` UTF-8 bytes: the beginning and the end, and how much is left out between."""
    if len(text) * 4 <= most or len(data := text.encode()) <= most:
        return text
    room = max(0, most - _CUT_BYTES)
    head = data[: room * 2 // 3].decode(errors="ignore")
    tail = data[len(data) - room // 3 :].decode(errors="ignore")
    return f"{head}{_CUT.format(len(text) - len(head) - len(tail))}{tail}".strip()


def beginning(text: str, most: int) -> str:
    """At most `most` characters, cut between words, with a sign that more followed."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    whole = cut.rpartition(" ")[0]
    return f"{(whole if len(whole) * 2 > most else cut).rstrip(' ,;:.')}…"
