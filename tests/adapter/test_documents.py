"""The adapter reports the files that the guide names, once and when they change, and none from elsewhere."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.responder.answers.client_manifest import DOCUMENT_BYTES
from tests.adapter.conftest import ROOT
from tests.helpers.examples import examples
from tests.helpers.waiting import PATIENCE

FOLDER = ROOT / "deploy" / "adapter-core"
DRIVER = Path(__file__).with_name("documents.mjs")
OUT = "it leads out of the project"
CIRCLE = "its links lead in a circle"
NO_FILE = "it is no file"
NO_TEXT = "it is no text in UTF-8"
PRIVATE = "it is a file with secrets by its name, and such files are never read"
LONG = f"it is longer than {DOCUMENT_BYTES} bytes"

Look = Callable[..., tuple[list[Any], dict[str, str]]]
"""The reports of a project at each of these looks, and the files for which a reason was noted that there is none."""


@pytest.fixture(scope="module")
def look() -> Iterator[Look]:
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    assert (FOLDER.parent / "node_modules" / "esbuild").exists(), (
        "what builds the adapter is missing; `make adapter` brings it"
    )
    process = subprocess.Popen(
        [node, str(DRIVER), str(FOLDER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def at(root: Path, *paths: str, times: int = 1, most: int = DOCUMENT_BYTES) -> tuple[list[Any], dict[str, str]]:
        guide = {"digest": "g", "documents": paths, "document_bytes": most}
        process.stdin.write(json.dumps({"root": str(root), "guides": [guide] * times}) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert len(answer["notes"]) == len(dict(answer["notes"]))
        return answer["reports"], dict(answer["notes"])

    yield at
    process.stdin.close()
    process.wait(PATIENCE)
    process.stdout.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a secret next to its folder."""
    (tmp_path / "outside.txt").write_text("hidden")
    project = tmp_path / "project"
    project.mkdir()
    return project


def seen(path: str, content: str | bytes) -> dict[str, str]:
    raw = content.encode() if isinstance(content, str) else content
    return {
        "kind": "document.seen",
        "path": path,
        "digest": hashlib.sha256(raw).hexdigest(),
        "text": raw.decode("utf-8-sig"),
    }


def gone(path: str) -> dict[str, str]:
    return {"kind": "document.seen", "path": path, "digest": ""}


def test_a_file_is_reported_once_and_again_when_it_changes(look: Look, root: Path) -> None:
    (root / "src").mkdir()
    (root / "MAP.md").write_text("# Map")
    (root / "src" / "core.py").write_text("x = 1\n")
    paths = ("MAP.md", "src/core.py", "none.py")

    first = [seen("MAP.md", "# Map"), seen("src/core.py", "x = 1\n"), gone("none.py")]
    assert look(root, *paths) == ([first], {})
    assert look(root, *paths) == ([[]], {})
    (root / "src" / "core.py").write_text("x = 2\n")
    assert look(root, *paths) == ([[seen("src/core.py", "x = 2\n")]], {})


def test_a_file_that_is_gone_is_reported_as_gone_and_then_as_back(look: Look, root: Path) -> None:
    file = root / "core.py"
    file.write_text("x = 1\n")
    look(root, "core.py")

    file.unlink()
    assert look(root, "core.py") == ([[gone("core.py")]], {})
    assert look(root, "core.py") == ([[]], {})
    file.write_text("x = 1\n")
    assert look(root, "core.py") == ([[seen("core.py", "x = 1\n")]], {})


def test_what_is_away_at_the_first_look_is_reported_as_gone_for_it_may_have_gone_meanwhile(
    look: Look, root: Path
) -> None:
    assert look(root, "core.py") == ([[gone("core.py")]], {})
    assert look(root, "core.py") == ([[]], {})
    (root / "core.py").write_text("x = 1\n")
    assert look(root, "core.py") == ([[seen("core.py", "x = 1\n")]], {})


def test_looks_at_the_same_time_report_once(look: Look, root: Path) -> None:
    (root / "core.py").write_text("x = 1\n")

    assert look(root, "core.py", times=3) == ([[seen("core.py", "x = 1\n")], [], []], {})


def test_an_empty_file_is_there(look: Look, root: Path) -> None:
    (root / "__init__.py").touch()

    assert look(root, "__init__.py") == ([[seen("__init__.py", "")]], {})


def test_a_mark_of_the_byte_order_is_no_part_of_the_text(look: Look, root: Path) -> None:
    (root / "core.cs").write_bytes(b"\xef\xbb\xbfclass A;")

    assert look(root, "core.cs") == ([[seen("core.cs", b"\xef\xbb\xbfclass A;")]], {})


