"""The streams and buckets that this installation needs: made where they are missing, and left as they are otherwise."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import NamedTuple

from nats.js import JetStreamContext, api
from nats.js.errors import APIError, BucketNotFoundError, NotFoundError

from schemas.streams import BUCKETS, LOG, STREAMS, Bucket, Stream

STREAM_NAME_IN_USE = 10058
COPY = "LOG_COPY"
"""The copy of the log that an erasure makes, and deletes when it has ended."""


class HalfErased(ConnectionError):
    """An erasure was cut off, and the log may not be whole; says what ends it."""


async def refuse_half_erased(js: JetStreamContext) -> None:
    """Raise `HalfErased` where an erasure has not ended: what is written now would take positions of its facts."""
    try:
        await js.stream_info(COPY)
    except NotFoundError:
        return
    raise HalfErased(
        "an erasure of this log has not ended; wait until it has, or, where it was cut off, run the same "
        "`annals erase` again, which ends it"
    )


async def ensure(js: JetStreamContext) -> None:
    await refuse_half_erased(js)
    for stream in STREAMS:
        await _ensure_stream(js, stream)
    for bucket in BUCKETS:
        await _ensure_bucket(js, bucket)


class Log(NamedTuple):
    """The log as the broker has it."""

    created: datetime | None
    end: int
    """Its newest position."""


async def log(js: JetStreamContext) -> Log:
    """The log as it is now; one without an end where there is none."""
    try:
        info = await js.stream_info(LOG.name)
    except NotFoundError:
        return Log(None, 0)
    return Log(info.created, info.state.last_seq)


async def ensure_log(js: JetStreamContext) -> None:
    await _ensure_stream(js, LOG)


async def _ensure_stream(js: JetStreamContext, stream: Stream) -> None:
    try:
        await js.stream_info(stream.name)
    except NotFoundError:
        await _create(lambda: js.add_stream(_stream_config(stream)))


async def _ensure_bucket(js: JetStreamContext, bucket: Bucket) -> None:
    try:
        await js.object_store(bucket.name)
    except (BucketNotFoundError, NotFoundError):
        config = api.ObjectStoreConfig(
            bucket=bucket.name,
            description=bucket.description,
            ttl=bucket.max_age or None,
            storage=api.StorageType.FILE,
        )
        await _create(lambda: js.create_object_store(bucket.name, config=config))


async def _create(create: Callable[[], Awaitable[object]]) -> None:
    """Create; that another room was faster is as good."""
    try:
        await create()
    except APIError as error:
        if error.err_code != STREAM_NAME_IN_USE:
            raise


def _stream_config(stream: Stream) -> api.StreamConfig:
    return api.StreamConfig(
        name=stream.name,
        description=stream.description,
        subjects=list(stream.subjects),
        storage=api.StorageType.FILE,
        retention=api.RetentionPolicy.LIMITS,
        discard=api.DiscardPolicy.NEW if stream.immutable else api.DiscardPolicy.OLD,
        max_age=stream.max_age or None,
        duplicate_window=stream.duplicate_window,
        deny_delete=stream.immutable,
        deny_purge=stream.immutable,
        allow_direct=True,
        allow_atomic=True,
    )
