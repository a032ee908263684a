"""The work of a session, folded from its own facts, for the head of its history.

A harness reports the output of a call before its exit code, and maybe in two parts. So the output of the newest
commands and searches is stored until their exit codes are known.
"""

from collections.abc import Iterable

import msgspec

from schemas.events import (
    Event,
    FileTouched,
    MessageRemoved,
    PartRecorded,
    PartRemoved,
    SessionOpened,
    StepOpened,
    ToolRan,
)
from services.domain.compartments import GONE
from services.domain.conversation import Conversation, is_written
from services.domain.senders import SUBAGENT, is_of_subagent
from services.domain.texts.content import is_typed, words_of_author
from services.domain.texts.rule_sentences import laid_down
from services.domain.tools.arguments import arguments_of
from services.domain.tools.names import EDITORS, EDITS, LISTINGS, PATCHES, READS, SEARCHES, SYMBOLS, WRITES, plain
from services.domain.tools.request import command_of
from services.memory.hot_state import HotState, after_run, after_search, after_touch, after_words, without

MOST_CALLS = 8
"""Calls whose ends are not known yet."""
_CALLS = frozenset({"tool", "tool_call", "tool_result"})
_SILENT = READS | LISTINGS | SYMBOLS | EDITS | WRITES | PATCHES | EDITORS
"""Tools whose answers say nothing of the work; which files they touched is a fact of its own."""

replace = msgspec.structs.replace


MOST_RULES = 40
"""The newest sentences of persons."""


class Rule(msgspec.Struct, frozen=True):
    """A rule or a prohibition in a person's message, as it was written."""

    text: str
    message: str
    part: str


class Work(msgspec.Struct, frozen=True):
    """The present work of a session, and what is needed to go on with it."""

    state: HotState = HotState()
    root: str = ""
    """The session's directory: files are seen from there."""
    newest_calls: tuple[PartRecorded, ...] = ()
    """The newest calls, each with its question and its answer, the newest last."""
    rules: tuple[Rule, ...] = ()
    """Rules and prohibitions of persons, the newest last."""
    is_subagent: bool = False
    """Whether another agent has started the session: then no person lays anything down in it."""


def worked(work: Work, event: Event, conversation: Conversation) -> Work:
    """The work after this fact; `conversation` knows of it."""
    match event:
        case PartRecorded(kind="text"):
            work = _with_rules(work, event, conversation)
            return _with_state(work, _after_words(work.state, event, conversation))
        case PartRecorded(kind=kind) if kind in _CALLS:
            return _with_call(work, event)
        case ToolRan(tool=tool):
            return work if plain(tool) in _SILENT else _ran(work, event)
        case FileTouched(path=path, action=action):
            return _with_state(work, after_touch(work.state, path, action))
        case PartRemoved(part=part):
            return _without(work, (part,))
        case MessageRemoved(messages=names, reason=reason) if reason in GONE:
            known = (conversation.messages[name] for name in names if name in conversation.messages)
            return _without(work, [part for message in known for part in message.parts])
        case SessionOpened(directory=directory, parent=parent, mode=mode):
            work = replace(work, root=directory)
            return _subagents(work) if is_of_subagent(parent, mode) else work
        case StepOpened(mode=mode):
            return _subagents(work) if mode == SUBAGENT and not work.is_subagent else work
        case _:
            return work


def _subagents(work: Work) -> Work:
    """The work of a sub-agent: what was taken for a person's words is another agent's."""
    return replace(work, is_subagent=True, rules=())


def _with_state(work: Work, state: HotState) -> Work:
    return work if state is work.state else replace(work, state=state)


def _with_rules(work: Work, part: PartRecorded, conversation: Conversation) -> Work:
    """The work with a person's rules in this part, in place of those in its earlier text.

    Only where the harness vouches that a person typed the text in this very message: a message of the role `user` may
    as well be pasted, forged, or what another agent asks for.
    """
    message = conversation.messages.get(part.message)
    if work.is_subagent or message is None or message.recorded.role != "user" or message.recorded.synthetic:
        return work
    sentences = laid_down(words_of_author(part)) if is_written(part) and is_typed(part) else ()
    others = tuple(rule for rule in work.rules if rule.part != part.part)
    if not sentences and len(others) == len(work.rules):
        return work
    made = (Rule(text, part.message, part.part) for text in sentences)
    return replace(work, rules=(*others, *made)[-MOST_RULES:])


def _after_words(state: HotState, part: PartRecorded, conversation: Conversation) -> HotState:
    """The state after an agent wrote this; what a person or the harness wrote decides nothing."""
    message = conversation.messages.get(part.message)
    if message is None or message.recorded.role != "assistant" or part.synthetic or part.ignored:
        return state
    return after_words(state, part.text, part.part)


def _with_call(work: Work, part: PartRecorded) -> Work:
    if part.tool and plain(part.tool) in _SILENT:
        return work
    others = tuple(one for one in work.newest_calls if one.part != part.part)
    return replace(work, newest_calls=(*others, part)[-MOST_CALLS:])


def _ran(work: Work, run: ToolRan) -> Work:
    """A call has ended. Its output is not needed any more once its result is known."""
    answer = next((one for one in work.newest_calls if one.part == run.part), None)
    asked = answer if answer is not None and answer.kind == "tool" else _asked(work.newest_calls, run)
    state = _after(work, run, asked.input if asked is not None else "", answer.output if answer is not None else "")
    is_known = run.exit_code is not None or state is not work.state
    over = {one.part for one in (answer, asked) if one is not None} if is_known else set[str]()
    return replace(work, state=state, newest_calls=tuple(one for one in work.newest_calls if one.part not in over))


def _after(work: Work, run: ToolRan, arguments: str, output: str) -> HotState:
    """The state after this search or command. A tool that has no exit code and runs no command reports no error."""
    if plain(run.tool) in SEARCHES:
        return after_search(work.state, output, work.root) if run.status == "completed" else work.state
    command = command_of("run", arguments_of(arguments))
    if not command and run.exit_code is None:
        return work.state
    return after_run(work.state, command or run.target, output, run.exit_code, run.part)


def _asked(found: Iterable[PartRecorded], run: ToolRan) -> PartRecorded | None:
    """The call of a result that came in a part of its own."""
    calls = [one for one in found if one.kind == "tool_call" and run.call and one.call == run.call]
    return calls[-1] if calls else None


def _without(work: Work, parts: Iterable[str]) -> Work:
    gone = frozenset(parts)
    calls = tuple(one for one in work.newest_calls if one.part not in gone)
    rules = tuple(one for one in work.rules if one.part not in gone)
    return replace(_with_state(work, without(work.state, gone)), newest_calls=calls, rules=rules)
