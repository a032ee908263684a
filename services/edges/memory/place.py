"""Which project a person means: the one that a harness has worked in where they stand."""

import asyncio
import subprocess
from pathlib import Path

import msgspec

from schemas.codec import encode
from schemas.subjects import ask
from schemas.view_asks import ProjectAt, ProjectAtAsk
from services.kit.bus import Bus

PATIENCE = 10.0
GIT = 5.0
"""Seconds that git may take."""


class NoProject(LookupError):
    """No project is known where a person stands; says how to name one."""


async def project_at(bus: Bus, here: Path, home: Path) -> str:
    """The project that was seen at a folder or above it, the nearest first; else that of its repository elsewhere."""
    folders = tuple(dict.fromkeys(str(place) for place in _upwards(here, home)))
    project = await _ask(bus, ProjectAtAsk(folders))
    if not project:
        project = await _ask(bus, ProjectAtAsk(names=await asyncio.to_thread(_repository, here)))
    if not project:
        raise NoProject(
            f"no harness has worked in {here} yet, so that no project is known here: go to its folder, or name it with "
            "--project"
        )
    return project


def _upwards(here: Path, home: Path) -> list[Path]:
    """The folder and those around it, as they are called and as they are, as far as the root of the work tree."""
    found: list[Path] = []
    for start in (here, here.resolve()):
        for folder in (start, *start.parents):
            if folder in (home, home.resolve()) and folder != start:
                break
            found.append(folder)
            if (folder / ".git").exists():
                break
    return found


def _repository(here: Path) -> tuple[str, ...]:
    """What harnesses would call the repository of a folder: by its first commits."""
    command = ["git", "-C", str(here), "rev-list", "--max-parents=0", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=GIT, check=False)  # noqa: S603 - git, by its name
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(f"git-{commit}" for commit in found.stdout.split()) if found.returncode == 0 else ()


async def _ask(bus: Bus, question: ProjectAtAsk) -> str:
    reply = msgspec.json.decode(await bus.request(ask(question.NAME), encode(question), PATIENCE), type=ProjectAt)
    if reply.error:
        raise NoProject(f"the views do not tell which project this is ({reply.error}): name it with --project")
    return reply.project
