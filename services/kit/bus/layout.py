"""The streams and buckets that this installation needs: made where they are missing, and left as they are otherwise."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import NamedTuple

from nats.errors import Error as NatsError
from nats.js import JetStreamContext, api
from nats.js.errors import APIError, BucketNotFoundError, NotFoundError

from schemas.streams import BUCKETS, LOG, STREAMS, Bucket, Stream
from services.kit.logs import logger

STREAM_NAME_IN_USE = 10058


async def ensure(js: JetStreamContext) -> None:
    for stream in STREAMS:
        await _ensure_stream(js, stream)
    for bucket in BUCKETS:
        await _ensure_bucket(js, bucket)


class Log(NamedTuple):
    """What tells the log from another one in its place."""

    created: datetime | None
    end: int
    """Its newest position, which never goes back."""


async def log(js: JetStreamContext) -> Log:
    """The log as it is now. Raises `NotFoundError` where there is none."""
    info = await js.stream_info(LOG.name)
    return Log(info.created, info.state.last_seq)


async def is_another(js: JetStreamContext, before: Log) -> bool:
    """Whether the broker has another log by now: what is known of the one before must not go into it."""
    try:
        now = await log(js)
    except NotFoundError:
        now = Log(None, 0)
    except (NatsError, TimeoutError) as error:
        logger().warning("it was not seen which log the broker has", reason=str(error) or type(error).__name__)
        return False
    if now.created == before.created and now.end >= before.end:
        return False
    logger().error("the broker has another log than before", before=before, now=now)
    return True


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
