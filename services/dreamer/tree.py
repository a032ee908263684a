"""The door to the files of a project: the work tree of a checkout on this machine, of which little is read."""

import asyncio
import os
import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from services.dreamer.core.secret_paths import is_secret
from services.kit.git_environment import environment
from services.kit.project_name import is_of

MOST_BYTES = 64 * 1024
"""Of a file whose text is read."""
PATIENCE = 10.0
"""Seconds that git may take to name what was renamed."""
MOST_COMMITS = 2000
"""The newest commits in which renamed files are looked for."""


class Checkout:
    """A work tree. It is read in a thread of its own, since the tasks that read it wait for the disk."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this path, which a link may not lead out of the tree."""
        place = self._place(path)
        try:
            return place is not None and place.exists()
        except OSError:  # a name that the system takes for none
            return False

    def text(self, path: str) -> str | None:
        """The text of a file. None: it is not there, secret, a link out, no text, or larger than 64 KiB."""
        place = self._place(path)
        if place is None or is_secret(path) or is_secret(str(place.relative_to(self._root))):
            return None
        try:
            with place.open("rb") as file:
                content = file.read(MOST_BYTES + 1) if place.is_file() else b""
        except OSError:
            return None
        if len(content) > MOST_BYTES or b"\0" in content:
            return None
        return content.decode(errors="replace")

    def moved(self, path: str) -> str:
        """Where git says that a file was renamed to, over several renames; empty: not known."""
        seen, name = {path}, path
        while (after := self._renames.get(name, "")) and after not in seen:
            seen.add(after)
            name = after
        return name if name != path and self.exists(name) else ""

    def _place(self, path: str) -> Path | None:
        """Where a path leads, if that is within the tree."""
        try:
            place = (self._root / path).resolve() if path and "\0" not in path else self._root.parent
        except (OSError, RuntimeError):
            return None
        return place if place.is_relative_to(self._root) else None

    @cached_property
    def _renames(self) -> dict[str, str]:
        """Old path -> new path; of a file that was renamed more than once under one name, the newest."""
        words = ("log", f"--max-count={MOST_COMMITS}", "-M", "--diff-filter=R", "--name-status", "-z", "--format=")
        try:
            done = subprocess.run(  # noqa: S603 - git, in an environment that runs nothing of the repository
                ["git", *words, "--"],  # noqa: S607 - as the other doors to git find it
                cwd=self._root, env=environment(os.environ), stdin=subprocess.DEVNULL, capture_output=True,
                timeout=PATIENCE, check=True,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return {}
        fields = [one for one in done.stdout.decode(errors="replace").strip("\0\n").split("\0") if one.strip()]
        found: dict[str, str] = {}
        for _, old, new in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
            found.setdefault(old, new)
        return found


async def checkout_of(project: str, roots: Sequence[str]) -> Checkout | None:
    """The newest place where a harness worked in a project, as far as it is that project's and on this machine."""
    for root in reversed(roots):
        place = Path(root)
        if "\0" in root or not place.is_absolute():
            continue
        try:
            if await asyncio.to_thread(place.is_dir) and await is_of(project, place, place):
                return Checkout(place)
        except OSError:
            continue
    return None
