"""Proposed changes of documents, and what is known of them behind some facts."""

from datetime import UTC, datetime

from msgspec.structs import replace

from schemas.codec import wrap
from schemas.document_commands import DocsPropose
from schemas.envelope import Actor
from schemas.events import DocsProposed, Event
from schemas.subjects import Address
from services.domain.documents.proposals import DocProposals, digest_of, edits_in, evolve, name_of

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ARCHITECTURE = "ARCHITECTURE.md"
TEXT = "# Quays\n\nTides are read in `services/tide.py`.\n\n# Cranes\n\nCranes turn in `services/crane.py`.\n"
OLD, NEW = "Cranes turn in `services/crane.py`.\n", "Cranes turn in `services/new/crane.py`.\n"


def propose(text: str = TEXT, old: str = OLD, new: str = NEW, path: str = ARCHITECTURE) -> DocsPropose:
    return DocsPropose(path, digest_of(text), [old], [new], "git says that one is another now")


def name(command: DocsPropose) -> str:
    return name_of(command.path, command.digest, edits_in(command.old, command.new))


def proposed(command: DocsPropose) -> DocsProposed:
    """The fact that it becomes."""
    return DocsProposed(
        path=command.path,
        proposal=name(command),
        digest=command.digest,
        old=command.old,
        new=command.new,
        reason=command.reason,
    )


def known(*events: Event) -> DocProposals:
    state = DocProposals()
    for seq, event in enumerate(events, 1):
        made = wrap(event, Address("p"), id=f"e{seq}", at=NOON, actor=Actor("person"))
        state = evolve(state, event, replace(made, seq=seq))
    return state
