"""The settings of a machine with a person's file and a project's, for tests of where settings come from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

from services.edges.project_settings import load_here
from services.settings import LoadedSettings


class Loading(Protocol):
    """Load the settings of a machine: its variables, and the texts of a person's file and of a project's."""

    def __call__(
        self, variables: Mapping[str, str] | None = None, user: str = "", project: str | None = None
    ) -> LoadedSettings: ...


@pytest.fixture
def loading(tmp_path: Path) -> Loading:
    """Load the settings of a machine: its variables, and the texts of a person's file and of a project's."""

    def run(variables: Mapping[str, str] | None = None, user: str = "", project: str | None = None) -> LoadedSettings:
        home, here = tmp_path / "home", tmp_path / "work" / "shop"
        for path, text in ((home / ".config", user), (here / ".annals", project)):
            folder = path / "annals" if path.name == ".config" else path
            folder.mkdir(parents=True, exist_ok=True)
            if text is not None:
                (folder / "config.toml").write_text(text)
        (here / "src" / "deep").mkdir(parents=True, exist_ok=True)
        return load_here(here / "src" / "deep", {"HOME": str(home), **(variables or {})})

    return run


def lines(loaded: LoadedSettings) -> list[str]:
    return [problem.line for problem in loaded.problems]
