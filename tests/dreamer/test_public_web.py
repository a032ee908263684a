"""The door to the web: what it asks, and of whom."""

import asyncio
import gzip
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from http.client import HTTPResponse
from pathlib import Path

import pytest

from services.domain.public_hosts import is_public
from services.dreamer import public_web
from services.dreamer.core.verdicts import AddressLook
from services.dreamer.public_web import MOST_BYTES, BarredAddress, PublicEndpoint, PublicWeb, public_endpoints
from tests.helpers.waiting import PATIENCE
from tests.helpers.web_server import HOST, OK, WebServer, redirect

ANSWERS = {
    "/ok": OK,
    "/gone": b"HTTP/1.1 410 Gone\r\n\r\n",
    "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nrea\r\n2\r\ndy\r\n0\r\n\r\n",
    "/cut": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nready",
    "/closed": b"HTTP/1.1 200 OK\r\n\r\nready",
    "/continued": b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
    "/rubbish": b"\0\xff\xfe rubbish\r\n\r\n",
    "/nothing": b"",
    "/latin": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\xe9",
    "/once": redirect("/ok"),
    "/thrice": redirect("/twice"),
    "/twice": redirect("/once", 307),
    "/four": redirect("/thrice", 308),
    "/circle": redirect("/circle"),
    "/away": redirect("http://quay.example/ok"),
    "/loopback": redirect("http://127.0.0.1/ok"),
    "/mapped": redirect("http://[::ffff:127.0.0.1]/ok"),
    "/metadata": redirect("http://169.254.169.254/latest/meta-data/"),
    "/file": redirect("file:///etc/passwd"),
    "/port": redirect("http://harbour.example:22/"),
    "/named": redirect("http://ada:pw@harbour.example/ok"),
    "/unnamed": redirect("http://elsewhere.example/ok"),
    "/strange": redirect("http://[/"),
}


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(ANSWERS).running() as running:
        yield running


def web(server: WebServer) -> PublicWeb:
    return PublicWeb((HOST, "quay.example"), server.resolve, patience=PATIENCE)


async def look(server: WebServer, path: str, *, wants_text: bool = True) -> AddressLook:
    return await web(server).look(f"http://{HOST}{path}", wants_text=wants_text)


@pytest.mark.parametrize("path", ["/ok", "/chunked", "/cut", "/closed", "/continued", "/once", "/thrice", "/away"])
async def test_an_answer_has_a_status_and_a_text(server: WebServer, path: str) -> None:
    assert AddressLook(200, "ready") == await look(server, path)
    assert AddressLook(200) == await look(server, path, wants_text=False)


async def test_what_an_address_says_otherwise_is_seen_too(server: WebServer) -> None:
    assert AddressLook(410) == await look(server, "/gone")
    assert AddressLook(404) == await look(server, "/unknown")
    assert AddressLook(200, "\ufffd") == await look(server, "/latin")


@pytest.mark.parametrize(
    ("path", "fault"),
    [("/rubbish", "BadStatusLine"), ("/nothing", "RemoteDisconnected"), ("/four", "more than 3"), ("/circle", "more")],
)
async def test_what_is_no_answer_is_a_fault_and_the_note_waits(server: WebServer, path: str, fault: str) -> None:
    found = await look(server, path)
    assert (0, "", "") == (found.status, found.text, found.barred)
    assert fault in found.fault
    assert len(server.requests) <= 4


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/loopback", "127.0.0.1 is no public address"),
        ("/mapped", "is no public address"),
        ("/metadata", "169.254.169.254 is no public address"),
        ("/file", "no scheme of a web address"),
        ("/port", "port 22"),
        ("/named", "name or a password"),
        ("/unnamed", "none of the hosts that ANNALS_DREAM__HOSTS names"),
    ],
)
async def test_an_answer_that_leads_to_what_is_never_asked_is_not_followed(
    server: WebServer, path: str, reason: str
) -> None:
    found = await look(server, path)
    assert reason in found.barred
    assert 1 == len(server.requests)


