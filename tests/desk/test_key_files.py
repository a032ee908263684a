"""What the desk decides on key files: proposals of the dreamer, and what people say of them."""

import pytest

from schemas.commands import Command, KeyFileAccept, KeyFileDismiss, KeyFilePropose, KeyFileRemove, SettingsApply
from schemas.events import Event, KeyFileDismissed, KeyFileProposed, SettingsApplied
from services.desk.core.commands import decide
from services.desk.core.settings import SettingsContext
from services.domain.decision import Decision
from services.domain.dream_times import DreamTimes
from services.domain.limits import History, Limits, MemoryLimits
from services.domain.project_settings import MOST_PATHS, own_values, settings_of, with_own
from services.settings.dream_tasks import check_times
from tests.helpers.proposed_key_files import own, proposal

INSTALLATION = own_values(Limits(), History(), MemoryLimits(), DreamTimes())
A, B = proposal("a.py"), proposal("b.py")
CORE = KeyFilePropose("core.py", 5, 2, 70)


def decided(command: Command, *before: Event, trust: str = "person", applies: bool = False) -> Decision:
    return decide(own(*before), command, SettingsContext(trust, INSTALLATION, check_times, applies))


def written(command: Command, *before: Event, trust: str = "person", applies: bool = False) -> tuple[Event, ...]:
    decision = decided(command, *before, trust=trust, applies=applies)
    assert decision.ok, decision.text
    return decision.events


def test_a_proposal_waits_for_a_person_and_is_recorded_once() -> None:
    fact = KeyFileProposed(path="core.py", reads=5, edits=2, size=70)
    assert (fact,) == written(CORE, trust="dreamer")
    again = decided(CORE, fact, trust="dreamer")
    assert (True, (), 1) == (again.ok, again.events, again.seq)


def test_it_applies_at_once_where_the_installation_says_so() -> None:
    before = SettingsApplied(settings='{"plan.context":"full"}', key_files=["a.py"])
    proposed, applied = written(CORE, before, trust="dreamer", applies=True)
    assert KeyFileProposed(path="core.py", reads=5, edits=2, size=70, is_applied=True) == proposed
    assert SettingsApplied(settings='{"plan.context":"full"}', key_files=["a.py", "core.py"]) == applied
    full = SettingsApplied(key_files=[f"{number}.py" for number in range(MOST_PATHS)])
    assert (KeyFileProposed(path="core.py", reads=5, edits=2, size=70),) == written(
        CORE, full, trust="dreamer", applies=True
    )


def test_what_was_dismissed_is_proposed_again_when_it_is_used_twice_as_often() -> None:
    before = (proposal("core.py", 5), KeyFileDismissed(path="core.py"))
    assert () == written(CORE, *before, trust="dreamer")
    assert written(KeyFilePropose("core.py", 9, 1, 70), *before, trust="dreamer")
    removed = (proposal("core.py", 5), SettingsApplied(key_files=["core.py"]), KeyFileDismissed(path="core.py"))
    assert () == written(CORE, *removed, SettingsApplied(), trust="dreamer", applies=True)


@pytest.mark.parametrize("trust", ["person", "agent", "historian", ""])
def test_nobody_but_the_dreamer_proposes(trust: str) -> None:
    decision = decided(CORE, trust=trust)
    assert (False, ()) == (decision.ok, decision.events)
    assert "keyfile.propose is for the dreamer alone; name the file in `plan.key_files`" in decision.text


@pytest.mark.parametrize("kind", [KeyFileAccept, KeyFileDismiss, KeyFileRemove])
@pytest.mark.parametrize("trust", ["dreamer", "agent", "historian", ""])
def test_nobody_but_a_person_decides(kind: type[KeyFileAccept | KeyFileDismiss | KeyFileRemove], trust: str) -> None:
    decision = decided(kind(["a.py"]), A, trust=trust)
    assert (False, ()) == (decision.ok, decision.events)
    assert "is for people alone; ask a person to run `annals keyfiles" in decision.text


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a\nb", "\ud800", "x" * 1_000_000, "\0"])
def test_no_path_that_a_project_may_not_name_is_proposed(path: str) -> None:
    decision = decided(KeyFilePropose(path, 5, 0, 1), trust="dreamer")
    assert (False, ()) == (decision.ok, decision.events)
    assert 400 > len(decision.text)
    assert decision.text.isprintable()


def test_accepted_files_apply_behind_those_of_the_settings_and_those_stay() -> None:
    settings = SettingsApplied(settings='{"plan.key_files":["b.py","x.py"]}')
    (event,) = written(KeyFileAccept(["b.py", "a.py", "a.py"]), A, B, settings)
    assert SettingsApplied(settings=settings.settings, key_files=["b.py", "a.py"]) == event
    assert ("b.py", "x.py", "a.py") == with_own(Limits(), settings_of(event)).key_files
    of_installation = SettingsApplied(key_files=["a.py"])
    limits = with_own(Limits(key_files=("i.py",)), settings_of(of_installation))
    assert ("i.py", "a.py") == limits.key_files


def test_settings_that_are_applied_later_leave_accepted_files_accepted() -> None:
    accepted = SettingsApplied(key_files=["a.py"])
    (event,) = written(SettingsApply('{"plan.context": "full"}'), A, accepted)
    assert SettingsApplied(settings='{"plan.context":"full"}', key_files=["a.py"]) == event
    assert "already" in decided(SettingsApply("{}"), A, accepted).text


def test_what_was_dismissed_can_be_accepted_and_what_was_accepted_removed() -> None:
    assert (KeyFileDismissed(path="a.py"), KeyFileDismissed(path="b.py")) == written(
        KeyFileDismiss(["a.py", "b.py"]), A, B
    )
    dismissed = (A, KeyFileDismissed(path="a.py"))
    assert (SettingsApplied(key_files=["a.py"]),) == written(KeyFileAccept(["a.py"]), *dismissed)
    accepted = (A, B, SettingsApplied(key_files=["a.py", "b.py"]))
    assert "already" in decided(KeyFileAccept(["a.py"]), *accepted).text
    assert (KeyFileDismissed(path="a.py"), SettingsApplied(key_files=["b.py"])) == written(
        KeyFileRemove(["a.py"]), *accepted
    )


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (KeyFileAccept([]), "no file is named: `annals keyfiles list`"),
        (KeyFileAccept(["a.py", "z.py"]), "'z.py' was not proposed"),
        (KeyFileDismiss(["taken.py"]), "'taken.py' is accepted: `annals keyfiles list`"),
        (KeyFileRemove(["a.py"]), "'a.py' is pending: `annals keyfiles list`"),
        (KeyFileAccept(["\0" * 10_000]), "was not proposed"),
        (KeyFileDismiss(["\ud800\n"]), "was not proposed"),
    ],
)
def test_a_command_is_done_whole_or_not_at_all_with_a_sentence(command: Command, remedy: str) -> None:
    decision = decided(command, A, proposal("taken.py"), SettingsApplied(key_files=["taken.py"]))
    assert (False, ()) == (decision.ok, decision.events)
    assert remedy in decision.text
    assert decision.text.isprintable()


def test_no_more_are_accepted_than_adapters_read() -> None:
    full = SettingsApplied(key_files=[f"{number}.py" for number in range(MOST_PATHS)])
    assert f"at most {MOST_PATHS} accepted key files" in decided(KeyFileAccept(["a.py"]), A, full).text


def test_a_fact_of_another_release_is_read_as_far_as_possible() -> None:
    state = own(SettingsApplied(key_files=["a.py", "../b.py", "a.py", "x\n", "/c"]))
    assert ("a.py",) == state.accepted
