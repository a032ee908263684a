"""What a project is called: by its root commit, in every clone, the same here and in the service."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from services.kit.project_name import beginning, directory_name, had_name, is_of, name_of, normalised, remote_name
from tests.adapter.conftest import ROOT
from tests.helpers.repositories import ISOLATED, Checkout, Made, line
from tests.helpers.waiting import PATIENCE

DRIVER = Path(__file__).with_name("identity.mjs")
LONG = 60_000
"""Milliseconds that a name is waited for where its time is not the subject."""
Json = dict[str, Any]
Ask = Callable[..., Json]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """What the adapter makes of a directory."""
    node = shutil.which("node")
    assert node, "node is missing: install Node.js 20 or later"
    command = [node, str(DRIVER), str(ROOT / "deploy" / "opencode")]
    environment = {**ISOLATED, "PATH": f"{Path(node).parent}:{os.environ['PATH']}", "HOME": "/nowhere"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as running:

        def asked(way: str, directory: Path, **given: object) -> Json:
            assert running.stdin is not None
            assert running.stdout is not None
            running.stdin.write(json.dumps({"way": way, "directory": str(directory), **given}) + "\n")
            running.stdin.flush()
            return dict(json.loads(running.stdout.readline()))

        yield asked
        assert running.stdin is not None
        running.stdin.close()
        running.wait(PATIENCE)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


@pytest.fixture
def identify(ask: Ask, state: Path) -> Callable[..., Json]:
    """The project of a work tree, as an adapter with this state calls it."""

    def identified(
        root: Path, directory: Path | None = None, limit: int = LONG, *, falls: bool = False, **environment: str
    ) -> Json:
        place = {"root": str(root), "state": str(state), "limit": limit, "environment": environment, "falls": falls}
        return ask("identify", directory or root, **place)

    return identified


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    checkout = Checkout(tmp_path / "shop")
    checkout.add(*line(3))
    checkout.git("reset", "--quiet", "--hard")
    return checkout


def root_name(checkout: Checkout) -> str:
    return f"git-{checkout.sha(1)}"


def clone(origin: Checkout, folder: Path, *words: str) -> Checkout:
    origin.git("clone", "--quiet", *words, f"file://{origin.folder}", str(folder))
    return Checkout(folder, bare="--bare" in words)


def other_history(checkout: Checkout, at: int = 100) -> str:
    """A second root, on a branch of its own."""
    return checkout.add(Made(at, "Begin elsewhere", {"other.txt": "x"}, branch="other"))[0]


def named_by(text: bytes) -> str:
    return hashlib.sha1(text).hexdigest()  # noqa: S324 - OpenCode's names are made so


# The same on both sides.


def plain(shop: Checkout) -> Path:
    return shop.folder


def subdirectory(shop: Checkout) -> Path:
    (shop.folder / "deep" / "er").mkdir(parents=True)
    return shop.folder / "deep" / "er"


def work_tree(shop: Checkout) -> Path:
    shop.git("worktree", "add", "--quiet", str(shop.folder / ".." / "tree"))
    return shop.folder.parent / "tree"


def local_clone(shop: Checkout) -> Path:
    return clone(shop, shop.folder.parent / "clone").folder


def bare(shop: Checkout) -> Path:
    return clone(shop, shop.folder.parent / "bare", "--bare").folder


def shallow(shop: Checkout) -> Path:
    return clone(shop, shop.folder.parent / "shallow", "--depth=1").folder


def partial(shop: Checkout) -> Path:
    shop.git("config", "uploadpack.allowFilter", "true")
    return clone(shop, shop.folder.parent / "partial", "--filter=tree:0", "--no-checkout").folder


def unborn(shop: Checkout) -> Path:
    return Checkout(shop.folder.parent / "unborn").folder


def no_repository(shop: Checkout) -> Path:
    (shop.folder.parent / "none").mkdir()
    return shop.folder.parent / "none"


def missing(shop: Checkout) -> Path:
    return shop.folder.parent / "missing"


def sha256(shop: Checkout) -> Path:
    checkout = Checkout(shop.folder.parent / "sha256", object_format="sha256")
    checkout.add(*line(2))
    return checkout.folder


def second_root(shop: Checkout) -> Path:
    other_history(shop)
    shop.add(Made(101, "Take in the other", {}, (3, 100)))
    return shop.folder


def grafted(shop: Checkout) -> Path:
    (shop.folder / ".git" / "info").mkdir(exist_ok=True)
    (shop.folder / ".git" / "info" / "grafts").write_text(f"{shop.sha(3)}\n")
    return shop.folder


def replaced(shop: Checkout) -> Path:
    shop.git("replace", "--graft", shop.sha(2))
    return shop.folder


def submodule(shop: Checkout) -> Path:
    other = Checkout(shop.folder.parent / "other")
    other.add(Made(1, "Another beginning", {"a.txt": "a"}))
    shop.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{other.folder}", "part")
    return shop.folder / "part"


def dangling(shop: Checkout) -> Path:
    (shop.folder / ".git" / "HEAD").write_text("ref: refs/heads/nowhere\n")
    return shop.folder


def broken(shop: Checkout) -> Path:
    (shop.folder / ".git" / "config").write_text("[core\n")
    return shop.folder


def message_with_parents(shop: Checkout) -> Path:
    checkout = Checkout(shop.folder.parent / "words")
    checkout.add(Made(1, f"parent {shop.sha(1)}\n\nparent {shop.sha(2)}"))
    return checkout.folder


def renamed_branch(shop: Checkout) -> Path:
    """A mirror of a remote whose branch has been renamed since: its HEAD names one that is not there."""
    copy = clone(shop, shop.folder.parent / "mirror", "--bare")
    copy.git("update-ref", "refs/heads/trunk", shop.sha(3))
    copy.git("update-ref", "-d", "refs/heads/main")
    return copy.folder


def nothing_checked_out(shop: Checkout) -> Path:
    """A clone of a remote whose HEAD names no branch: git checks nothing out."""
    copy = clone(shop, shop.folder.parent / "clone", "--no-checkout")
    copy.git("checkout", "--quiet", "--orphan", "fresh")
    copy.git("branch", "--quiet", "-D", "main")
    return copy.folder


def two_branches_and_neither(shop: Checkout) -> Path:
    other_history(shop)
    return dangling(shop)


def long_message(shop: Checkout) -> Path:
    checkout = Checkout(shop.folder.parent / "long")
    checkout.add(Made(1, "All of the minutes\n\n" + "and then somebody spoke\n" * 200_000), Made(2, "Go on", {}, (1,)))
    return checkout.folder


def git_file(shop: Checkout) -> Path:
    bare(shop).rename(shop.folder.parent / "work.git")
    (shop.folder.parent / "work").mkdir()
    (shop.folder.parent / "work" / ".git").write_text("gitdir: ../work.git\n")
    return shop.folder.parent / "work"


def symlinked_store(shop: Checkout) -> Path:
    (shop.folder / ".git").rename(shop.folder.parent / "store")
    (shop.folder / ".git").symlink_to(shop.folder.parent / "store")
    return shop.folder


def shared_objects(shop: Checkout) -> Path:
    shop.git("clone", "--quiet", "--shared", str(shop.folder), str(shop.folder.parent / "shared"))
    return shop.folder.parent / "shared"


def detached(shop: Checkout) -> Path:
    shop.git("checkout", "--quiet", "--detach", shop.sha(2))
    return shop.folder


def packed(shop: Checkout) -> Path:
    shop.git("gc", "--quiet")
    return shop.folder


def inside_the_store(shop: Checkout) -> Path:
    return shop.folder / ".git" / "objects"


def empty_store_inside(shop: Checkout) -> Path:
    (shop.folder / "part" / ".git").mkdir(parents=True)
    return shop.folder / "part"


def odd_names(shop: Checkout) -> Path:
    folder = shop.folder.parent / "a 'b' \"c\" $HOME \\ \n日本 ends with a blank "
    shop.folder.rename(folder)
    shop.folder = folder
    (folder / "-x").mkdir()
    return folder / "-x"


def lost_store(shop: Checkout) -> Path:
    """A work tree whose repository was moved away."""
    place = work_tree(shop)
    shop.folder.rename(shop.folder.parent / "moved")
    return place


PLACES: Mapping[Callable[[Checkout], Path], str] = {
    plain: "root", subdirectory: "root", work_tree: "root", local_clone: "root", bare: "root", shallow: "shallow",
    partial: "root", unborn: "unborn", no_repository: "none", missing: "unknown", sha256: "root", second_root: "root",
    grafted: "root", replaced: "root", submodule: "root", dangling: "root", broken: "unknown",
    message_with_parents: "root", renamed_branch: "root", nothing_checked_out: "root", long_message: "root",
    two_branches_and_neither: "unborn", git_file: "root", symlinked_store: "root", shared_objects: "root",
    detached: "root", packed: "root", inside_the_store: "root", empty_store_inside: "root", odd_names: "root",
    lost_store: "unknown",
}  # fmt: skip


@pytest.mark.parametrize("make", PLACES, ids=lambda make: make.__name__)
async def test_adapter_and_service_find_the_same_beginning(
    make: Callable[[Checkout], Path], shop: Checkout, ask: Ask
) -> None:
    place = make(shop)
    found = await beginning(place)
    assert PLACES[make] == found.state
    theirs = ask("beginning", place, stored="")
    assert (found.state, found.commit) == (theirs["state"], theirs["commit"])


SAME = (
    plain, subdirectory, work_tree, local_clone, bare, partial, second_root, grafted, replaced, dangling,
    renamed_branch, nothing_checked_out, git_file, symlinked_store, shared_objects, detached, packed, inside_the_store,
    empty_store_inside, odd_names,
)  # fmt: skip


@pytest.mark.parametrize("make", SAME, ids=lambda make: make.__name__)
async def test_every_checkout_of_a_repository_is_one_project(make: Callable[[Checkout], Path], shop: Checkout) -> None:
    first = shop.sha(1)
    assert f"git-{first}" == name_of(await beginning(make(shop)), shop.folder)


OTHERS = (submodule, sha256, message_with_parents, long_message)


@pytest.mark.parametrize("make", OTHERS, ids=lambda make: make.__name__)
async def test_another_repository_is_another_project(make: Callable[[Checkout], Path], shop: Checkout) -> None:
    found = name_of(await beginning(make(shop)), shop.folder)
    assert found.startswith("git-")
    assert root_name(shop) != found


async def test_directories_are_called_alike(tmp_path: Path, identify: Callable[..., Json]) -> None:
    (tmp_path / "größe 船").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "größe 船")
    for place in (tmp_path / "größe 船", tmp_path / "link"):
        assert directory_name(tmp_path / "größe 船") == identify(place)["id"]


# What changes nothing.


def test_a_remote_that_comes_goes_or_moves_changes_nothing(shop: Checkout, identify: Callable[..., Json]) -> None:
    names = [identify(shop.folder)["id"]]
    shop.git("remote", "add", "origin", "https://git.example.org/team/shop.git")
    names.append(identify(shop.folder)["id"])
    shop.git("remote", "set-url", "origin", "git@elsewhere.example.org:shop")
    names.append(identify(shop.folder)["id"])
    shop.git("remote", "remove", "origin")
    assert {root_name(shop)} == {*names, identify(shop.folder)["id"]}


def test_an_orphan_branch_and_its_work_tree_stay_in_the_project(shop: Checkout, identify: Callable[..., Json]) -> None:
    assert root_name(shop) == identify(shop.folder)["id"]
    other_history(shop)
    shop.git("worktree", "add", "--quiet", str(shop.folder.parent / "pages"), "other")
    assert root_name(shop) == identify(shop.folder.parent / "pages")["id"]
    shop.git("worktree", "remove", "--force", str(shop.folder.parent / "pages"))
    shop.git("checkout", "--quiet", "other")
    assert (root_name(shop), []) == ((now := identify(shop.folder))["id"], now["former"])
    shop.git("checkout", "--quiet", "--orphan", "empty")
    assert root_name(shop) == identify(shop.folder)["id"]


def test_repositories_for_which_a_harness_names_one_root_are_not_mixed_up(
    shop: Checkout, tmp_path: Path, identify: Callable[..., Json]
) -> None:
    """As for bare repositories in one folder, and for the submodules of one repository."""
    assert root_name(shop) == identify(tmp_path, shop.folder)["id"]
    other = Checkout(tmp_path / "other")
    other.add(Made(1, "Another beginning"))
    bare_one = clone(other, tmp_path / "bare", "--bare")
    for place in (other, bare_one, other):
        assert (root_name(other), []) == ((now := identify(tmp_path, place.folder))["id"], now["former"])
    empty = Checkout(tmp_path / "empty")
    assert (directory_name(empty.folder), []) == ((now := identify(tmp_path, empty.folder))["id"], now["former"])
    fresh = Checkout(tmp_path / "fresh")
    without_git = identify(tmp_path, fresh.folder, PATH=str(tmp_path / "nothing"))
    assert (directory_name(fresh.folder), []) == (without_git["id"], without_git["former"])
    around = clone(shop, tmp_path / "shop" / "inside.git", "--bare")
    around.add(Made(1, "A third beginning"))
    assert (root_name(around), []) == ((now := identify(tmp_path, around.folder))["id"], now["former"])
    for place in (shop, other):
        now = identify(tmp_path, place.folder, PATH=str(tmp_path / "nothing"))
        assert (root_name(place), []) == (now["id"], now["former"])


def test_variables_of_git_lead_nowhere_else(shop: Checkout, tmp_path: Path, identify: Callable[..., Json]) -> None:
    other = Checkout(tmp_path / "elsewhere")
    other.add(Made(1, "Another beginning"))
    variables = {"GIT_DIR": str(other.folder / ".git"), "GIT_WORK_TREE": str(other.folder)}
    variables |= {"GIT_COMMON_DIR": str(other.folder / ".git"), "GIT_CEILING_DIRECTORIES": str(shop.folder.parent)}
    assert root_name(shop) == identify(shop.folder, **variables)["id"]


def test_a_git_that_is_missing_refuses_or_fails_keeps_the_name(
    shop: Checkout, tmp_path: Path, identify: Callable[..., Json]
) -> None:
    assert directory_name(shop.folder) == identify(shop.folder, PATH=str(tmp_path / "nothing"))["id"]
    assert [directory_name(shop.folder)] == identify(shop.folder)["former"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(
        "#!/bin/sh\necho 'fatal: detected dubious ownership in repository' >&2\nexit 128\n"
    )
    (tmp_path / "bin" / "git").chmod(0o755)
    for path in ("nothing", "bin"):
        now = identify(shop.folder, PATH=str(tmp_path / path))
        assert (root_name(shop), ["the last known name of a project is used"]) == (now["id"], now["notes"])


def test_what_is_not_found_in_time_is_the_name_of_the_next_start(
    shop: Checkout, tmp_path: Path, identify: Callable[..., Json], state: Path
) -> None:
    (tmp_path / "slow").mkdir()
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    (tmp_path / "slow" / "git").write_text(
        f'#!/bin/sh\nread line <"{gate}"\nPATH="{os.environ["PATH"]}" exec git "$@"\n'
    )
    (tmp_path / "slow" / "git").chmod(0o755)
    path = f"{tmp_path / 'slow'}:{os.environ['PATH']}"
    late = identify(shop.folder, limit=1, PATH=path)
    assert (directory_name(shop.folder), "") == (late["id"], late["vcs"])
    opened = os.open(gate, os.O_RDWR)
    os.write(opened, b"go\n" * 8)

    def is_stored() -> bool:
        return root_name(shop) in (state / "projects.json").read_text()

    deadline = PATIENCE
    waited = subprocess.run(  # polls in a process of its own: the adapter's works meanwhile
        [sys.executable, "-c", _WAIT, str(state / "projects.json"), root_name(shop), str(deadline)], check=False
    )
    os.close(opened)
    assert (0, True) == (waited.returncode, is_stored())
    again = identify(shop.folder, limit=1, PATH=str(tmp_path / "nothing"))
    assert root_name(shop) == again["id"]


def test_a_name_that_comes_late_and_cannot_be_stored_is_noted(
    shop: Checkout, identify: Callable[..., Json], state: Path
) -> None:
    (state / "projects.json").mkdir()  # what cannot be read is noted, and this note cannot be written
    found = identify(shop.folder, limit=0, falls=True, PATH=os.environ["PATH"])
    assert directory_name(shop.folder) == found["id"]
    assert "a project's name that came late was not stored" == found["late"]
    (state / "projects.json").rmdir()
    assert root_name(shop) == identify(shop.folder, PATH=os.environ["PATH"])["id"]


_WAIT = """
import pathlib, sys, time
path, wanted, seconds = sys.argv[1:]
end = time.monotonic() + float(seconds)
while wanted not in pathlib.Path(path).read_text():
    time.sleep(0.02)
    if time.monotonic() > end:
        sys.exit(1)
