"""Permissions for changes of a project's memory."""

from __future__ import annotations

from typing import Any

from services.domain.command import CommandRule
from services.memory.book import Book
from services.memory.decide.context import BookContext, Refusal
from services.memory.entry import Memory


def check_sender(rule: CommandRule[Any, Any, Any], context: BookContext) -> None:
    """Raise `Refusal` where nobody, or not this sender, may send this command at all."""
    if not context.is_enabled:
        raise Refusal("this installation has no memory: it is switched off (ANNALS_MEMORY__ENABLED)")
    if not context.memory_enabled:
        raise Refusal(
            "this project has no memory: its own settings switch it off (memory.enabled); a person sees "
            "them with `annals project settings`"
        )
    if context.is_subagent and context.trust != "person" and not rule.for_subagents:
        raise Refusal(
            "a sub-agent may only write notes; report what is worth remembering to the agent that started you, "
            "or write a note of it"
        )
    if context.trust not in rule.sent_by:
        raise Refusal(f"{rule.kind.TYPE} is not for {_called(context.trust)}; {rule.remedy}")


def check_project(book: Book) -> None:
    """Raise `Refusal` where nothing is remembered of the project at all."""
    if book.is_home:
        raise Refusal(
            "this is a home directory, and work in it is about everything; work in the folder of a project, or name one"
        )


def check_change(memory: Memory, context: BookContext) -> None:
    """Raise `Refusal` where the sender may not change what this memory says, or whether it holds."""
    if context.trust == "person":
        return
    if memory.trust == "person":
        raise Refusal(f"{memory.id} has a person's own words, and only a person may change it; ask one to do it")
    if memory.is_pinned:
        raise Refusal(f"{memory.id} is pinned, and only a person may change it; ask one to do it")


def _called(trust: str) -> str:
    return {"agent": "agents", "person": "people", "desk": "the desk"}.get(trust, f"the {trust}" if trust else "you")
