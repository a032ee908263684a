"""All commands that the desk decides, found where they are registered (`@command`), and what follows from that."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from schemas import commands as language
from schemas.commands import Command
from schemas.events import EVENTS, Event
from schemas.subjects import Address
from schemas.tools import TOOLS_DECLARED, Tool, with_actions
from services.desk import core
from services.domain.command import AddressKind, CommandRule
from services.domain.decision import Decision
from services.domain.registry import registered, request_replies
from services.memory import decide as of_memory
from services.memory.book import Book
from services.memory.decide.context import BookContext, Refusal
from services.memory.decide.effects import with_effects
from services.memory.decide.permission import check_project, check_sender

AnyRule = CommandRule[Any, Any, Any]


class SentBySomebody(Protocol):
    """The context of any command: the trust in its sender."""

    @property
    def trust(self) -> str: ...


def by_type(rules: Iterable[AnyRule]) -> Mapping[str, AnyRule]:
    """The rules by the types of their commands, in the order of the language. Raises `ValueError` for two of a type."""
    known: dict[str, AnyRule] = {}
    for rule in sorted(rules, key=_place_in_language):
        if rule.kind.TYPE in known:
            raise ValueError(f"two functions decide {rule.kind.TYPE}: register one of them, or call it another command")
        known[rule.kind.TYPE] = rule
    return known


def _place_in_language(rule: AnyRule) -> tuple[int, str]:
    """The place of a rule: first the commands of `schemas.commands`, then those defined next to their decision."""
    defined = [name for name, value in vars(language).items() if inspect.isclass(value)]
    is_defined = rule.kind.__module__ == language.__name__
    return defined.index(rule.kind.__name__) if is_defined else len(defined), rule.kind.TYPE


RULES = by_type(rule for package in (core, of_memory) for rule in registered(package, CommandRule))
COMMANDS: tuple[type[Command], ...] = tuple(rule.kind for rule in RULES.values())
"""Every kind of command, in the order of the pages that are made of them."""
WRITES: tuple[type[Event], ...] = tuple(
    event for event in EVENTS if any(event in rule.writes for rule in RULES.values())
)
"""The events that commands write."""
OF_BOOKS: tuple[type[Command], ...] = tuple(rule.kind for rule in RULES.values() if rule.on is Book)
"""The commands about a project's memory."""


def tools() -> tuple[Tool, ...]:
    """The tools that agents are offered, those of questions last, with the actions that commands register."""
    of_questions = (one.tool for one in request_replies() if one.tool is not None)
    return with_actions((*TOOLS_DECLARED, *of_questions), (rule.action for rule in RULES.values() if rule.action))


def rule_of(command: Command) -> AnyRule:
    """The rule of a command. Raises `TypeError` where none is registered."""
    rule = RULES.get(getattr(command, "TYPE", ""))
    if rule is None or not isinstance(command, rule.kind):
        raise TypeError(f"no rule for {command!r}")
    return rule


def decide(state: object, command: Command, context: SentBySomebody) -> Decision:
    """Decide a command on the newest state of what it is about, unless the sender may not send it."""
    rule = rule_of(command)
    if context.trust not in rule.sent_by:
        return Decision(
            ok=False, text=f"Nothing was written: {command.TYPE} is for {rule.senders} alone; {rule.remedy}."
        )
    return rule(state, command, context)


def decide_on_book(book: Book, command: Command, context: BookContext) -> Decision:
    """Decide a command about a project's memory: facts of its book, or a sentence why it becomes nothing."""
    rule = rule_of(command)
    try:
        check_sender(rule, context)
        check_project(book)
        return with_effects(book, rule(book, command, context), context)
    except Refusal as refusal:
        return Decision(ok=False, text=f"Nothing was written: {refusal}.")


def misplaced(address: Address, command: Command) -> str:
    """A fault of a command's address; empty: there is none."""
    kind, right = rule_of(command).address, Address(address.project).command(command.TYPE)
    if kind is AddressKind.PROJECT_FOR_SESSION and address.session:
        return f"{command.TYPE} is about the whole project: send it to {right}, and name the session in `session`."
    if kind is AddressKind.PROJECT and address.session:
        return f"{command.TYPE} is about the whole project: send it to {right}."
    if kind is AddressKind.SESSION and not address.session:
        return f"{command.TYPE} is about one session: name it in the subject."
    return ""
