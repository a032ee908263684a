"""A person says what is done with candidates, by where they come from."""

from __future__ import annotations

from schemas.commands import PolicySet
from schemas.events import PolicyChanged
from schemas.events.memory import TRUSTS
from schemas.events.policy import ACTIONS
from services.domain.command import PEOPLE, AddressKind, command
from services.domain.decision import Decision
from services.domain.finding import echo
from services.memory.book import Book
from services.memory.decide.context import BookContext, Refusal
from services.memory.policy import DEFAULTS, FIXED, action_for


def action_of(book: Book, trust: str) -> str:
    """The project's action for a candidate that has passed the gate."""
    return action_for(book.policy, trust)


@command(PolicySet, on=Book, sent_by=PEOPLE, writes=(PolicyChanged,), address=AddressKind.PROJECT)
def set_policy(book: Book, command: PolicySet, _: BookContext) -> Decision:
    """Say what is done with candidates of one trust from now on."""
    if command.trust not in TRUSTS:
        raise Refusal(f"{echo(command.trust)} is no trust; use one of {', '.join(TRUSTS)}")
    if command.action not in ACTIONS:
        raise Refusal(f"{echo(command.action)} is no action; use one of {', '.join(ACTIONS)}")
    if command.trust == FIXED:
        raise Refusal(f"what comes from the output of a tool is always {DEFAULTS[FIXED]}; decide on each one instead")
    if action_of(book, command.trust) == command.action:
        return Decision(ok=True, text=f"Nothing to do: {answer(command)}")
    return Decision(ok=True, text=answer(command), events=(PolicyChanged(trust=command.trust, action=command.action),))


def answer(command: PolicySet) -> str:
    return f"Candidates of the trust {command.trust} are {command.action}."
