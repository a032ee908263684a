"""The place of the mirrors of remotes on the disk: the commit indexer makes them, others read them."""

from pathlib import Path

from schemas.subjects import token

FOLDER = "mirrors"
"""Below the data directory."""


def mirror_in(folder: Path, project: str) -> Path:
    """The bare repository that mirrors the remote of a project."""
    return folder / f"{token(project)}.git"
