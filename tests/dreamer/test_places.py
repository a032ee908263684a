"""Where the files of a project are looked for."""

import os
from pathlib import Path

from services.dreamer.places import checkout_of
from services.kit.project_name import directory_name


async def test_the_newest_place_of_a_project_on_this_machine_is_its_tree(tmp_path: Path) -> None:
    older, newer = tmp_path / "older", tmp_path / "newer"
    for root in (older, newer):
        root.mkdir()
        (root / "a.py").write_text(root.name)
    project = directory_name(newer)
    found = await checkout_of(project, [str(newer), str(older), "/nowhere", "relative", "\0", os.devnull])
    assert found is not None
    assert "newer" == found.text("a.py")


async def test_a_folder_that_is_another_project_is_no_tree_of_this_one(tmp_path: Path) -> None:
    assert None is await checkout_of("git-0000", [str(tmp_path)])
    assert None is await checkout_of("git-0000", [])
