"""Where recorded sessions are played."""

from schemas.inbox import SessionSeen
from schemas.subjects import Address
from services.edges.client.replay import address_of
from services.edges.client.transcript import Transcript


def of(directory: str, session: str = "s1") -> Transcript:
    return Transcript(harness="test", session=session, seen=SessionSeen(directory=directory), messages=())


def test_sessions_of_one_directory_share_a_project_and_no_others_do() -> None:
    harbour, again, barn = (
        address_of(of("/work/harbour")),
        address_of(of("/work/harbour", "s2")),
        address_of(of("/barn")),
    )
    assert harbour.project == again.project
    assert harbour.project != barn.project
    assert address_of(of("")) == Address("replay", "s1")


def test_another_run_remembers_nothing_of_an_earlier_one() -> None:
    first, second = address_of(of("/work/harbour"), "@1"), address_of(of("/work/harbour"), "@2")
    assert first.project != second.project
    assert first.session != second.session
