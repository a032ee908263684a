"""The door to tenacity: patience inside one attempt, for what passes by itself."""

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_exponential_jitter


def retrying(*errors: type[Exception], seconds: float, first: float = 0.02, most: float = 0.5) -> AsyncRetrying:
    """Try again on these errors, a little later each time, for so many seconds; then the last error is raised."""
    return AsyncRetrying(
        retry=retry_if_exception_type(errors),
        wait=wait_exponential_jitter(multiplier=first, max=most, jitter=first),
        stop=stop_after_delay(seconds),
        reraise=True,
    )
