"""Where OpenCode looks, and in which order."""

from pathlib import Path

from services.edges.connect.harnesses.opencode.places import places


def names(root: Path, environment: dict[str, str], here: Path) -> list[str]:
    found = places({"HOME": str(root / "home")} | environment, here)
    return [str(place.path.relative_to(root)) for place in found.files]


def project(root: Path) -> Path:
    here = root / "work" / "shop" / "api"
    here.mkdir(parents=True)
    (root / "work" / "shop" / ".git").mkdir()
    return here


def test_the_nearest_file_of_a_project_is_read_after_those_above_it(tmp_path: Path) -> None:
    user = "home/.config/opencode"
    assert [
        *(f"{user}/{name}" for name in ("config.json", "opencode.json", "opencode.jsonc")),
        *("work/shop/opencode.json", "work/shop/opencode.jsonc"),
        *("work/shop/api/opencode.json", "work/shop/api/opencode.jsonc"),
        *("work/shop/api/.opencode/opencode.json", "work/shop/api/.opencode/opencode.jsonc"),
        *("work/shop/.opencode/opencode.json", "work/shop/.opencode/opencode.jsonc"),
        *("home/.opencode/opencode.json", "home/.opencode/opencode.jsonc"),
    ] == names(tmp_path, {}, project(tmp_path))


def test_the_environment_adds_and_moves_places(tmp_path: Path) -> None:
    environment = {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "OPENCODE_CONFIG": str(tmp_path / "mine.json"),
        "OPENCODE_CONFIG_DIR": str(tmp_path / "folder"),
    }
    found = names(tmp_path, environment, project(tmp_path))
    assert "config/opencode/opencode.json" == found[1]
    assert "mine.json" == found[3]
    assert "folder/opencode.jsonc" == found[-1]


def test_a_project_may_be_left_out(tmp_path: Path) -> None:
    found = names(tmp_path, {"OPENCODE_DISABLE_PROJECT_CONFIG": "1"}, project(tmp_path))
    assert [] == [name for name in found if name.startswith("work")]


def test_plugins_are_discovered_in_the_users_and_the_projects_folders(tmp_path: Path) -> None:
    here = project(tmp_path)
    folders = places({"HOME": str(tmp_path / "home")}, here).folders
    assert (
        tmp_path / "home" / ".config" / "opencode",
        here / ".opencode",
        here.parent / ".opencode",
        tmp_path / "home" / ".opencode",
    ) == folders
