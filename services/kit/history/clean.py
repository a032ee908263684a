"""Texts of a conversation without what harnesses and we ourselves put into them."""

import re

_BLOCK = re.compile(
    r"<(system-reminder|local-command-caveat|local-command-stdout|environment_context|permissions instructions"
    r"|command-name|command-message|user_instructions|INSTRUCTIONS|ide_opened_file|ide_selection|turn_aborted"
    r"|task-notification|image)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_MARKS = re.compile(
    r"<!--\s*(?:\+[\dwdhm ]+|OMO_INTERNAL_INITIATOR)\s*-->|\[dropped §\d+§\]|§\d+§ ?|\[SYSTEM DIRECTIVE:[^\]]*\]"
)
_FRAME = re.compile(
    r"\A\s*# Files mentioned by the user:\s.*?^## My request for \w+:\s*"
    r"|^If you need specific details from before [^\n]{0,200}read the full transcript at:[^\n]*$"
    r"|^Summarize the task tool output above and continue with your task\.$"
    r"|^Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed\.$"
    r"|^Called the \w+ tool with the following input:[^\n]*$"
    r"|<path>[^<\n]*</path>\s*<type>\w+</type>\s*<content>.*?(?:</content>|\Z)|</?command-args>|^\[image\]$|'/[^'\n]+\.(?:png|jpe?g|gif|webp)'\s*",
    re.DOTALL | re.MULTILINE,
)
"""What a harness writes around a person's words without a mark of its own."""
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((?!https?:)[^()\s]+\)")
_CUT = " [… {} characters left out …] "
_CUT_BYTES = 60
_CLAUSE = re.compile(r"[.;:,!?](?= )|[。；，！？：]| [—–-] ")  # noqa: RUF001 - the marks of other scripts
_OPENING = {"(": ")", "[": "]"}


def cleaned(text: str) -> str:
    """A person's text without reminders and internal marks, and without white space around."""
    if "<" in text:
        text = _BLOCK.sub("", text)
    if "§" in text or "<!--" in text or "[SYSTEM" in text:
        text = _MARKS.sub("", text)
    return _FRAME.sub("", text).strip()


def unlinked(text: str) -> str:
    """Links to files as what they are called."""
    return _LINK.sub(r"\1", text) if "](" in text else text


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
    """At most `most` characters, with a sign that more followed: cut behind a clause, or at least between words.

    No code and no bracket is left open.
    """
    if len(text) <= most:
        return text
    cut = _closed(text[: max(0, most - 1)])
    clause = max((found.start() for found in _CLAUSE.finditer(cut)), default=0)
    word = cut.rfind(" ")
    end = clause if clause * 3 > most * 2 else word if word * 2 > most else len(cut)
    return f"{cut[:end].rstrip(' ,;:.—–-…')}…"  # noqa: RUF001 - dashes of prose


def _closed(text: str) -> str:
    """Without the code, or the bracket, that does not end in it, if that leaves half of it."""
    ends = [text.rfind("`")] if text.count("`") % 2 else []
    ends += [text.rfind(mark) for mark, other in _OPENING.items() if text.rfind(mark) > text.rfind(other)]
    end = min(ends, default=len(text))
    return text[:end] if end * 2 > len(text) else text