SECRETS = (
    ".env", ".env.local", ".env.production", ".envrc", "prod.env", ".env.bak", "app/.ENV", "\uff0eenv",
    ".git/config", ".git/HEAD", "sub/.git/config", ".GIT/config", ".hg/hgrc", ".svn/entries",
    ".ssh/config", ".ssh/known_hosts", "id_rsa", "keys/id_ed25519", "id_rsa.pub", "ID_RSA", "id_rsa.old", "id_ecdsa~",
    "server.pem", "server.PEM", "tls/server.key", "server.key.1", "a.p12", "a.pfx", "a.jks", "a.keystore",
    "a.ppk", "a.kdbx",
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", ".dockercfg",
    ".aws/credentials", ".aws/config", ".kube/config", "kubeconfig", "my-kubeconfig.yaml",
    "dev.kubeconfig", ".docker/config.json",
    ".gnupg/pubring.kbx", ".config/gcloud/access_tokens.db", "credentials", "credentials.json", "aws_credentials.txt",
    "secrets.yml", "config/secrets.toml", "client-secret.json", "service-account-prod.json", "passwords.csv",
    "secrets/prod.yml", "deploy/credentials/db.json", "secrets/token",
    "terraform.tfstate", "prod.tfvars", ".bash_history", ".vault-token", "private_key.txt", "private-key",
)  # fmt: skip
HARMLESS = (
    "README.md", "src/secrets.py", "domain/secrets/mask.py", "docs/passwords.md", "environment.md", "src/env.ts",
    "keys.md",
    ".gitignore", ".github/workflows/ci.yml", ".editorconfig", "monkey.py", "src/credentials_form.tsx", "git/config.md",
)  # fmt: skip


