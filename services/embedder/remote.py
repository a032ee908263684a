"""A remote model behind an endpoint as OpenAI's: texts go there, vectors come back, in the order of their places."""

import asyncio
import json
import os
import socket
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import httpx2 as httpx
import msgspec
import numpy as np

from schemas.asks import EmbeddedText, Probed
from services.embedder.core.guards import BadPlace, WebAddress, address_of, place_of
from services.settings import Embed

CHARACTERS = 3
"""Of a text for each token that the model takes: what is longer is cut."""
FILLED = 0.9
PREVIEW = 240
"""Characters of an answer that are shown to a person."""
PROBE_TIMEOUT = 10.0
MOST_OF_VECTOR = 256 * 1024
"""Bytes of an answer for each text: eight thousand numbers, as long as anybody writes them."""
MOST_AROUND = 64 * 1024
"""Bytes of an answer for all that is around the vectors."""


class RemoteFailure(RuntimeError):
    """The model has not answered as it should; a person sees `status`, and the message is the reason."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Item(msgspec.Struct, frozen=True):
    index: int
    embedding: tuple[float, ...]


class _Answer(msgspec.Struct, frozen=True):
    data: tuple[_Item, ...]


_answers = msgspec.json.Decoder(_Answer)


def identity_of(settings: Embed) -> str:
    """Names the model: vectors of one name can be compared. It holds whether there is a key, and not which."""
    known = [settings.url, settings.model, bool(_key(settings)), settings.dimensions, settings.text_type]
    return f"remote-{sha256(json.dumps(known).encode()).hexdigest()[:16]}"


def _key(settings: Embed) -> str:
    return settings.key.get_secret_value() or os.environ.get(settings.key_variable, "")


class RemoteModel:
    """The model of these settings. Its place is looked up once, so that it cannot be moved meanwhile."""

    def __init__(self, settings: Embed) -> None:
        self._settings = settings
        self._client: httpx.AsyncClient | None = None
        self._connecting = asyncio.Lock()

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> list[EmbeddedText]:
        """Each text's vector. Raises `RemoteFailure`."""
        answer = await self._asked(texts, self._settings.query_type if is_query else self._settings.text_type)
        vectors = _in_order(answer, len(texts))
        return [EmbeddedText(vector=_normed(vector)) for vector in vectors]

    async def probe(self) -> Probed:
        """The model's answer to a short text, for a person."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT):
                answer = await self._asked(("annals",), self._settings.text_type)
            (vector,) = _in_order(answer, 1)
            _normed(vector)
        except BadPlace as error:
            return Probed("invalid_scheme", str(error))
        except TimeoutError:
            return Probed("timeout", f"no answer within {PROBE_TIMEOUT:g} s")
        except RemoteFailure as error:
            return Probed(error.status, str(error))
        return Probed("ok", dimensions=len(vector))

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _asked(self, texts: Sequence[str], kind: str) -> bytes:
        settings = self._settings
        most = int(settings.max_tokens * FILLED * CHARACTERS)
        body: dict[str, Any] = {"model": settings.model, "input": [text[:most] or " " for text in texts]}
        body |= {"dimensions": settings.dimensions} if settings.dimensions else {}
        body |= {"input_type": kind} if kind else {}
        client = await self._connected()
        try:
            async with asyncio.timeout(settings.timeout), client.stream("POST", "embeddings", json=body) as answer:
                content = await _read(answer, MOST_AROUND + MOST_OF_VECTOR * len(texts))
        except (httpx.TimeoutException, TimeoutError) as error:
            raise RemoteFailure("timeout", f"no answer within {settings.timeout:g} s") from error
        except httpx.HTTPError as error:
            raise RemoteFailure("network_error", str(error) or type(error).__name__) from error
        if answer.status_code in {401, 403}:
            raise RemoteFailure("auth_failed", f"HTTP {answer.status_code}: set ANNALS_EMBED__KEY; {_preview(content)}")
        if answer.status_code in {404, 405}:
            raise RemoteFailure("endpoint_unsupported", f"HTTP {answer.status_code}: {_preview(content)}")
        if answer.status_code != httpx.codes.OK:
            raise RemoteFailure("http_error", f"HTTP {answer.status_code}: {_preview(content)}")
        return content

    async def _connected(self) -> httpx.AsyncClient:
        async with self._connecting:
            if self._client is None:
                place = place_of(self._settings.url)
                address = await _looked_up(place)
                key = _key(self._settings)
                self._client = httpx.AsyncClient(
                    base_url=self._settings.url.rstrip("/") + "/",
                    timeout=self._settings.timeout,
                    headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {key}"} if key else {})},
                    transport=_Pinned(place, address),
                    follow_redirects=False,
                    trust_env=False,
                )
        return self._client


class _Pinned(httpx.AsyncHTTPTransport):
    """Connects to one address only, whatever its name means by now."""

    def __init__(self, place: WebAddress, address: str) -> None:
        super().__init__()
        self._host, self._address = place[1], address

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != self._host:
            raise httpx.ConnectError(f"{request.url.host} is not {self._host}", request=request)
        request.extensions = {**request.extensions, "sni_hostname": self._host}
        request.url = request.url.copy_with(host=self._address)
        return await super().handle_async_request(request)


async def _looked_up(place: WebAddress) -> str:
    _, host, port = place
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise RemoteFailure("network_error", f"{host} cannot be found: {error}") from error
    return address_of(host, [str(one[4][0]) for one in found])


async def _read(answer: httpx.Response, most: int) -> bytes:
    """The body of a reply, as it comes and no more of it: no compression was asked for. Raises `RemoteFailure`."""
    if (packed := answer.headers.get("Content-Encoding", "identity")) != "identity":
        raise RemoteFailure(
            "endpoint_unsupported", f"the answer is packed with {packed[:PREVIEW]!a}, which nobody asked for"
        )
    content = bytearray()
    async for piece in answer.aiter_raw():
        content += piece
        if len(content) > most:
            raise RemoteFailure(
                "http_error", f"the answer has more than {most} bytes, which no vectors of these texts take"
            )
    return bytes(content)


def _in_order(answer: bytes, count: int) -> list[tuple[float, ...]]:
    """The vectors by their places: some answer in another order. Raises `RemoteFailure` where one is missing or odd."""
    try:
        items = _answers.decode(answer).data
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RemoteFailure("endpoint_unsupported", f"the answer holds no vectors: {_preview(answer)}") from error
    by_place = {item.index: item.embedding for item in items}
    if sorted(by_place) != list(range(count)) or len(items) != count:
        raise RemoteFailure("http_error", f"{count} texts were sent, and {len(items)} vectors came back")
    vectors = [by_place[place] for place in range(count)]
    if len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise RemoteFailure("http_error", "the vectors that came back have different lengths")
    return vectors


def _normed(vector: Sequence[float]) -> bytes:
    values = np.array(vector, np.float64)
    length = float(np.linalg.norm(values))
    if not np.isfinite(length) or not length:
        raise RemoteFailure("http_error", "a vector that came back says nothing: its length is no positive number")
    return (values / length).astype("<f4").tobytes()


def _preview(content: bytes) -> str:
    return " ".join(content.decode(errors="replace").split())[:PREVIEW]
