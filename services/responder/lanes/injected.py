"""The lane that takes out of old prompts what other programs have put there for the agent alone."""

import re
from collections.abc import Iterator

from services.kit.conversation import Part
from services.responder.lanes.ages import ages
from services.responder.lanes.base import Change, View
from services.responder.lanes.wording import block_tag, is_stale, may_reword, reword, unread, without_blocks

NAME = "injected"

REMINDER = block_tag("system-reminder")
COMMENTS = ("<!-- OMO_INTERNAL_INITIATOR -->",)
"""They go by themselves."""
DIRECTIVES = ("[SYSTEM DIRECTIVE: OH-MY-OPENCODE",)
"""They go with what follows, up to a blank line that no list follows."""
BANNERS = (
    "[Category+Skill Reminder]",
    "[EDIT ERROR - IMMEDIATE ACTION REQUIRED]",
    "[task CALL FAILED - IMMEDIATE RETRY REQUIRED]",
    "[EMERGENCY CONTEXT WINDOW WARNING]",
    "Unstable background agent appears idle",
    "**THE SUBAGENT JUST CLAIMED THIS TASK IS DONE.",
)
"""They go with what follows, up to the next blank line."""

_COMMENT = re.compile("|".join(map(re.escape, COMMENTS)))
_NOTICE = re.compile("|".join(map(re.escape, (*DIRECTIVES, *BANNERS))))
_MARK = re.compile(f"<system-reminder>|{_COMMENT.pattern}|{_NOTICE.pattern}", re.IGNORECASE)
_BLANK = re.compile(r"\n[ \t]*\n")
_BLANK_BEFORE_NO_LIST = re.compile(r"\n[ \t]*\n(?!\s{0,99}(?:[-*+•]|\d{1,3}[.)])\s)")


def without_injected(text: str) -> str:
    """The text without what was injected, and without white space around; the very same where nothing was."""
    left = _without_notices(_COMMENT.sub("", without_blocks(text, REMINDER)))
    return text if left == text else left.strip()


def _without_notices(text: str) -> str:
    kept: list[str] = []
    done = 0
    while found := _NOTICE.search(text, done):
        kept.append(text[done : found.start()])
        ending = _BLANK_BEFORE_NO_LIST if found[0] in DIRECTIVES else _BLANK
        end = ending.search(text, found.end())
        done = end.end() if end else len(text)
    return "".join(kept) + text[done:]


def needs(view: View) -> tuple[str, ...]:
    return unread(_candidates(view))


def rebase(view: View) -> Change:
    return reword(view, NAME, _candidates(view), without_injected)


def _candidates(view: View) -> Iterator[Part]:
    """Old texts of turns that are over. A mark is looked for in what is in memory, and in all of a synthetic text."""
    known = ages(view)
    for seen in view.survey.injected:
        part = seen.part
        if seen.placed.ordinal >= view.session.turn:
            return
        if may_reword(view, part, NAME) and (
            is_stale(view.change_of(part.recorded.part), part, NAME)
            or (known.is_old(part.number) and may_be_injected(part))
        ):
            yield part


def may_be_injected(part: Part) -> bool:
    """Whether a mark stands in the beginning of a user's text, or may stand behind it: no person wrote it."""
    return part.recorded.synthetic or _MARK.search(part.head) is not None
