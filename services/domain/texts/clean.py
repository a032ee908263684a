"""The one cleaner of what harnesses put into texts: reminders, notices, marks, and frames around a person's words.

Three readers need it in three strengths. A prompt loses only what is certain (`without_injected`), a person's words in
a history lose all that is known (`cleaned`), and a text that is searched for also loses what is only quoted
(`searchable`). What a person quotes of a harness stays in the first two: an element counts where it begins a line, and
within a line only where it is in no quotation marks and is closed before another one begins.
"""

import re
from collections import Counter

_REMINDER = "system-reminder"
ELEMENTS = (
    _REMINDER, "local-command-caveat", "local-command-stdout", "environment_context", "permissions instructions",
    "command-name", "command-message", "user_instructions", "INSTRUCTIONS", "ide_opened_file", "ide_selection",
    "turn_aborted", "task-notification", "image",
)  # fmt: skip
"""Elements that harnesses wrap around what no person wrote."""
OWN_ELEMENT = "instruction"
"""The element that this service puts around its own notices."""
CONTEXT_ELEMENT = "project-context"
"""The element in which what is known of a project goes out behind a person's message, where they have asked for it."""
_DIRECTIVES = ("[SYSTEM DIRECTIVE: OH-MY-OPENCODE",)
"""Notices that go with what follows, up to a blank line that no list follows."""
BANNERS = (
    "[Category+Skill Reminder]",
    "[EDIT ERROR - IMMEDIATE ACTION REQUIRED]",
    "[task CALL FAILED - IMMEDIATE RETRY REQUIRED]",
    "[EMERGENCY CONTEXT WINDOW WARNING]",
    "Unstable background agent appears idle",
    "**THE SUBAGENT JUST CLAIMED THIS TASK IS DONE.",
)
"""Notices that go with what follows, up to the next blank line."""


def _edges(*names: str) -> re.Pattern[str]:
    """The expression for the opening or closing tag of an element with one of these names, in any case."""
    return re.compile(rf"<(?P<end>/?)(?P<name>{'|'.join(names)})(?:\s[^<>]{{0,500}})?>", re.IGNORECASE)


_REMINDERS, _ALL, _ALL_AND_OWN = _edges(_REMINDER), _edges(*ELEMENTS), _edges(*ELEMENTS, OWN_ELEMENT)
_QUOTES = frozenset("`'\"\u201c\u201e\u2018\u00ab")
_COMMENT = re.compile(r"<!-- OMO_INTERNAL_INITIATOR -->")
_NOTICE = re.compile("|".join(map(re.escape, (*_DIRECTIVES, *BANNERS))))
_BLANK = re.compile(r"\n[ \t]*\n")
_BLANK_BEFORE_NO_LIST = re.compile(r"\n[ \t]*\n(?!\s{0,99}(?:[-*+•]|\d{1,3}[.)])\s)")
_INJECTED = re.compile(f"{_REMINDERS.pattern}|{_COMMENT.pattern}|{_NOTICE.pattern}", re.IGNORECASE)
_MARKS = re.compile(r"<!--\s*+(?:\+[\dwdhm ]++|OMO_INTERNAL_INITIATOR)\s*+-->|\[dropped §\d+§\]|§\d+§ ?")
_DIRECTIVE = re.compile(r"\[SYSTEM DIRECTIVE:[^\]]*\]")
_FRAME = re.compile(
    r"\A\s*# Files mentioned by the user:\s.*?^## My request for \w+:\s*"
    r"|^If you need specific details from before [^\n]{0,200}read the full transcript at:[^\n]*$"
    r"|^Summarize the task tool output above and continue with your task\.$"
    r"|^Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed\.$"
    r"|^Called the \w+ tool with the following input:[^\n]*$"
    r"|<path>[^<\n]*</path>\s*<type>\w+</type>\s*<content>.*?(?:</content>|\Z)|</?command-args>|^\[image\]$|'/[^'\n]+\.(?:png|jpe?g|gif|webp)'\s*",
    re.DOTALL | re.MULTILINE,
)
"""The frame that a harness writes around a person's words without a mark of its own."""


