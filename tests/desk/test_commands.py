"""What is derived from the registrations of commands: which there are, who may send them, where they go, who writes."""

import msgspec
import pytest

from schemas import commands
from schemas.commands import Command, FlushRequest, MemoryPin
from schemas.envelope import Actor
from schemas.events import (
    AliasProposed,
    FlushRequested,
    MemoryMoved,
    MemoryPinned,
    MemoryRetrieved,
    NoteWritten,
    ProfileBound,
)
from schemas.offered import ACTIONS, TOOLS
from schemas.subjects import Address
from schemas.tools import MEMORY, OWN_SESSIONS, TOOLS_DECLARED, Action, Tool, with_actions
from services.desk.core.commands import COMMANDS, OF_BOOKS, RULES, by_type, decide, decide_on_book, misplaced, tools
from services.desk.core.session import DeskSession
from services.desk.worker import Desk
from services.domain.command import ANYBODY, PEOPLE, AddressKind, command
from services.domain.decision import CommandContext, Decision
from services.memory.book import Book
from services.memory.decide.context import BookContext
from tests.helpers.any_command import MOMENT, any_command
from tests.helpers.memory_books import Desk as Books

PROJECT, SESSION = Address("harbour"), Address("harbour", "s1")


@command(MemoryPin, on=Book, sent_by=PEOPLE, writes=(MemoryPinned,))
def another_pin(_: Book, command: MemoryPin, __: BookContext) -> Decision:
    """Write what is not registered."""
    return Decision(ok=True, text="", events=(NoteWritten(note=command.id, text="x"),))


def _language() -> list[type[Command]]:
    """The commands of the language, and not what some of them share, in the order of its module."""
    declared = [one for one in vars(commands).values() if isinstance(one, type) and issubclass(one, Command)]
    return [one for one in declared if "TYPE" in vars(one)]


def test_every_command_of_the_language_is_decided_somewhere() -> None:
    assert {*_language()} <= {*COMMANDS}
    assert [one.TYPE for one in COMMANDS] == [*RULES]


def test_the_pages_follow_the_language() -> None:
    language = _language()
    assert language == [*COMMANDS][: len(language)]


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda one: one.TYPE)
def test_a_command_is_taken_where_it_is_placed_and_nowhere_else(kind: type[Command]) -> None:
    wanted = any_command(kind)
    taken = {at for at in (PROJECT, SESSION) if not misplaced(at, wanted)}
    places = {AddressKind.ANY: {PROJECT, SESSION}, AddressKind.SESSION: {SESSION}}
    assert places.get(RULES[kind.TYPE].address, {PROJECT}) == taken
    for at in {PROJECT, SESSION} - taken:
        assert misplaced(at, wanted).startswith(f"{kind.TYPE} is about ")


@pytest.mark.parametrize("kind", OF_BOOKS, ids=lambda one: one.TYPE)
def test_a_command_about_the_memory_is_refused_to_whoever_it_is_not_for(kind: type[Command]) -> None:
    for sender in ANYBODY:
        text = Books().say(any_command(kind), sender, at=MOMENT).text
        assert (f"{kind.TYPE} is not for " in text) == (sender not in RULES[kind.TYPE].sent_by), (sender, text)


@pytest.mark.parametrize("kind", [one for one in COMMANDS if one not in OF_BOOKS], ids=lambda one: one.TYPE)
def test_other_commands_are_refused_to_whoever_they_are_not_for_with_what_to_do(kind: type[Command]) -> None:
    rule = RULES[kind.TYPE]
    for sender in {*ANYBODY} - rule.sent_by:
        refused = decide(None, any_command(kind), CommandContext(trust=sender))
        assert f"Nothing was written: {kind.TYPE} is for {rule.senders} alone; {rule.remedy}." == refused.text


@pytest.mark.parametrize("kind", OF_BOOKS, ids=lambda one: one.TYPE)
def test_a_sub_agent_sends_what_is_for_it_and_is_offered_no_more(kind: type[Command]) -> None:
    rule = RULES[kind.TYPE]
    text = Books().say(any_command(kind), "agent", "s1", is_subagent=True, at=MOMENT).text
    assert rule.for_subagents == ("a sub-agent may only write notes" not in text)
    assert rule.for_subagents or rule.action is None or "subagent" not in rule.action.modes


