"""The observations of claude-mem and of engram, as rows of their databases and as records of their exports."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from schemas.codec import mended
from services.edges.memory.stores.statement import OF_ANOTHER_TYPE, Omission, Statement, is_any, texts_of

CLAUDE_MEM, ENGRAM = "claude-mem", "engram"
_SESSIONS_OF_CLAUDE_MEM = ("memory_session_id", "sdk_session_id")
"""The field with the session of an observation, in newer and in older releases."""
_SUMMARIES, _PROMPTS = ("session_summaries", "summaries"), ("user_prompts", "prompts")
"""The names of what else is in a database and in an export."""
BESIDES = (*_SUMMARIES, *_PROMPTS)
NO_MEMORIES = "is a prompt, or says what was asked, done or planned in a session"


def tool_of(fields: Iterable[str]) -> str:
    """The tool that has observations with these fields; empty: none that is known."""
    names = frozenset(fields)
    if "project" not in names:
        return ""
    if not names.isdisjoint(_SESSIONS_OF_CLAUDE_MEM) and {"facts", "text", "narrative"} & names:
        return CLAUDE_MEM
    return ENGRAM if {"session_id", "title", "content", "scope"} <= names else ""


def statements(tool: str, records: Iterable[object], project: str) -> Iterator[Statement | Omission]:
    """The statements of a project's observations. `project`: its name in the tool, in any case, with its worktrees."""
    others: Counter[str] = Counter()
    for record in records:
        if not isinstance(record, Mapping):
            yield Omission(OF_ANOTHER_TYPE)
        elif other := _other_project(record, project):
            others[other] += 1
        elif record.get("deleted_at"):
            yield Omission("is deleted there")
        else:
            yield from _engram(record) if tool == ENGRAM else _claude_mem(record)
    for other, count in others.most_common():
        yield Omission(f"is of the project {other} there (`--from {other}` takes that)", count)


def of_sessions(tables: Mapping[str, object], project: str) -> Iterator[Statement | Omission]:
    """The lessons of a project's sessions, of all that a store has besides observations.

    `tables`: the records of each, by the name that it has in a database or in an export.
    """
    for name in _SUMMARIES:
        for record in _records(tables.get(name)):
            if not isinstance(record, Mapping):
                yield Omission(OF_ANOTHER_TYPE)
            elif not _other_project(record, project):
                yield from texts_of(record.get("learned"))
                yield Omission(NO_MEMORIES)
    if prompts := sum(1 for name in _PROMPTS for _ in _records(tables.get(name))):
        yield Omission(NO_MEMORIES, prompts)


def _records(table: object) -> Iterable[object]:
    return table if isinstance(table, Iterable) and not isinstance(table, str | Mapping) else ()


def _claude_mem(record: Mapping[str, object]) -> Iterator[Statement | Omission]:
    found = [*texts_of(_listed(record.get("facts"))), *texts_of(record.get("narrative")), *texts_of(record.get("text"))]
    if not is_any(found):
        found += [*texts_of(record.get("subtitle") or record.get("title"))]
    yield from found or [Omission("has no text")]


def _engram(record: Mapping[str, object]) -> Iterator[Statement | Omission]:
    yield from [*texts_of(record.get("content") or record.get("title"))] or [Omission("has no text")]


def _listed(facts: object) -> object:
    """A list of facts, which a database has as JSON."""
    if not isinstance(facts, str) or not facts.lstrip().startswith("["):
        return facts
    try:
        return msgspec.json.decode(mended(facts.encode()))
    except (msgspec.DecodeError, RecursionError):
        return {}


def _other_project(record: Mapping[str, object], project: str) -> str:
    """The project that a record is of, where it is another one. One that names none may be of this one."""
    names = [name for name in (record.get("project"), record.get("merged_into_project")) if name]
    plain = project.casefold()
    if not names or any(str(one).casefold() == plain or str(one).casefold().startswith(f"{plain}/") for one in names):
        return ""
    return str(names[0])