def may_hold_injected(text: str) -> bool:
    """Whether something that `without_injected` looks for may stand in it."""
    return _INJECTED.search(text) is not None


def without_injected(text: str) -> str:
    """The text of a prompt without reminders and notices, and without white space around; the very same without any.

    A reminder that is never closed is none.
    """
    left = _without_notices(_COMMENT.sub("", _outside(text, _REMINDERS)))
    return text if left == text else left.strip()


def cleaned(text: str) -> str:
    """A person's text without all that harnesses add, without internal marks, and without white space around.

    An element that is never closed goes to the end.
    """
    if "<" in text:
        text = _outside(text, _ALL, to_end=True)
    text = _without_notices(text)
    if "§" in text or "<!--" in text or "[SYSTEM" in text:
        text = _MARKS.sub("", _without_directives(text))
    return _FRAME.sub("", text).strip()


def searchable(text: str) -> str:
    """The words of a person to search for: without elements wherever they stand, and without comments."""
    return _without_comments(_outside(text, _ALL_AND_OWN, to_end=True, anywhere=True)).strip()


def _outside(text: str, edges: re.Pattern[str], *, to_end: bool = False, anywhere: bool = False) -> str:
    """The text outside of these elements, which may stand within each other.

    `to_end`: one that is never closed goes to the end; otherwise it goes up to the last end within it, or stays where
    there is none. `anywhere`: elements count also where they are quoted, and so do ends without a beginning.
    """
    pieces: list[str] = []
    open_: list[str] = []
    counts: Counter[str] = Counter()
    start = done = closed = 0
    found = list(edges.finditer(text))
    for edge, following in zip(found, (*found[1:], None), strict=False):
        name = edge["name"].lower()
        if not edge["end"]:
            if anywhere or _begins_line(text, edge.start(), done) or _stands_alone(text, edge, following):
                start = start if open_ else edge.start()
                open_.append(name)
                counts[name] += 1
            continue
        if not counts[name]:
            if anywhere and not open_:
                pieces.append(text[done : edge.start()])
                done = edge.end()
            continue
        last = ""
        while last != name:
            last = open_.pop()
            counts[last] -= 1
        closed = edge.end()
        if not open_:
            pieces.append(text[done:start])
            done = closed
    if open_ and (to_end or closed > start):
        pieces.append(text[done:start])
        done = len(text) if to_end else closed
    return "".join(pieces) + text[done:] if pieces else text


def _begins_line(text: str, at: int, done: int) -> bool:
    """Whether nothing but blanks precedes this place in its line, or since what was taken out."""
    while at > done and text[at - 1] in " \t":
        at -= 1
    return at == done or text[at - 1] == "\n"


def _stands_alone(text: str, edge: re.Match[str], following: re.Match[str] | None) -> bool:
    """Whether an element within a line is closed before anything else begins, and not quoted."""
    is_closed = following is not None and bool(following["end"]) and following["name"].lower() == edge["name"].lower()
    return is_closed and text[edge.start() - 1 : edge.start()] not in _QUOTES


def _without_notices(text: str) -> str:
    pieces: list[str] = []
    done = 0
    while found := _NOTICE.search(text, done):
        pieces.append(text[done : found.start()])
        ending = _BLANK_BEFORE_NO_LIST if found[0] in _DIRECTIVES else _BLANK
        end = ending.search(text, found.end())
        done = end.end() if end else len(text)
    return "".join(pieces) + text[done:]


def _without_directives(text: str) -> str:
    """One that is never closed stays. None is looked for where none can be closed: each would be read to the end."""
    end = text.rfind("]") + 1
    return _DIRECTIVE.sub("", text[:end]) + text[end:]


def _without_comments(text: str) -> str:
    """The text outside of comments, each piece with the end of its line. A comment that does not end is none."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        pieces.append(text[at:start])
        at = end + len("-->")
        at += text.startswith("\n", at)
    return "".join((*pieces, text[at:]))
