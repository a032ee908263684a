"""Names that lead to projects: each to one at most, in no circle, whatever is claimed, merged and taken back."""

from itertools import count

import pytest
from hypothesis import given as drawn
from hypothesis import settings as limited
from hypothesis import strategies as st

from schemas.commands import Command, ProjectMerge, ProjectRename, ProjectSeparate
from schemas.events import AliasAdded, AliasProposed, AliasRemoved, Event
from services.desk.core.aliases import Claim, NamesContext, claimed
from services.desk.core.commands import decide
from services.domain.aliases import Aliases, evolve
from tests.helpers.examples import examples
from tests.helpers.given import Given, envelope, given

NOBODY = given(evolve, Aliases())
ROOT, OTHER, DIRECTORY, SHALLOW = f"git-{'a' * 40}", f"git-{'b' * 40}", "dir-0123456789ab", f"shallow-{'c' * 40}"


def claim(former: str, project: str, how: str = "derived", *, exists: bool = True) -> Claim:
    return Claim(former, project, how, exists, directory="/w", reason="it does not say so")


def after(now: Given[Aliases], one: Claim) -> Given[Aliases]:
    return now.when(lambda aliases: claimed(aliases, one))


def ordered(now: Given[Aliases], project: str, command: Command, *, exists: bool = True) -> Given[Aliases]:
    return now.when(lambda aliases: decide(aliases, command, NamesContext(project, "person", exists)).events)


def answer(now: Given[Aliases], project: str, command: Command, *, is_person: bool = True, exists: bool = True) -> str:
    decision = decide(now.state, command, NamesContext(project, "person" if is_person else "agent", exists))
    assert not decision.ok
    assert not decision.events
    return decision.text


def added(alias: str, project: str, how: str = "derived") -> AliasAdded:
    return AliasAdded(alias=alias, leads_to=project, how=how)


def proposed(alias: str, project: str, reason: str = "it does not say so") -> AliasProposed:
    return AliasProposed(alias=alias, leads_to=project, directory="/w", reason=reason)


# What is claimed


def test_what_is_derived_leads_to_the_project_at_once() -> None:
    now = after(NOBODY, claim(DIRECTORY, ROOT)).then(added(DIRECTORY, ROOT))
    assert ROOT == now.state.project(DIRECTORY)
    assert (ROOT, DIRECTORY) == now.state.names(DIRECTORY) == now.state.names(ROOT)


def test_what_nobody_can_check_waits_for_a_person_and_is_proposed_once() -> None:
    now = after(NOBODY, claim("victim", ROOT, "")).then(proposed("victim", ROOT))
    assert "victim" == now.state.project("victim")
    after(now, claim("victim", ROOT, "")).then()
    after(now, claim("victim", OTHER, "")).then(proposed("victim", OTHER))


def test_a_name_under_which_nothing_was_reported_is_not_proposed() -> None:
    after(NOBODY, claim("victim", ROOT, "", exists=False)).then()


def test_the_reverse_of_what_is_so_already_changes_nothing() -> None:
    now = after(NOBODY, claim(DIRECTORY, ROOT))
    for how in ("derived", ""):
        after(now, claim(ROOT, DIRECTORY, how)).then()


def test_no_name_is_its_own_former_one() -> None:
    after(NOBODY, claim(ROOT, ROOT)).then()
    after(NOBODY, claim("", ROOT)).then()


def test_a_chain_leads_to_its_end_and_never_back() -> None:
    now = after(after(NOBODY, claim(DIRECTORY, SHALLOW)), claim(SHALLOW, ROOT))
    assert {ROOT} == {now.state.project(name) for name in (DIRECTORY, SHALLOW, ROOT)}
    assert (ROOT, SHALLOW, DIRECTORY) == now.state.names(DIRECTORY)
    for former, project in ((ROOT, DIRECTORY), (ROOT, SHALLOW), (SHALLOW, DIRECTORY), (DIRECTORY, ROOT)):
        after(now, claim(former, project)).then()


def test_of_two_projects_that_claim_one_name_the_first_has_it_and_of_the_other_a_person_decides() -> None:
    now = after(NOBODY, claim(DIRECTORY, ROOT))
    after(now, claim(DIRECTORY, OTHER)).then(proposed(DIRECTORY, OTHER, f"it leads to {ROOT} already"))


def test_a_clone_without_its_history_takes_no_repository_in() -> None:
    for less in (SHALLOW, DIRECTORY):
        after(NOBODY, claim(ROOT, less, "")).then()
    after(NOBODY, claim(OTHER, SHALLOW)).then(added(OTHER, SHALLOW))  # what a harness called this very clone


def test_home_directories_and_their_names_stay_what_they_are() -> None:
    after(NOBODY, Claim(DIRECTORY, ROOT, "derived", exists=True, is_home=True)).then()


# What people say


