"""What `annals status` prints, whatever projects and sessions are called."""

import io

import pytest
from rich.console import Console

from schemas.asks import SessionStatus, Status
from services.edges.launcher.status import HistoryRun, Overview, Room, render


def printed(overview: Overview) -> str:
    out = io.StringIO()
    render(overview, Console(file=out, width=300))
    return out.getvalue()


@pytest.mark.parametrize("name", ["[/x]", "[bold]", "a [red]b[/red]", "[link=x]y", ":smile:", "\\[x]"])
def test_names_are_printed_as_they_are(name: str) -> None:
    run = HistoryRun(name, name, "force", "failed", 1, 2, 0, 10, code=name)
    near = SessionStatus(name, name, name, 46_259, 46.3, 65.0, 12.0, "the window has room")
    status = Status(1, 1, 1, 1, "views", sessions=(near,))
    shown = printed(
        Overview(
            broker=f"nats://{name}:1", rooms=(Room(name),), inbound=0, log=0, dead=0, history=(run,), responder=status
        )
    )

    assert f"session   {name}/{name} ({name}): about 46,259 tokens, 46 % of what is usable" in shown
    assert "(room is made at 65 %, or when cheaper: 12 % there); no rebase: the window has room" in shown
    assert f"history   {name}/{name}, messages 1-2 (force): failed with {name};" in shown
    assert f"nats://{name}:1" in shown
    assert f"│ {name} " in shown
