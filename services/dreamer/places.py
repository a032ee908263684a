"""The places of a project's files on this machine: a work tree, or else the mirror of its remote."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from services.dreamer.mirror_tree import MirrorTree
from services.dreamer.tree import Checkout
from services.kit.data_directory import MIRRORS, mirror_in
from services.kit.project_name import is_of


async def checkout_of(project: str, roots: Sequence[str]) -> Checkout | None:
    """The newest of these places that is a directory of this machine and that project's.

    Each is looked at itself: whoever named it may have been mistaken, or may be on another machine.
    """
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


async def mirror_of(data: Path, project: str) -> MirrorTree | None:
    """The mirror of a project's remote, as the commit indexer has made it; none: there is none that can be read."""
    place = mirror_in(data / MIRRORS, project)
    if not await asyncio.to_thread((place / "HEAD").is_file):
        return None
    found = await asyncio.to_thread(MirrorTree, place)
    return found if len(found) else None