def test_a_person_merges_and_takes_it_back() -> None:
    now = ordered(after(NOBODY, claim("victim", ROOT, "")), ROOT, ProjectMerge("victim"))
    now.then(added("victim", ROOT, "confirmed"))
    assert not now.state.proposed
    now = ordered(now, ROOT, ProjectSeparate()).then(AliasRemoved(alias="victim", leads_to=ROOT))
    assert ("victim", ROOT) == (now.state.project("victim"), now.state.project(ROOT))
    for how in ("derived", "recorded", ""):
        after(now, claim("victim", ROOT, how)).then()
    ordered(now, ROOT, ProjectMerge("victim")).then(added("victim", ROOT, "confirmed"))


def test_what_is_merged_is_the_whole_of_it() -> None:
    now = after(NOBODY, claim(DIRECTORY, ROOT))
    ordered(now, OTHER, ProjectMerge(DIRECTORY)).then(added(ROOT, OTHER, "confirmed"))
    ordered(now, DIRECTORY, ProjectMerge(OTHER)).then(added(OTHER, ROOT, "confirmed"))


def test_one_name_of_several_is_taken_back_and_the_others_stay() -> None:
    now = after(after(NOBODY, claim(DIRECTORY, ROOT)), claim(SHALLOW, ROOT))
    now = ordered(now, SHALLOW, ProjectSeparate(DIRECTORY)).then(AliasRemoved(alias=DIRECTORY, leads_to=ROOT))
    assert (ROOT, SHALLOW) == now.state.names(ROOT)


def test_a_project_is_called_as_a_person_calls_it() -> None:
    now = ordered(NOBODY, ROOT, ProjectRename("Shop 2.0"), exists=False).then(added("Shop 2.0", ROOT, "given"))
    now = ordered(now, "Shop 2.0", ProjectRename("shop"), exists=False)
    assert ("shop", ROOT, ROOT) == (now.state.title(ROOT), now.state.project("shop"), now.state.project("Shop 2.0"))
    now = ordered(now, ROOT, ProjectSeparate())
    assert "Shop 2.0" == now.state.title(ROOT)


def test_what_cannot_be_is_refused_with_what_would_be_right() -> None:
    now = after(NOBODY, claim(DIRECTORY, ROOT))
    assert "one project already" in answer(now, ROOT, ProjectMerge(DIRECTORY))
    assert "one project already" in answer(now, DIRECTORY, ProjectMerge(ROOT))
    assert "one project already" in answer(now, ROOT, ProjectMerge(ROOT))
    assert "annals project list" in answer(now, ROOT, ProjectMerge("nope"), exists=False)
    assert "there is nothing to undo" in answer(now, OTHER, ProjectSeparate())
    assert "there is nothing to undo" in answer(now, ROOT, ProjectSeparate("nope"))
    assert f"--project {ROOT}" in answer(now, OTHER, ProjectSeparate(DIRECTORY))
    assert f"is the name of {ROOT}" in answer(
        ordered(now, ROOT, ProjectRename("a"), exists=False), OTHER, ProjectRename("a")
    )
    assert "called a already" in answer(ordered(now, ROOT, ProjectRename("a"), exists=False), ROOT, ProjectRename("a"))
    assert "another project" in answer(now, ROOT, ProjectRename("harbour"))
    for name in ("", " ", "git-mine", "dir-1", "shallow-1", "a\nb", "x" * 65, "\x1b[2Jx", ".hidden", "a\u202eb"):
        assert "no name for a project" in answer(now, ROOT, ProjectRename(name), exists=False), name


@pytest.mark.parametrize("command", [ProjectMerge("victim"), ProjectRename("mine"), ProjectSeparate()])
def test_nobody_but_a_person_says_so(command: Command) -> None:
    assert "for people alone" in answer(after(NOBODY, claim(DIRECTORY, ROOT)), ROOT, command, is_person=False)


NAMES = st.sampled_from((ROOT, OTHER, DIRECTORY, SHALLOW, "mine", "yours"))
CLAIMS = st.builds(claim, NAMES, NAMES, st.sampled_from(("derived", "recorded", "")), exists=st.booleans())
ORDERS = st.tuples(
    NAMES, st.builds(ProjectMerge, NAMES) | st.builds(ProjectRename, NAMES) | st.builds(ProjectSeparate, NAMES)
)
FOREIGN = st.builds(added, NAMES, NAMES) | st.builds(AliasRemoved, alias=NAMES, leads_to=NAMES)


@limited(max_examples=examples(400))
@drawn(st.lists(CLAIMS | ORDERS | FOREIGN, max_size=20))
def test_every_name_leads_to_one_project_whatever_comes(steps: "list[Claim | tuple[str, Command] | Event]") -> None:
    """Facts that no decision of ours has made are among them: another log, another release."""
    aliases, positions = Aliases(), count(1)
    for step in steps:
        match step:
            case Claim():
                events = claimed(aliases, step)
            case (project, command):
                events = decide(aliases, command, NamesContext(project, "person", exists=False)).events
            case event:
                events = (event,)
        for event in events:
            aliases = evolve(aliases, event, envelope(event, next(positions)))
        for name in (ROOT, OTHER, DIRECTORY, SHALLOW, "mine", "yours"):
            project = aliases.project(name)
            assert project == aliases.project(project)
            assert name in aliases.names(name)
            assert aliases.names(name) == aliases.names(project)
            assert len(set(aliases.names(name))) == len(aliases.names(name))
