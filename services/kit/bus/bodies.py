"""Long bodies, stored by the sha256 of their content."""

import asyncio
import hashlib

from nats.errors import Error as NatsError
from nats.js.errors import (
    BadObjectMetaError,
    DigestMismatchError,
    LinkIsABucketError,
    NotFoundError,
    ObjectNotFoundError,
)

from schemas.streams import Bucket
from services.kit.bus.connection import Bus, Unreachable, why_not_stored

PATIENCE = 30.0
"""Seconds within which a body must have come."""
SPOILT = (BadObjectMetaError, DigestMismatchError, LinkIsABucketError, UnicodeDecodeError)


class Missing(LookupError):
    """A body that the bucket does not hold (any more)."""


class Bodies:
    """One bucket. A body that is there already is not stored again."""

    def __init__(self, bus: Bus, bucket: Bucket) -> None:
        self._bus = bus
        self._bucket = bucket

    async def put(self, text: str) -> str:
        """Keep a text; its reference."""
        body = text.encode()
        reference = hashlib.sha256(body).hexdigest()
        try:
            store = await self._bus.js.object_store(self._bucket.name)
            try:
                await store.get_info(reference)
            except (ObjectNotFoundError, NotFoundError):
                await store.put(reference, body)
        except NatsError as error:
            raise Unreachable(f"a body could not be stored: {why_not_stored(error)}") from error
        return reference

    async def get(self, reference: str) -> str:
        """The text of a reference."""
        try:
            store = await self._bus.js.object_store(self._bucket.name)
            async with asyncio.timeout(PATIENCE):  # a body whose pieces have expired would be waited for without end
                result = await store.get(reference)
            return (result.data or b"").decode()
        except (ObjectNotFoundError, NotFoundError) as error:
            raise Missing(f"the bucket {self._bucket.name} has no body {reference}; it may have expired") from error
        except SPOILT as error:
            raise Missing(f"the body {reference} in the bucket {self._bucket.name} is spoilt: {error}") from error
        except NatsError as error:
            raise Unreachable(f"a body could not be read: {str(error) or type(error).__name__}") from error
        except TimeoutError as error:
            raise TimeoutError(f"the body {reference} did not come within {PATIENCE} s") from error
