"""What a project has set for itself, and which key files were proposed, behind some facts."""

from datetime import UTC, datetime

from msgspec.structs import replace

from schemas.codec import wrap
from schemas.envelope import Actor
from schemas.events import Event, KeyFileProposed
from schemas.subjects import Address
from services.domain.project_settings import ProjectSettings, evolve

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def own(*events: Event) -> ProjectSettings:
    state = ProjectSettings()
    for seq, event in enumerate(events, 1):
        made = wrap(event, Address("p"), id=f"e{seq}", at=NOON, actor=Actor("person"))
        state = evolve(state, event, replace(made, seq=seq))
    return state


def proposal(path: str, reads: int = 9) -> KeyFileProposed:
    return KeyFileProposed(path=path, reads=reads, edits=0, size=5)
