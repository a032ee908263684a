"""The door to the web: one public address is asked, once, as somebody who is nobody.

A name is looked up once, all of its addresses have to be public, and the connection goes to one of those that were
looked up. Where an answer leads on, the same is done anew. Nothing of the environment takes part: no proxy, no
password, no cookie.
"""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from typing import NamedTuple, cast
from urllib.parse import urljoin

from services.domain.public_hosts import PublicWebAddress, is_named, is_public, web_address
from services.dreamer.core.verdicts import AddressLook

PATIENCE = 5.0
"""Seconds for an address, with all that it leads on to."""
LOOKUP_PATIENCE = 3.0
"""Seconds, among those for an address, to look up one name."""
MOST_BYTES = 64 * 1024
"""Of an answer, with its headers."""
MOST_REDIRECTS = 3
MOST_ENDPOINTS = 4
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEAD_END = b"\r\n\r\n"
_INTERIM = (b"HTTP/1.1 1", b"HTTP/1.0 1")
"""The beginning of an interim answer, which another one follows."""


class BarredAddress(ValueError):
    """An address that is not asked, as a sentence."""


class PublicEndpoint(NamedTuple):
    """The end of a connection: an IP address and a port."""

    ip: str
    port: int


Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a host. Raises `OSError` where it has none."""
Resolve = Callable[[str, int], Awaitable[Sequence[PublicEndpoint]]]
"""The function that finds the ends of a host.

Raises `BarredAddress` where one is not the public internet, and `OSError`.
"""


async def looked_up(host: str, port: int) -> Sequence[str]:
    """The IP addresses of a host, as this machine looks them up."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


async def public_endpoints(host: str, port: int, lookup: Lookup = looked_up) -> Sequence[PublicEndpoint]:
    """The ends at which a host is reached, if every one of its addresses is public."""
    async with asyncio.timeout(LOOKUP_PATIENCE):
        ips = [*dict.fromkeys(await lookup(host, port))]
    if private := next((ip for ip in ips if not is_public(ip)), ""):
        raise BarredAddress(f"{host} has the address {private}, which is not public")
    return [PublicEndpoint(ip, port) for ip in ips[:MOST_ENDPOINTS]]


class PublicWeb:
    """Asks addresses of the hosts that a person has named."""

    def __init__(
        self, hosts: tuple[str, ...], resolve: Resolve = public_endpoints, *, patience: float = PATIENCE
    ) -> None:
        """`patience`: seconds for an address, with all that it leads on to."""
        self._patience = patience
        self._hosts = tuple(host.lower() for host in hosts)
        self._resolve = resolve

    def may_ask(self, url: str) -> bool:
        """Whether the settings name the host of this address."""
        try:
            return is_named(web_address(url).host, self._hosts)
        except ValueError:
            return bool(self._hosts)

    async def look(self, url: str, *, wants_text: bool) -> AddressLook:
        """Ask an address. It never raises for what a host does."""
        try:
            async with asyncio.timeout(self._patience):
                return await self._followed(url, wants_text=wants_text)
        except BarredAddress as error:
            return AddressLook(barred=str(error))
        except TimeoutError:
            return AddressLook(fault=f"it took longer than {self._patience:g} s")
        except (OSError, HTTPException, ValueError, asyncio.IncompleteReadError) as error:
            fault = f"{type(error).__name__}: {error}"[:200]
            return AddressLook(fault="".join(one if one.isprintable() else " " for one in fault).strip())

    async def _followed(self, url: str, *, wants_text: bool) -> AddressLook:
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._asked(self._checked(url), wants_text=wants_text)
            location = answer.getheader("Location", "")
            if answer.status not in REDIRECTS or not location:
                return AddressLook(answer.status, _text_of(answer) if wants_text else "")
            url = urljoin(url, location)
        return AddressLook(fault=f"it leads on more than {MOST_REDIRECTS} times")

    def _checked(self, url: str) -> PublicWebAddress:
        try:
            address = web_address(url)
        except ValueError as error:
            raise BarredAddress(str(error)) from error
        if not is_named(address.host, self._hosts):
            raise BarredAddress(f"{address.host[:80]} is none of the hosts that ANNALS_DREAM__HOSTS names")
        return address

    async def _asked(self, address: PublicWebAddress, *, wants_text: bool) -> HTTPResponse:
        """The answer, of which the body is read as far as it is wanted."""
        endpoints = await self._resolve(address.host, address.port)
        reader, writer = await _connected(address, endpoints)
        try:
            writer.write(_request(address))
            await writer.drain()
            return await _answer(reader, wants_text=wants_text)
        finally:
            writer.transport.abort()


async def _connected(
    address: PublicWebAddress, endpoints: Sequence[PublicEndpoint]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first of these that takes one; its certificate has to be that of the host."""
    secured = ssl.create_default_context() if address.scheme == "https" else None
    failed: OSError = OSError(f"{address.host} has no address")
    for endpoint in endpoints:
        try:
            return await asyncio.open_connection(
                endpoint.ip, endpoint.port, ssl=secured, server_hostname=address.host if secured else None
            )
        except ssl.SSLError:
            raise
        except OSError as error:
            failed = error
    raise failed


def _request(address: PublicWebAddress) -> bytes:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return (
        f"GET {address.target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: annals\r\nAccept: */*\r\n"
        "Accept-Encoding: identity\r\nConnection: close\r\n\r\n"
    ).encode("ascii")


async def _answer(reader: asyncio.StreamReader, *, wants_text: bool) -> HTTPResponse:
    """An answer: the head, and with `wants_text` what follows, both together at most `MOST_BYTES`."""
    content, left = bytearray(), MOST_BYTES
    head: HTTPResponse | None = None
    begin = 0
    while not (head and (not wants_text or _is_whole(head, content, begin))):
        piece = await reader.read(left)
        if not piece:
            break
        before, left = max(0, len(content) - len(_HEAD_END)), left - len(piece)
        content += piece
        while head is None and (end := content.find(_HEAD_END, before)) >= 0:
            begin, before = end + len(_HEAD_END), 0
            if content.startswith(_INTERIM):
                del content[:begin]
            else:
                head = parsed(bytes(content[:begin]))  # once, however small the pieces are that come behind it
    return parsed(bytes(content))


def _is_whole(head: HTTPResponse, content: bytearray, begin: int) -> bool:
    """Whether a body, which begins there, has come to the end that its head names."""
    if head.length is not None:
        return len(content) - begin >= head.length
    return bool(head.chunked) and content.endswith(b"0\r\n\r\n")


def parsed(content: bytes) -> HTTPResponse:
    """The answer that these bytes begin with. Raises `HTTPException` where it is none."""
    answer = HTTPResponse(cast("socket.socket", _Received(content)))
    answer.begin()
    return answer


class _Received:
    """Bytes that were received, as the library reads a socket."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, _: str) -> io.BytesIO:
        return io.BytesIO(self._content)


def _text_of(answer: HTTPResponse) -> str:
    """The body as far as it was received, whatever its head or the sizes of its pieces say."""
    content = bytearray()
    with suppress(HTTPException, ValueError):
        while len(content) < MOST_BYTES and (piece := answer.read1(MOST_BYTES - len(content))):
            content += piece
    return content.decode(errors="replace")
