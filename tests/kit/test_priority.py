"""Rooms that nobody waits for give way: with their session, by which Linux shares out the processor."""

import subprocess
import sys
from pathlib import Path

import pytest

from services.kit import rooms
from services.kit.run import GROUP, LOWERED

PLANNING = {"tagger", "responder", "desk"}
"""What a model call waits for."""
SCRIPT = """
import asyncio, os, threading
from services.kit.run import GROUP, give_way

ended = threading.Event()
other = threading.Thread(target=ended.wait)
other.start()
asyncio.run(give_way())
print(os.getpriority(os.PRIO_PROCESS, 0), os.getpriority(os.PRIO_PROCESS, other.native_id or 0))
print(GROUP.read_text() if GROUP.exists() else "none")
ended.set()
"""


def ran(*, as_session: bool) -> list[str]:
    """What a process says of its priorities that gives way."""
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(
        command, start_new_session=as_session, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    return done.stdout.split("\n")


def test_all_threads_and_the_group_of_a_room_are_lowered() -> None:
    threads, group = ran(as_session=True)[:2]
    assert f"{LOWERED} {LOWERED}" == threads
    assert group == "none" or group.endswith(f"nice {LOWERED}")


@pytest.mark.skipif(not GROUP.exists(), reason="this system does not group processes by session")
def test_the_group_of_whoever_started_a_room_by_hand_stays_as_it_is() -> None:
    before = GROUP.read_text()
    ran(as_session=False)
    assert before == GROUP.read_text()


def test_no_room_gives_way_that_a_model_call_waits_for() -> None:
    giving_way = {name for name in rooms.ROOMS if getattr(rooms.load(name), "GIVES_WAY", False)}
    assert giving_way
    assert not giving_way & PLANNING