def test_an_action_of_a_tool_is_a_command_that_agents_may_send() -> None:
    actions = [rule for rule in RULES.values() if rule.action]
    assert actions
    assert all("agent" in rule.sent_by for rule in actions)


def test_the_desk_writes_what_commands_register_and_what_it_says_of_itself() -> None:
    registered = {event for rule in RULES.values() for event in rule.writes}
    assert {AliasProposed, MemoryMoved, MemoryRetrieved, ProfileBound} == {*Desk.WRITES} - registered


def test_a_command_writes_nothing_that_is_not_registered() -> None:
    context = BookContext(Books().context().actor, "person", MOMENT, "w1")
    with pytest.raises(TypeError, match=r"memory\.pin writes note\.written: name NoteWritten in its `writes`"):
        another_pin(Book(), MemoryPin("m1"), context)


def test_two_functions_do_not_decide_one_command() -> None:
    with pytest.raises(ValueError, match=r"two functions decide memory\.pin"):
        by_type([*RULES.values(), another_pin])


def test_a_command_without_a_rule_is_no_command() -> None:
    class Unknown(Command, frozen=True):
        TYPE = "un.known"

    with pytest.raises(TypeError, match="no rule for"):
        decide(DeskSession(), Unknown(), CommandContext())


def test_a_command_that_anybody_may_send_needs_no_trust() -> None:
    assert (FlushRequested(reason="x"),) == decide(
        DeskSession(has_begun=True), FlushRequest("x"), CommandContext()
    ).events


# The tools that are made of them.


def test_what_is_offered_is_what_is_registered() -> None:
    assert TOOLS == tools()


def test_a_new_action_is_listed_behind_the_others_and_changes_nothing_of_them() -> None:
    new = Action(
        "pin", OWN_SESSIONS, description="pin: memory `id` is first.", parameters={"pinned": {"type": "boolean"}}
    )
    (before,) = (tool for tool in TOOLS if tool.name == MEMORY)
    (after,) = (tool for tool in with_actions(TOOLS_DECLARED, [*registered(), new]) if tool.name == MEMORY)
    assert f"{before.description} pin: memory `id` is first." == after.description
    assert [*ACTIONS, "pin"] == [*after.actions]
    assert [*properties(before), "pinned"] == [*properties(after)]


@pytest.mark.parametrize(
    ("action", "wrong"),
    [
        (Action("write", OWN_SESSIONS), "ctx_memory has an action twice"),
        (
            Action("pin", OWN_SESSIONS, parameters={"id": {"type": "string"}}),
            "parameters .'id'. of pin already",
        ),
        (Action("pin", OWN_SESSIONS, tool="ctx_none"), "actions of tools that are not declared: .'ctx_none'."),
    ],
)
def test_an_action_that_cannot_be_offered_is_refused(action: Action, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        with_actions(TOOLS_DECLARED, [*registered(), action])


def registered() -> list[Action]:
    return [rule.action for rule in RULES.values() if rule.action]


def properties(tool: Tool) -> dict[str, object]:
    found = tool.parameters["properties"]
    assert isinstance(found, dict)
    return found


BY_PERSON = BookContext(Actor("person"), "person", MOMENT, "c1")


@pytest.mark.parametrize(
    ("book", "context"),
    [
        (Book(), msgspec.structs.replace(BY_PERSON, memory_enabled=False)),
        (Book(), msgspec.structs.replace(BY_PERSON, is_enabled=False)),
        (Book(), msgspec.structs.replace(BY_PERSON, trust="agent")),
        (Book(is_home=True), BY_PERSON),
        (Book(), BY_PERSON),
    ],
    ids=str,
)
def test_a_refusal_about_the_book_is_a_sentence_and_no_fault(book: Book, context: BookContext) -> None:
    decision = decide_on_book(book, MemoryPin("m1"), context)
    assert (False, ()) == (decision.ok, decision.events)
    assert decision.text.startswith("Nothing was written: ")
    assert decision.text.endswith(".")
