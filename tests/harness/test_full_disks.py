"""Disks that are full, of the plugin or of the installation: turns go on, and what had no room comes later."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import pytest_asyncio

from tests.conftest import running_installation
from tests.harness.connected import USUAL, Connected, assert_whole, connected
from tests.harness.provider import Provider
from tests.harness.provider.script import Reply
from tests.harness.scripted import Calls, Conversation, calls
from tests.harness.test_plain import breaks

pytestmark = [pytest.mark.harness, pytest.mark.soak, pytest.mark.asyncio(loop_scope="module")]

DISKS = {"state": 4, "data": 256}
"""The folder of the plugin, and that of the installation, and how many megabytes the disk of each has."""
LATE_MS = 3_000
"""So long a call waits for its plan: where the disk is full, none comes."""


@contextmanager
def disk(place: Path, megabytes: int) -> Iterator[Path]:
    """A small disk at this place. The test is skipped where this user may mount none."""
    place.mkdir(parents=True)
    size = f"size={megabytes}m"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "annals-test", place], capture_output=True, check=False
    )
    if sys.platform != "linux" or mounted.returncode:
        pytest.skip("needs a user who may mount a file system in memory, as in a container with CAP_SYS_ADMIN")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@contextmanager
def full(place: Path) -> Iterator[None]:
    """No byte more fits onto the disk there, until the end of the block."""
    filler = place / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    assert not os.statvfs(place).f_bavail
    try:
        yield
    finally:
        filler.unlink()


@pytest.fixture(params=DISKS)
def small(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """The folder of one of them, on a disk of its own."""
    with disk(tmp_path / request.param, DISKS[request.param]) as place:
        yield place


@pytest_asyncio.fixture(loop_scope="module")
async def running(provider: Provider, small: Path) -> AsyncIterator[Connected]:
    """The installation and OpenCode."""
    async with connected(
        small.parent, running_installation, provider, deadline_ms=LATE_MS, patience=USUAL["patience"]
    ) as all_of_it:
        yield all_of_it


async def reading(running: Connected, conversation: Conversation, name: str) -> None:
    await conversation.send(f"Read {name}.", calls(Calls(running.oc).read(name)), Reply(text=f"Read {name}."))


async def test_turns_go_on_with_a_full_disk_and_are_recorded_later(running: Connected, small: Path) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Full")
    await reading(running, conversation, "README.md")
    with full(small):
        for name in ("docs/ideas.md", "docs/pricing.md"):
            await reading(running, conversation, name)
    await reading(running, conversation, "orchard/stock.py")

    assert [] == breaks(running.provider.of(conversation.session)), running.notes()
    assert [] == running.provider.faults
    await assert_whole(running, [conversation.session])
