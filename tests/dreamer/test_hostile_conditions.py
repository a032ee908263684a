"""Conditions that an agent was talked into: nothing is read for them, and each is answered with the reason."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.commands import NoteWrite
from schemas.conditions import AddressCondition, FileCondition
from services.dreamer.core.verdicts import BARRED, judge
from services.dreamer.looks import file_look
from services.dreamer.public_web import PublicEndpoint, PublicWeb, public_endpoints
from services.dreamer.tree import Checkout
from tests.helpers.cells import cells
from tests.helpers.memory_books import NOON, Desk

HOSTS = (
    "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "127.1", "127.0.1", "0", "0.0.0.1",
    "127.0.0.1.", "localhost.", "a.localhost", "256.1.1.1", "example.0x10", "10.0.0.1%00", "[fe80::1%25eth0]",
    "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:7f00:1]", "[::]", "[fd00::1]", "[fe80::1]", "[ff02::1]",
    "[2001:db8::1]", "[2001:0:7f00:1::]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]", "[3fff::1]", "100.64.0.1",
    "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "172.16.0.1", "example.org@10.0.0.1",
    "example.org:80@127.0.0.1", "ex%61mple.org", "\uff11\uff12\uff17.0.0.1", "\u24db\u24deocalhost", "[",
    "[::1", "example.org:8080", "example.org:a", "example.org:99999", "", ".", "user@", ":80",
)  # fmt: skip
"""This machine and private networks in all spellings, and what is no host."""
ADDRESSES = (
    "//127.0.0.1/", "http:/127.0.0.1/", "http:127.0.0.1", "HTTP://127.0.0.1/", "http:\\\\127.0.0.1\\", "gopher://a/",
    "data:text/plain,a", "javascript:alert(1)", "unix:///run/a.sock", "http+unix://%2frun%2fa.sock/", "", " ",
    "http://example.org/ a", "http://example.org/\u202e", "http://example.org/" + "a" * 500, "\ud800",
)  # fmt: skip
REFUSED: Sequence[dict[str, object]] = [
    {"kind": "address", "url": "http://127.0.0.1/"},
    {"kind": "address", "url": "http://localhost/admin"},
    {"kind": "address", "url": "http://10.0.0.1/"},
    {"kind": "address", "url": "http://192.168.1.1/"},
    {"kind": "address", "url": "http://169.254.169.254/latest/meta-data/"},
    {"kind": "address", "url": "http://[::1]/"},
    {"kind": "address", "url": "http://[::ffff:127.0.0.1]/"},
    {"kind": "address", "url": "http://[64:ff9b::7f00:1]/"},
    {"kind": "address", "url": "http://[2002:7f00:1::]/"},
    {"kind": "address", "url": "file:///etc/passwd"},
    {"kind": "address", "url": "ftp://example.org/a"},
    {"kind": "address", "url": "https://example.org:22/"},
    {"kind": "address", "url": "https://ada:secret@example.org/"},
    {"kind": "address", "url": "https://example.org/\r\nX-Header: a"},
    *({"kind": "address", "url": f"http://{host}/"} for host in HOSTS),
    *({"kind": "address", "url": url} for url in ADDRESSES),
    {"kind": "address", "url": "https://example.org/", "status": -1},
    {"kind": "address", "url": "https://example.org/", "status": 1000},
    {"kind": "address", "url": "https://example.org/", "contains": " "},
    {"kind": "address", "url": "https://example.org/", "contains": "x" * 241},
    {"kind": "date", "at": "2026-12-01T09:00:00"},
    {"kind": "date", "at": "0001-01-01T00:00:00+14:00"},
    {"kind": "date", "at": "9999-12-31T23:59:59-14:00"},
    {"kind": "date", "at": "tomorrow"},
    {"kind": "date", "at": 0},
    {"kind": "file", "path": "../../etc/passwd"},
    {"kind": "file", "path": "a/../../b"},
    {"kind": "file", "path": "..\\b"},
    {"kind": "file", "path": "C:/a"},
    {"kind": "file", "path": "//server/share"},
    {"kind": "file", "path": "."},
    {"kind": "file", "path": ""},
    {"kind": "file", "path": "x" * 513},
    {"kind": "file", "path": "a\u202eb"},
    {"kind": "file", "path": "\ud800"},
    {"kind": "file", "path": "home/.ssh/id_rsa"},
    {"kind": "file", "path": "app/.ENV"},
    {"kind": "file", "path": "a", "state": "contains"},
    {"kind": "file", "path": "a", "state": "run"},
    {"kind": "file", "path": "/etc/passwd"},
    {"kind": "file", "path": "~/.ssh/id_rsa"},
    {"kind": "file", "path": "file:///etc/passwd"},
    {"kind": "file", "path": "a\0b"},
    {"kind": "file", "path": ".env", "state": "contains", "text": "KEY"},
    {"kind": "file", "path": "app/.env.production"},
    {"kind": "file", "path": ".git/config", "state": "contains", "text": "token"},
    {"kind": "file", "path": "secrets/key.pem"},
    {"kind": "commit", "tag": "--upload-pack=touch /tmp/x"},
    {"kind": "commit", "sha": "HEAD; touch /tmp/x"},
    {"kind": "merged", "branch": "$(touch x)", "into": "main"},
    {"kind": "passed", "command": "make test\nrm -rf /"},
    {"kind": "code", "run": "open('/etc/passwd').read()"},
]
LINKS = ("to_passwd", "to_outside/a.txt", "to_env", "round")
NAMES = {
    "rebinding.example": ["8.8.8.8", "127.0.0.1"],
    "inside.example": ["10.1.2.3"],
    "metadata.example": ["169.254.169.254"],
    "mapped.example": ["::ffff:192.168.0.1"],
}


@cells("condition", REFUSED)
def test_what_is_never_looked_at_is_refused_with_the_right_form(condition: dict[str, object]) -> None:
    desk = Desk()
    answer = desk.say(NoteWrite("Ship it.", condition=condition), "agent", "s1")
    assert not answer.ok
    assert answer.text.startswith("Nothing was written: ")
    assert '{"kind": ' in answer.text
    assert not desk.book.notes


@pytest.mark.parametrize("path", LINKS)
def test_a_link_is_not_followed_out_of_the_project_or_to_a_secret(tmp_path: Path, path: str) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
    (outside / "a.txt").write_text("secret")
    (root / ".env").write_text("KEY=secret")
    for name, target in {"to_passwd": "/etc/passwd", "to_outside": outside, "to_env": ".env", "round": "round"}.items():
        (root / name).symlink_to(target)
    condition = FileCondition(path, "contains", "secret")
    verdict = judge(condition, file_look(Checkout(root), condition), NOON, NOON)
    assert ("parked", BARRED) == (verdict.outcome, verdict.code)
    assert path in verdict.reason


@pytest.mark.parametrize("host", NAMES)
async def test_a_name_that_leads_to_a_private_address_is_not_asked(host: str) -> None:
    async def lookup(name: str, _: int) -> Sequence[str]:
        return NAMES[name]

    async def resolve(name: str, port: int) -> Sequence[PublicEndpoint]:
        return await public_endpoints(name, port, lookup)

    look = await PublicWeb(("*",), resolve).look(f"https://{host}/", wants_text=True)
    verdict = judge(AddressCondition(f"https://{host}/"), look, NOON, NOON)
    assert ("parked", BARRED) == (verdict.outcome, verdict.code)
    assert f"{host} has the address {NAMES[host][-1]}, which is not public" == verdict.reason