@pytest.mark.parametrize("path", SECRETS)
def test_a_file_that_keeps_secrets_is_never_read_whoever_names_it(look: Look, root: Path, path: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("token = hunter2")
    spelled = (
        path,
        f"./{path}",
        f"docs/../{path}",
        f"/{path}",
        path.replace("/", "\\"),
        f"{path}.",
        f"{path} ",
        f"{path}::$DATA",
    )
    (root / "docs").mkdir(exist_ok=True)
    reports, notes = look(root, *spelled)
    assert [[gone(one) for one in dict.fromkeys(spelled)]] == reports
    assert {PRIVATE} == set(notes.values())


@pytest.mark.parametrize("path", ["id_rsa", ".env", ".git/config", ".aws/credentials"])
def test_no_link_leads_to_a_file_that_keeps_secrets(look: Look, root: Path, path: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("token = hunter2")
    (root / "README.md").symlink_to(file)
    (root / "docs").symlink_to(file.parent)
    paths = ("README.md", f"docs/{file.name}")
    assert look(root, *paths) == ([[gone(one) for one in paths]], dict.fromkeys(paths, PRIVATE))


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_is_not_sent_whatever_its_file_is_called(look: Look, root: Path, kind: str) -> None:
    key = f"-----BEGIN {kind}PRIVATE KEY-----\nabc\n-----END {kind}PRIVATE KEY-----\n"
    (root / "NOTES.md").write_text(f"# Notes\n\n{key}")
    assert look(root, "NOTES.md") == ([[gone("NOTES.md")]], {"NOTES.md": PRIVATE})


@pytest.mark.parametrize("path", HARMLESS)
def test_what_only_sounds_like_a_secret_is_sent(look: Look, root: Path, path: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x")
    assert look(root, path) == ([[seen(path, "x")]], {})


def test_a_guide_makes_nothing_larger_nor_more_of_them(look: Look, root: Path) -> None:
    (root / "long.md").write_bytes(b"x" * (DOCUMENT_BYTES + 1))
    assert look(root, "long.md", most=10**9) == ([[gone("long.md")]], {"long.md": LONG})
    for number in range(120):
        (root / f"{number}.md").write_text("x")
    ((reports,), _) = look(root, *(f"{number}.md" for number in range(120)))
    assert 100 == len(reports)


def link_out(root: Path) -> None:
    (root / "it").symlink_to(root.parent / "outside.txt")


def link_out_by_folder(root: Path) -> None:
    (root / "up").symlink_to("..")
    (root / "it").symlink_to("up/outside.txt")


def link_to_the_root(root: Path) -> None:
    (root / "it").symlink_to(root)


def link_to_sibling(root: Path) -> None:
    """To a folder whose name begins as that of the project."""
    sibling = root.with_name(root.name + "-old")
    sibling.mkdir()
    (sibling / "file").write_text("hidden")
    (root / "it").symlink_to(sibling / "file")


def loop(root: Path) -> None:
    (root / "it").symlink_to("that")
    (root / "that").symlink_to("it")


def folder(root: Path) -> None:
    (root / "it").mkdir()


def pipe(root: Path) -> None:
    os.mkfifo(root / "it")


def long(root: Path) -> None:
    (root / "it").write_text("x" * (DOCUMENT_BYTES + 1))


def binary(root: Path) -> None:
    (root / "it").write_bytes(b"ELF\0\1")


def latin(root: Path) -> None:
    (root / "it").write_bytes("für".encode("latin-1"))


REFUSED = [
    (link_out, OUT),
    (link_out_by_folder, OUT),
    (link_to_the_root, OUT),
    (link_to_sibling, OUT),
    (loop, CIRCLE),
    (folder, NO_FILE),
    (pipe, NO_FILE),
    (long, LONG),
    (binary, NO_TEXT),
    (latin, NO_TEXT),
]


@pytest.mark.parametrize(("made", "reason"), REFUSED, ids=[made.__name__ for made, _ in REFUSED])
def test_what_nobody_may_see_or_wants_is_reported_as_gone_with_a_reason_noted_once(
    look: Look, root: Path, made: Callable[[Path], None], reason: str
) -> None:
    file, aside = root / "it", root / "aside"
    file.write_text("before")
    look(root, "it")

    file.unlink()
    made(root)
    assert look(root, "it") == ([[gone("it")]], {"it": reason})
    assert look(root, "it", times=2) == ([[], []], {})
    file.rename(aside)
    file.write_text("after")
    assert look(root, "it") == ([[seen("it", "after")]], {})
    file.unlink()
    aside.rename(file)
    assert look(root, "it") == ([[gone("it")]], {"it": reason})


def test_links_within_the_project_are_followed_wherever_the_project_lies(look: Look, root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "map.md").write_text("# Map")
    (root / "MAP.md").symlink_to("docs/map.md")
    elsewhere = root.with_name("link")
    elsewhere.symlink_to(root)

    assert look(elsewhere, "MAP.md", "docs/map.md") == ([[seen("MAP.md", "# Map"), seen("docs/map.md", "# Map")]], {})


@pytest.mark.parametrize("path", ["../outside.txt", "folder/../../outside.txt", "/../outside.txt"])
def test_of_a_path_that_climbs_out_nothing_is_read(look: Look, root: Path, path: str) -> None:
    (root / "folder").mkdir()

    assert look(root, path) == ([[gone(path)]], {path: OUT})


def test_what_cannot_be_opened_delays_nothing_else_and_is_reported_as_it_was(look: Look, root: Path) -> None:
    (root / "one.py").write_text("1")
    (root / "two.py").write_text("2")
    look(root, "one.py", "two.py")

    (root / "one.py").unlink()
    (root / "one.py").symlink_to("x" * 300)
    (root / "two.py").write_text("22")
    reported, notes = look(root, "one.py", "two.py")
    assert reported == [[seen("two.py", "22")]]
    assert "ENAMETOOLONG" in notes["one.py"]
    (root / "one.py").unlink()
    assert look(root, "one.py", "two.py") == ([[gone("one.py")]], {})


def test_a_project_that_is_away_is_not_reported_as_gone(look: Look, root: Path) -> None:
    (root / "core.py").write_text("x = 1\n")
    look(root, "core.py")

    root.rename(root.with_name("away"))
    assert "ENOENT" in look(root, "core.py")[0][0]
    root.with_name("away").rename(root)
    assert look(root, "core.py") == ([[]], {})


NAMES = ("a", "b", "c", "d/a", "d/b")
TARGETS = ("a", "b", "c", "d", "d/a", "..", ".", "../secret", "../d/b", "../project/a", "nowhere")
ENTRIES = st.one_of(
    st.binary(max_size=8).map(lambda content: ("file", content)),
    st.sampled_from(TARGETS).map(lambda target: ("link", target)),
    st.none(),
)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, ENTRIES)), min_size=1, max_size=3))
def test_of_any_project_the_texts_that_lie_in_it_are_reported_and_nothing_else(
    look: Look, states: Sequence[Mapping[str, tuple[str, Any] | None]]
) -> None:
    paths = (*NAMES, "d", "d/../a", "../secret", "a/b")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        (Path(folder) / "secret").write_text("hidden")
        known: dict[str, str] = {}
        for state in states:
            shutil.rmtree(root, ignore_errors=True)
            lay(root, state)
            ((reported,), _) = look(root, *paths)
            known |= {item["path"]: item.get("text") for item in reported}
            assert {path: text for path, text in known.items() if text is not None} == readable(root, paths)


def lay(root: Path, state: Mapping[str, tuple[str, Any] | None]) -> None:
    (root / "d").mkdir(parents=True)
    for name, entry in state.items():
        match entry:
            case ("file", content):
                (root / name).write_bytes(content)
            case ("link", target):
                (root / name).symlink_to(target)


def readable(root: Path, paths: Sequence[str]) -> dict[str, str]:
    """What Python finds below the root, as far as it is text."""
    found = {}
    for path in paths:
        real = Path(os.path.realpath(os.path.normpath(root / path)))
        if not real.is_relative_to(os.path.realpath(root)) or not real.is_file() or b"\0" in real.read_bytes():
            continue
        with contextlib.suppress(UnicodeDecodeError):
            found[path] = real.read_bytes().decode("utf-8-sig")
    return found
