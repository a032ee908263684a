"""What the desk decides on changes of documents: proposals of the dreamer, and what people decide about them."""

import pytest
from msgspec.structs import replace

from schemas.commands import Command
from schemas.document_commands import DocsApply, DocsDismiss, DocsPropose
from schemas.events import DocsApplied, DocsDismissed, DocsProposed, Event
from services.desk.core.commands import decide
from services.desk.core.docs import DocsContext
from services.domain.decision import Decision
from services.domain.documents.proposals import MOST_BYTES, MOST_EDITS
from tests.helpers.proposed_docs import ARCHITECTURE, NEW, OLD, known, name, propose, proposed

ONE, OTHER = propose(), propose(new=f"{OLD}More.\n")
APPLIED = DocsApplied(path=ARCHITECTURE, proposal=name(ONE))
DISMISSED = DocsDismissed(path=ARCHITECTURE, proposal=name(ONE))


def decided(command: Command, *before: Event, trust: str = "person") -> Decision:
    return decide(known(*before), command, DocsContext(trust))


def written(command: Command, *before: Event, trust: str = "person") -> tuple[Event, ...]:
    decision = decided(command, *before, trust=trust)
    assert decision.ok, decision.text
    return decision.events


def test_a_proposal_waits_for_a_person_is_recorded_once_and_takes_the_place_of_another_one() -> None:
    assert (proposed(ONE),) == written(ONE, trust="dreamer")
    again = decided(ONE, proposed(ONE), trust="dreamer")
    assert (True, (), 1) == (again.ok, again.events, again.seq)
    assert (proposed(OTHER),) == written(OTHER, proposed(ONE), trust="dreamer")
    (left,) = known(proposed(ONE), proposed(OTHER)).of("pending")
    assert name(OTHER) == left.name


def test_a_person_names_the_documents_that_are_looked_after() -> None:
    command, context = propose(path="DESIGN.md"), DocsContext("dreamer", ("DESIGN.md",))
    assert (proposed(command),) == decide(known(), command, context).events
    assert "names (DESIGN.md)" in decide(known(), ONE, context).text
    assert "names (no document)" in decide(known(), ONE, DocsContext("dreamer", ())).text


def test_documents_in_folders_are_proposed_to_by_their_paths() -> None:
    (event,) = written(replace(ONE, path=f"quays/new/{ARCHITECTURE}"), proposed(ONE), trust="dreamer")
    assert isinstance(event, DocsProposed)
    assert f"quays/new/{ARCHITECTURE}" == event.path


def test_what_was_dismissed_is_not_proposed_again_also_when_the_document_has_changed_elsewhere() -> None:
    before = (proposed(ONE), DISMISSED)
    assert () == written(ONE, *before, trust="dreamer")
    refused = decided(replace(ONE, digest="0" * 64), *before, trust="dreamer")
    assert (False, ()) == (refused.ok, refused.events)
    assert "were dismissed" in refused.text
    assert written(OTHER, *before, trust="dreamer")


def test_what_was_applied_may_be_proposed_again_for_the_document_that_it_was_made_from() -> None:
    assert (proposed(ONE),) == written(ONE, proposed(ONE), APPLIED, trust="dreamer")


def test_a_person_applies_or_dismisses_what_waits() -> None:
    assert (APPLIED,) == written(DocsApply(ARCHITECTURE, name(ONE)), proposed(ONE))
    assert (DISMISSED,) == written(DocsDismiss(ARCHITECTURE, name(ONE)), proposed(ONE))
    again = decided(DocsApply(ARCHITECTURE, name(ONE)), proposed(ONE), APPLIED)
    assert (True, (), 2) == (again.ok, again.events, again.seq)


@pytest.mark.parametrize("kind", [DocsApply, DocsDismiss])
@pytest.mark.parametrize("trust", ["dreamer", "agent", "historian", "searcher", ""])
def test_nobody_but_a_person_decides(kind: type[DocsApply | DocsDismiss], trust: str) -> None:
    refused = decided(kind(ARCHITECTURE, name(ONE)), proposed(ONE), trust=trust)
    assert (False, ()) == (refused.ok, refused.events)
    assert "is for people alone; ask a person to run `annals docs" in refused.text


@pytest.mark.parametrize("trust", ["person", "agent", "historian", ""])
def test_nobody_but_the_dreamer_proposes(trust: str) -> None:
    refused = decided(ONE, trust=trust)
    assert (False, ()) == (refused.ok, refused.events)
    assert "docs.propose is for the dreamer alone; edit the document itself" in refused.text


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (
            replace(ONE, path="README.md"),
            "'README.md' is none of those that ANNALS_DREAM__DOCUMENTS names (ARCHITECTURE.md, STRUCTURE.md)",
        ),
        (replace(ONE, path="../ARCHITECTURE.md"), "is no path of a document in the project"),
        (replace(ONE, path="quays/../../ARCHITECTURE.md"), "is no path of a document in the project"),
        (replace(ONE, path="/ARCHITECTURE.md"), "is no path of a document in the project"),
        (replace(ONE, path="secrets/ARCHITECTURE.md"), "is no path of a document in the project"),
        (replace(ONE, path=f"{'x/' * 300}ARCHITECTURE.md"), "is no path of a document in the project"),
        (replace(ONE, path="quays/README.md"), "is none of"),
        (replace(ONE, path="\0" * 10_000), "is none of"),
        (replace(ONE, old=[], new=[]), f"it needs 1 to {MOST_EDITS} changes"),
        (replace(ONE, old=[OLD, OLD]), "each with its old and its new text"),
        (replace(ONE, old=[OLD] * 101, new=[NEW] * 101), f"it needs 1 to {MOST_EDITS} changes"),
        (replace(ONE, old=[""]), "a text of it is empty"),
        (replace(ONE, new=[""]), "a text of it is empty"),
        (replace(ONE, new=["x" * (MOST_BYTES + 1)]), f"more than {MOST_BYTES} bytes"),
    ],
)
def test_a_proposal_that_cannot_be_one_is_refused_with_a_sentence(command: DocsPropose, why: str) -> None:
    refused = decided(command, trust="dreamer")
    assert (False, ()) == (refused.ok, refused.events)
    assert why in refused.text
    assert refused.text.isprintable()
    assert 400 > len(refused.text)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (DocsApply("STRUCTURE.md", name(ONE)), "no change was proposed for 'STRUCTURE.md': `annals docs list`"),
        (DocsDismiss("\ud800\n" * 1_000, ""), "no change was proposed for"),
        (DocsApply(ARCHITECTURE, name(OTHER)), "another change of ARCHITECTURE.md was proposed meanwhile"),
        (DocsDismiss(ARCHITECTURE, ""), "another change of ARCHITECTURE.md was proposed meanwhile"),
    ],
)
def test_a_decision_on_what_does_not_wait_is_refused_with_a_sentence(command: Command, why: str) -> None:
    refused = decided(command, proposed(ONE))
    assert (False, ()) == (refused.ok, refused.events)
    assert why in refused.text
    assert refused.text.isprintable()


@pytest.mark.parametrize("decision", [APPLIED, DISMISSED])
def test_what_was_decided_is_not_dismissed_afterwards(decision: Event) -> None:
    refused = decided(DocsDismiss(ARCHITECTURE, name(ONE)), proposed(ONE), decision)
    assert not refused.ok
    assert "the change of ARCHITECTURE.md is" in refused.text