async def test_a_request_says_nothing_of_who_asks(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    await look(server, "/ok?a=b")
    request = server.requests[-1].decode()
    assert request.startswith("GET /ok?a=b HTTP/1.1\r\nHost: harbour.example\r\n")
    assert not {"cookie", "authorization", "referer"} & {
        line.partition(":")[0].lower() for line in request.splitlines()
    }


DRIPPING = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n"
BOMB = gzip.compress(b"ready" * 400_000)
LYING = {
    "/negative": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nready",
    "/huge": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nready",
    "/word": b"HTTP/1.1 200 OK\r\nContent-Length: all\r\n\r\nready",
    "/more": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready and more",
    "/continue": b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000 + OK,
    "/feeds": b"HTTP/1.1 200 OK\n\nready",
    "/bomb": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + BOMB,
    "/length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nready\r\n0\r\n\r\n",
    **{
        f"/chunk/{size}": f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\nready\r\n0\r\n\r\n".encode()
        for size in ("-5", "zz", "ffffffffffffffff", "")
    },
    "/extension": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + b"x" * 2_000 + b"\r\nready\r\n0\r\n\r\n",
    "/large chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\nready" + b"x" * 100_000,
    "/heads": b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\nready",
    "/head": b"HTTP/1.1 200 OK\r\na: " + b"b" * 70_000 + b"\r\n\r\nready",
    "/old": b"ready",
    "/status": b"HTTP/1.1 99999 OK\r\n\r\nready",
    "/no status": b"HTTP/1.1 OK\r\n\r\nready",
    "/version": b"HTTP/9.9 200 OK\r\n\r\nready",
    "/nowhere": redirect(""),
    "/blank": redirect("/a b"),
    "/long": redirect("/" + "a" * 600),
    "/strokes": redirect("//127.0.0.1/"),
    "/octal": redirect("http://0177.0.0.1/"),
    "/decimal": redirect("http://2130706433/"),
    "/scheme": redirect("gopher://harbour.example/"),
    "/back": redirect("http:\\\\127.0.0.1\\"),
    "/two": b"HTTP/1.1 302 Found\r\nLocation: /ok\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n",
    "/ok": OK,
}
READ = frozenset(
    ["/negative", "/huge", "/word", "/more", "/continue", "/feeds", "/length and chunks", "/extension", "/large chunk",
     "/chunk/ffffffffffffffff"]
)  # fmt: skip
"""What is read as it was meant, or as far as it went."""


@pytest.mark.parametrize("path", LYING)
async def test_an_answer_that_lies_about_itself_ends_in_a_sentence_and_within_bounds(path: str) -> None:
    async with WebServer({key.replace(" ", "-"): answer for key, answer in LYING.items()}).running() as server:
        found = await look(server, path.replace(" ", "-"))
    assert len(found.text) < MOST_BYTES
    assert all(one.isprintable() and len(one) < 300 for one in (found.fault, found.barred))
    if path in READ:
        assert (200, "") == (found.status, found.fault + found.barred)
        assert found.text.startswith("ready")
    assert len(server.requests) <= 4


async def test_an_answer_of_single_bytes_is_read_and_its_head_understood_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte may be received by itself: what that takes must not grow with what has come before."""
    understood, parsed = list[int](), public_web.parsed

    def counted(content: bytes) -> HTTPResponse:
        understood.append(len(content))
        return parsed(content)

    monkeypatch.setattr(public_web, "parsed", counted)
    heard = 0

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        await reader.readuntil(b"\r\n\r\n")
        for one in b"HTTP/1.1 100 Continue\r\n\r\n" + DRIPPING:
            writer.write(bytes([one]))
            await writer.drain()
            await asyncio.sleep(0)
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"x")
                await writer.drain()
                heard += 1
                await asyncio.sleep(0)
        writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def resolve(_: str, __: int) -> Sequence[PublicEndpoint]:
        return [PublicEndpoint("127.0.0.1", port)]

    found = await PublicWeb((HOST,), resolve, patience=PATIENCE).look(f"http://{HOST}/", wants_text=True)
    assert (200, 20_000) == (found.status, len(found.text))
    assert heard
    assert 2 == len(understood)
    server.close()


async def test_an_endless_answer_is_read_to_its_bound() -> None:
    async with WebServer({"/": b"HTTP/1.1 200 OK\r\n\r\n"}, endless=b"x" * 8192).running() as server:
        found = await look(server, "/")
        assert 200 == found.status
        assert MOST_BYTES // 2 < len(found.text) < MOST_BYTES


async def test_an_endless_head_is_no_answer() -> None:
    async with WebServer({"/": b"HTTP/1.1 200 OK\r\n"}, endless=b"a: b\r\n" * 2000).running() as server:
        found = await look(server, "/")
        assert found.fault
        assert 0 == found.status


async def test_an_answer_that_never_comes_is_given_up() -> None:
    silent = asyncio.Event()

    async def wait(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await silent.wait()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def resolve(_: str, __: int) -> Sequence[PublicEndpoint]:
        return [PublicEndpoint("127.0.0.1", port)]

    found = await PublicWeb((HOST,), resolve, patience=0.05).look(f"http://{HOST}/", wants_text=False)
    assert "it took longer than" in found.fault
    silent.set()
    server.close()


@pytest.mark.parametrize(
    "ips", [["127.0.0.1"], ["1.1.1.1", "10.0.0.1"], ["::1"], ["::ffff:10.1.1.1"], ["169.254.169.254"], ["fe80::1%lo"]]
)
async def test_a_host_with_any_private_address_is_not_asked(ips: Sequence[str]) -> None:
    async def lookup(_: str, __: int) -> Sequence[str]:
        return ips

    private = next(ip for ip in ips if not is_public(ip))
    with pytest.raises(BarredAddress, match=f"{HOST} has the address {private}"):
        await public_endpoints(HOST, 80, lookup)


async def test_a_name_is_looked_up_once_and_the_connection_goes_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public at the first look and private at the second is asked at what it was at the first."""
    answers, connected = iter([["8.8.8.8"], ["127.0.0.1"]]), list[tuple[str, int]]()

    async def lookup(_: str, __: int) -> Sequence[str]:
        return next(answers)

    async def resolve(host: str, port: int) -> Sequence[PublicEndpoint]:
        return await public_endpoints(host, port, lookup)

    async def connect(ip: str, port: int, **_: object) -> None:
        connected.append((ip, port))
        raise ConnectionRefusedError("nobody is there")

    monkeypatch.setattr(asyncio, "open_connection", connect)
    door = PublicWeb(("*",), resolve)
    assert "nobody is there" in (await door.look("https://rebinding.example/", wants_text=False)).fault
    assert "127.0.0.1, which is not public" in (await door.look("https://rebinding.example/", wants_text=False)).barred
    assert [("8.8.8.8", 443)] == connected


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "2130706433", "0x7f000001", "127.1", "[::1]"])
async def test_the_door_as_it_is_used_refuses_this_machine(host: str) -> None:
    found = await PublicWeb(("*",)).look(f"http://{host}/", wants_text=True)
    assert found.barred
    assert (0, "") == (found.status, found.text)


async def test_only_hosts_that_a_person_has_named_are_asked(server: WebServer) -> None:
    assert not PublicWeb(()).may_ask(f"http://{HOST}/")
    assert web(server).may_ask(f"http://{HOST}/")
    assert not web(server).may_ask("http://elsewhere.example/")
    found = await web(server).look("http://elsewhere.example/ok", wants_text=True)
    assert "ANNALS_DREAM__HOSTS" in found.barred
    assert [] == server.requests


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """A certificate with the right name, which nobody that this machine trusts has signed."""
    key, signed = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-keyout", key, "-out", signed, "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(signed, key)
    return context


async def test_an_address_without_a_right_certificate_has_not_answered(certificate: ssl.SSLContext) -> None:
    async with WebServer(ANSWERS, secured=certificate).running() as server:
        found = await web(server).look(f"https://{HOST}/ok", wants_text=True)
        assert "CERTIFICATE_VERIFY_FAILED" in found.fault
        assert [] == server.requests