"""


# Names that move on.


def test_a_directory_becomes_a_repository_and_gets_its_first_commit(
    tmp_path: Path, identify: Callable[..., Json]
) -> None:
    place = tmp_path / "new"
    place.mkdir()
    before = identify(place)
    assert (directory_name(place), [], "") == (before["id"], before["former"], before["vcs"])
    checkout = Checkout(place)
    assert (directory_name(place), [], "git") == ((now := identify(place))["id"], now["former"], now["vcs"])
    checkout.add(*line(1))
    for _ in range(2):  # it is repeated until its receiver has confirmed it
        assert (root_name(checkout), [directory_name(place)]) == ((now := identify(place))["id"], now["former"])


def test_a_shallow_clone_moves_on_when_it_is_deepened(
    shop: Checkout, tmp_path: Path, identify: Callable[..., Json]
) -> None:
    place = clone(shop, tmp_path / "shallow", "--depth=1")
    before = identify(place.folder)
    assert f"shallow-{shop.sha(3)}" == before["id"]
    place.git("fetch", "--quiet", "--unshallow")
    now = identify(place.folder)
    assert (root_name(shop), [before["id"]]) == (now["id"], now["former"])


def test_a_clone_that_is_made_anew_without_its_history_comes_back_to_its_name(
    shop: Checkout, tmp_path: Path, identify: Callable[..., Json]
) -> None:
    place = tmp_path / "place"
    clone(shop, place)
    assert root_name(shop) == identify(place)["id"]
    shutil.rmtree(place)
    again = clone(shop, place, "--depth=1")
    assert f"shallow-{shop.sha(3)}" == identify(place)["id"]
    again.git("fetch", "--quiet", "--unshallow")
    assert (root_name(shop), [f"shallow-{shop.sha(3)}"]) == ((now := identify(place))["id"], now["former"])


def test_a_rewritten_history_is_another_project_and_says_what_it_was(
    shop: Checkout, identify: Callable[..., Json]
) -> None:
    assert root_name(shop) == identify(shop.folder)["id"]
    shutil.rmtree(shop.folder / ".git")
    again = Checkout(shop.folder)
    assert root_name(shop) == identify(shop.folder)["id"]  # nothing says yet that it is another one
    again.add(Made(1, "Begin anew"))
    assert (root_name(again), [root_name(shop)]) == ((now := identify(shop.folder))["id"], now["former"])


def test_an_installation_that_named_projects_by_the_harness_is_migrated(
    shop: Checkout, identify: Callable[..., Json], state: Path
) -> None:
    shop.git("remote", "add", "origin", "git@git.example.org:team/shop.git")
    harness = f"git-{named_by(b'git-remote:git.example.org/team/shop')}"
    (state / "projects.json").write_text(json.dumps({str(shop.folder): harness}))
    now = identify(shop.folder)
    assert (root_name(shop), [harness]) == (now["id"], now["former"])


def test_a_home_directory_is_reported_as_such(tmp_path: Path, identify: Callable[..., Json]) -> None:
    assert identify(tmp_path, HOME=str(tmp_path))["home"]
    assert not identify(tmp_path, HOME=str(tmp_path.parent))["home"]


BROKEN: Mapping[str, str] = {"half": "[1,", "list": '["a"]', "numbers": '{"a": 3}', "nothing": ""}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_names_that_cannot_be_read_stop_nothing(
    text: str, shop: Checkout, identify: Callable[..., Json], state: Path
) -> None:
    (state / "projects.json").write_text(text)
    (state / "former_names.json").write_text(text)
    assert (root_name(shop), []) == ((now := identify(shop.folder))["id"], now["former"])


def test_names_that_cannot_be_read_now_stay_as_they_are(
    shop: Checkout, identify: Callable[..., Json], state: Path
) -> None:
    """As a link that a person has made: it is not followed, and not replaced either."""
    names = {str(shop.folder.parent / "another"): "git-1"}
    (state.parent / "elsewhere.json").write_text(json.dumps(names))
    (state / "projects.json").symlink_to(state.parent / "elsewhere.json")
    now = identify(shop.folder)
    assert (root_name(shop), []) == (now["id"], now["former"])
    assert {"stored names of projects were not read", "a project's name was not stored"} == set(now["notes"])
    assert (state / "projects.json").is_symlink()
    assert names == json.loads((state / "projects.json").read_text())


def test_names_that_cannot_be_written_stop_nothing(shop: Checkout, ask: Ask, tmp_path: Path) -> None:
    place = {"root": str(shop.folder), "state": str(tmp_path / "missing"), "limit": LONG, "environment": {}}
    nowhere = ask("identify", shop.folder, **place)
    assert (root_name(shop), ["a project's name was not stored"]) == (nowhere["id"], nowhere["notes"])


def test_of_names_that_many_harnesses_store_at_the_same_time_none_is_lost(tmp_path: Path, state: Path) -> None:
    places = [tmp_path / f"place {number}" for number in range(60)]
    for place in places:
        place.mkdir()
    node = shutil.which("node")
    assert node, "node is missing: install Node.js 20 or later"
    command = [node, str(DRIVER), str(ROOT / "deploy" / "opencode")]
    environment = {**ISOLATED, "PATH": f"{Path(node).parent}:{os.environ['PATH']}", "HOME": "/nowhere"}
    harnesses = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(6)
    ]
    for number, harness in enumerate(harnesses):
        asked = [
            {"directory": str(place), "root": str(place), "state": str(state), "limit": LONG, "environment": {}}
            for place in places[number :: len(harnesses)]
        ]
        assert harness.stdin is not None
        harness.stdin.write("".join(json.dumps({"way": "identify", **one}) + "\n" for one in asked))
        harness.stdin.flush()
    lines = [harness.communicate(timeout=PATIENCE)[0].splitlines() for harness in harnesses]
    names = [[json.loads(one) for one in theirs] for theirs in lines]
    unstored = {one["id"] for theirs in names for one in theirs if one["notes"]}  # which a busy machine may make some
    known = json.loads((state / "projects.json").read_text())
    expected = {str(place): directory_name(place) for place in places}
    assert {place: name for place, name in expected.items() if name not in unstored} == known
    assert len(unstored) < len(places)
    assert ["projects.json"] == [path.name for path in state.iterdir()]


def test_a_turn_that_a_harness_has_not_ended_is_waited_for_and_one_that_was_cut_off_is_not(
    tmp_path: Path, identify: Callable[..., Json], state: Path
) -> None:
    place, lock = tmp_path / "place", state / "projects.json.lock"
    place.mkdir()
    lock.write_text(str(os.getpid()))
    waiting = identify(place)
    assert (directory_name(place), ["a project's name was not stored"]) == (waiting["id"], waiting["notes"])
    assert (True, False) == (lock.exists(), (state / "projects.json").exists())
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    for owner, age in ((ended.stdout.decode().strip(), 0), (str(os.getpid()), 3600), ("", 3600)):
        lock.write_text(owner)
        os.utime(lock, (lock.stat().st_mtime - age,) * 2)
        (state / "projects.json").unlink(missing_ok=True)
        assert [] == identify(place)["notes"]
        assert {str(place): directory_name(place)} == json.loads((state / "projects.json").read_text())
        assert not lock.exists()


def test_nothing_that_a_repository_names_is_run(shop: Checkout, tmp_path: Path, identify: Callable[..., Json]) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.alternateRefsCommand", "core.askPass", "core.sshCommand"):
        shop.git("config", name, str(trap))
    shop.git("config", "core.hooksPath", str(tmp_path))
    shop.git("config", "alias.rev-list", f"!{trap}")
    shop.git("config", "remote.origin.url", f"ext::{trap}")
    shop.git("config", "remote.origin.promisor", "true")
    shop.git("config", "protocol.ext.allow", "always")
    assert root_name(shop) == identify(shop.folder)["id"]
    assert not (tmp_path / "sprung").exists()


# What the service makes of a former name.


async def test_the_service_knows_the_former_names_of_what_it_reads(shop: Checkout, tmp_path: Path) -> None:
    shop.git("remote", "add", "origin", "ssh://git@GIT.example.org/team/shop.git/")
    of_remote = f"git-{named_by(b'git-remote:git.example.org/team/shop')}"
    assert of_remote == await remote_name(shop.folder)
    project, folder = root_name(shop), shop.folder
    for name in (directory_name(folder), of_remote, f"shallow-{shop.sha(3)}"):
        assert await had_name(name, project, folder, folder), name
    elsewhere = Checkout(tmp_path / "elsewhere")
    other = elsewhere.add(Made(1, "Another beginning"))[0]
    second = other_history(shop)
    for name in ("victim", f"git-{other}", f"git-{shop.sha(2)}", f"git-{second}", f"shallow-{other}", "shallow---all",
                 directory_name(elsewhere.folder)):  # fmt: skip
        assert not await had_name(name, project, folder, folder), name
    for thief in (f"git-{other}", "thief", f"git-{shop.sha(2)}"):
        assert not await had_name(directory_name(folder), thief, folder, folder), thief
    assert await is_of(of_remote, folder, folder)
    assert not await is_of(f"git-{other}", folder, folder)


ONE_ADDRESS = (
    "https://git.example.org/team/shop.git",
    "git@git.example.org:team/shop",
    "git.example.org:team/shop.git/",
    "ssh://git@GIT.EXAMPLE.ORG:2222/team/shop.git",
    "https://u:p@git.example.org//team/shop/",
)


def test_ssh_and_https_of_one_address_agree() -> None:
    for address in ONE_ADDRESS:
        assert "git.example.org/team/shop" == normalised(address), address
    for address in ("", "../shop", "/srv/shop.git", "file:///srv/shop", "https://[bad", "https://git.example.org/"):
        assert "" == normalised(address), address
