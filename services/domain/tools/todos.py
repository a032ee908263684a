"""A plan that an agent keeps with a tool: what is to be done, and how far it is."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

OPEN, ACTIVE, DONE = "open", "active", "done"
_STATES = {
    "completed": DONE,
    "complete": DONE,
    "done": DONE,
    "in_progress": ACTIVE,
    "inprogress": ACTIVE,
    "active": ACTIVE,
}
"""States of harnesses; no call reports a cancelled or deleted task, and every other one is open."""
UNDONE = frozenset({"pending", "in_progress"})
"""The states of a line that is still to be done, in a list that a harness reports."""
_GONE = frozenset({"cancelled", "canceled", "deleted"})
STATUSES = frozenset({*_STATES, *UNDONE, *_GONE})
"""The states of a task as harnesses write them: alone, such a word is no name of anything."""
_NAMES = ("content", "step", "description", "subject", "title", "text", "task")
_NUMBERS = ("taskId", "task_id", "id")
_NUMBER = re.compile(r"#(\d+)")


class Task(msgspec.Struct, frozen=True):
    """One task of a list, as a call reports it."""

    name: str
    """Empty where the call only says by its number which is meant."""
    state: str
    """open, active, done, or empty where it was given up."""
    number: str = ""


def tasks(given: Mapping[str, object], output: str) -> tuple[Task, ...]:
    """The tasks of a plan that a call reports: all of it in a list, or one task by its number."""
    listed = next((found for value in given.values() if (found := tuple(_listed(value)))), ())
    if listed:
        return listed
    number = next((str(given[key]) for key in _NUMBERS if isinstance(given.get(key), str | int)), "")
    status, subject = given.get("status"), given.get("subject")
    if number and isinstance(status, str):
        return (Task(" ".join(subject.split()) if isinstance(subject, str) else "", _state(status), number),)
    made = _NUMBER.search(output[:200])
    if isinstance(subject, str) and made:
        return (Task(" ".join(subject.split()), OPEN, made[1]),)
    return ()


def progress(plan: Sequence[Task]) -> str:
    """A plan in a few words: how much is done, and what is being done."""
    done = sum(one.state == DONE for one in plan)
    active = next((one.name for one in plan if one.state == ACTIVE and one.name), "")
    return f"{done} of {len(plan)} done{f', now: {active}' if active else ''}" if len(plan) > 1 else ""


def _listed(value: object) -> Iterator[Task]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and isinstance(status := one.get("status"), str):
            name = next((text for key in _NAMES if isinstance(text := one.get(key), str) and text.strip()), "")
            if name:
                yield Task(" ".join(name.split()), _state(status))


def _state(status: str) -> str:
    plain = status.strip().lower().replace("-", "_")
    return "" if plain in _GONE else _STATES.get(plain, OPEN)
