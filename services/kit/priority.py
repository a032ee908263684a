"""The share of the processor that a room takes where the machine has less than all of them want."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

LOWERED = 5
"""The priority of a room that gives way, as `nice` counts: a third of the share of one that does not."""
GROUP = Path("/proc/self/autogroup")
THREADS = Path("/proc/self/task")
ATTEMPTS, PAUSE = 50, 0.2
"""The attempts to set the priority of the group, and the seconds between two: Linux takes one change in 0.1 s."""


async def give_way() -> None:
    """Have what others wait for go first.

    Linux shares the processor out between sessions, and only then between the processes of each, where it groups them
    (`sched_autogroup_enabled`). Each room is a session of its own, so that its group is given the priority, too.
    Nothing is done to a group with other processes, as the shell has that started a room.
    """
    with suppress(OSError):  # a system that does not let a process lower itself runs it as all others
        _lower_threads()
    if os.getsid(0) != os.getpid():
        return
    for _ in range(ATTEMPTS):
        if _lower_group():
            return
        await asyncio.sleep(PAUSE)


def _lower_group() -> bool:
    """Lower the session of this process, where the system groups sessions; whether nothing is left to try."""
    try:
        if GROUP.exists():
            GROUP.write_text(str(LOWERED))
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _lower_threads() -> None:
    """Linux counts the priority of each thread, other systems that of the process."""
    threads = [int(one.name) for one in THREADS.iterdir()] if THREADS.exists() else [0]
    for thread in threads:
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, thread, max(LOWERED, os.getpriority(os.PRIO_PROCESS, thread)))
