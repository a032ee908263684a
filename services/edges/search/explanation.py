"""`annals explain`, printed: why the prompt of a model call looks as it does, for a person.

Values in, text out. What comes from the log is put on one line each; the terminal prints it harmlessly.
"""

from collections.abc import Iterator, Mapping

from schemas.explain_asks import Explained, Explanation, Fact, PromptHint, PromptSearch
from schemas.plan import (
    AnyEdit,
    AppendText,
    CutBefore,
    InsertPair,
    OmitArc,
    OmitMessage,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    SetHead,
)
from services.domain.often import quantity
from services.domain.texts.bounds import in_line

MOST_FACTS = 8
"""Facts of one edit that are printed; what is beyond is counted."""
MOST_TEXT = 160
"""Characters of a text of the prompt that are printed."""
HEADS = {0: "the project's documents and memories", 1: "compressed history"}
"""Slot of a message at the head -> what it holds."""
CAUSES: Mapping[str, str] = {
    "deleted": "the harness deleted messages",
    "reverted": "the harness went back to an earlier message",
    "unlisted": "the harness sends messages no more that it sent before",
    "changed": "the harness changed messages that were sent",
    "compacted": "the harness compacted the session",
    "thinking": "signed thinking holds no longer",
    "signature": "the provider refused signed thinking",
    "flush": "a person asked for it",
    "idle": "the provider's cache was presumed lost",
    "model": "another model works",
    "variant": "the model reasons in another way",
    "system": "the system prompt is another one",
    "late": "the first call came before anybody answered",
    "cost": "going on cost more than a smaller prompt",
    "settings": "the project has changed its settings",
    "pressure": "the window filled",
    "force": "the window was nearly full",
    "overflow": "the provider refused the prompt as too long",
    "erasure": "a text that it showed was erased",
    "forked": "the session is a copy of another one",
}
"""Cause of a rebase -> what it means; a cause that is not here is printed as it is called."""


def as_text(found: Explanation) -> str:
    """The explanation as it is printed."""
    parts = [_head(found), _rebases(found), _edits(found), _hints(found), _searches(found)]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _head(found: Explanation) -> list[str]:
    title = f' "{_line(found.title)}"' if found.title else ""
    at = f" at {found.at:%Y-%m-%d %H:%M:%S}" if found.at else ""
    call = f"call {found.call} of {found.calls} (step {_line(found.step)})"
    plan = f"{quantity(found.messages, 'message')}, revision {found.revision} of the plan"
    edits = f"{quantity(found.edits_in_force, 'edit')} in force, of which {found.tags:,} only show the number of a text"
    return [f"Session {_line(found.session)}{title}, {call}{at}", f"{plan}, {edits}"]


def _rebases(found: Explanation) -> list[str]:
    if not found.history:
        return ["What was sent before has never changed: there was no rebase."]
    lines = [f"What was sent before has changed {quantity(len(found.history), 'time')}:"]
    return [*lines, *(f"  {_fact(fact)}" for fact in found.history)]


def _edits(found: Explanation) -> list[str]:
    if not found.edits:
        return ["Of what is asked for, the prompt is as the harness holds it."]
    more = f" ({found.left_out:,} older ones are left out: --limit)" if found.left_out else ""
    lines = [f"Edits, those with the newest reasons first{more}:"]
    for number, one in enumerate(found.edits, 1):
        lines += [f"  {number}. {edit_in_words(one)}", *(f"     {line}" for line in _reasons(one))]
    return lines


def _reasons(one: Explained) -> Iterator[str]:
    lanes = " and ".join(map(_line, one.lanes))
    yield f"by {lanes or 'a kind that is not named'}, {_made(one)}"
    for fact in one.facts[:MOST_FACTS]:
        yield f"  {_fact(fact)}"
    if len(one.facts) > MOST_FACTS:
        yield f"  and {quantity(len(one.facts) - MOST_FACTS, 'fact')} more: --json prints all"
    if missing := len(one.edit.by) - len(one.facts):
        yield f"  {quantity(missing, 'fact')} cannot be read any more"


def _made(one: Explained) -> str:
    """When it came into the plan, and why then."""
    if not one.revision:
        return "since a revision that is not known"
    if not one.causes:
        return f"since revision {one.revision}, which added new messages"
    meant = ", ".join(f"{cause} ({CAUSES[cause]})" if cause in CAUSES else _line(cause) for cause in one.causes)
    return f"since revision {one.revision}, a rebase for {meant}"


def edit_in_words(one: Explained) -> str:
    """The beginning of a sentence about an edit."""
    edit, where = one.edit, _where(one)
    match edit:
        case CutBefore(remaining=parts):
            stays = f" but {quantity(len(parts), 'part')}" if parts else ""
            return f"left out: all before message {one.ordinal}{stays}"
        case SetHead(slot=slot, text=text):
            what = HEADS.get(slot, f"slot {slot}")
            return (
                f"added at the head: {what}, {quantity(len(text.encode()), 'byte')}" if text else f"taken away: {what}"
            )
        case PrefixText(text=text):
            return f'"{_line(text)}" is put before it: {where}'
        case AppendText(text=text):
            return f'added behind {where}: "{_line(text)}"'
        case ReplaceText(text=text) | ReplaceOutput(text=text):
            return f'replaced: {where}, by "{_line(text)}"'
        case OmitPart():
            return f"left out: {where}"
        case OmitArc():
            return f"left out, call and output: {where}"
        case OmitMessage():
            return f"left out: message {one.ordinal}"
        case InsertPair(tool=tool, output=output):
            return f'added behind message {one.ordinal}: a call of {_line(tool)}, which shows "{_line(output)}"'
        case _:
            return f"as the harness holds it: {where}"


def _where(one: Explained) -> str:
    """The part that an edit changes."""
    edit: AnyEdit = one.edit
    what = _line(one.what) or f"the part {_line(getattr(edit, 'part', ''))}"
    tag = f" §{one.tag}§" if one.tag else ""
    return f"{what}{tag} in message {one.ordinal}" if one.ordinal else f"{what}{tag}"


def _hints(found: Explanation) -> list[str]:
    """Lines about what was found for a person's message and added behind it."""
    if not found.hints:
        return []
    return ["Hints behind messages of a person:", *(f"  {_hint(one)}" for one in found.hints)]


def _hint(one: PromptHint) -> str:
    name = f"{one.source} {_line(one.id)}"
    return f"message {one.ordinal}: {name}, score {one.score:.2f}, fact {one.seq}: {_line(one.text)}"


def _searches(found: Explanation) -> list[str]:
    if not found.searches:
        return []
    return ["Answers to searches of the agent:", *(f"  {_search(one)}" for one in found.searches)]


def _search(one: PromptSearch) -> str:
    tag = f" §{one.tag}§" if one.tag else ""
    text = f": {_line(one.text)}" if one.text else ""
    size = quantity(one.bytes, "byte")
    return f'message {one.ordinal}{tag}: "{_line(one.query)}", fact {one.seq}, {size}{text}'


def _fact(fact: Fact) -> str:
    actor = f" by {_line(fact.actor)}" if fact.actor else ""
    text = f": {_line(fact.text)}" if fact.text else ""
    return f"fact {fact.seq}, {fact.at:%Y-%m-%d %H:%M:%S}, {_line(fact.type)}{actor}{text}"


def _line(text: str) -> str:
    """On one line of bounded length."""
    return in_line(text, MOST_TEXT)
