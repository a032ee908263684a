"""Every command next to rooms of another version, whose answers it cannot read: it reports that in a sentence."""

import asyncio
from pathlib import Path

import pytest

from schemas.codec import encode
from schemas.view_asks import (
    AliasesAsk,
    ProjectAliases,
    ProjectAt,
    ProjectAtAsk,
    ProjectList,
    ProjectsAsk,
    ProjectSummary,
)
from services.kit.bus import Bus
from tests.edges.test_wrong_input import LEAVES, asked, place
from tests.helpers.command_line import ended
from tests.helpers.wrong_input import faults, line

__all__ = ["place"]

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

REPLIES = {
    "list": b"[]",
    "text": b"of another time",
    "nothing": b"{}",
    "other types": b'{"ok":1,"error":1,"text":2,"log_head":"x","settings":4,"memories":5,"files":6,"hits":7}',
    "settings of a version that knew none": b'{"settings":"{}","installation":"{}"}',
    "deep": b'{"of a later version":' + b"[" * 100_000,
}
NAMES = {
    AliasesAsk.NAME: encode(ProjectAliases()),
    ProjectsAsk.NAME: encode(ProjectList((ProjectSummary("harbour"),))),
    ProjectAtAsk.NAME: encode(ProjectAt("harbour")),
}
"""Question -> the answer by which a command knows its project, and asks on."""


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("knows_project", [False, True])
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_no_command_breaks_on_an_answer_that_it_does_not_understand(
    bus: Bus, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, reply: bytes,
    *, knows_project: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr("services.kit.commands.PAUSE", 0.0)

    async def other(subject: str, _: bytes) -> bytes:
        return NAMES.get(subject.split(".")[1], reply) if knows_project else reply

    for subject in ("ask.>", "do.>"):
        await bus.serve(subject, "other", other)
    wrong = []
    for leaf in filter(asked, LEAVES):
        found = await asyncio.to_thread(ended, line(leaf, tmp_path), capsys)
        wrong += [f"annals {' '.join(leaf.words)}: {one}" for one in faults(*found)]
    assert not wrong, "\n".join(wrong)
