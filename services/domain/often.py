"""Numbers in sentences: how often something happened, and how many of a thing there are."""


def often(count: int) -> str:
    """`once`, or a number of times: `0 times`, `2 times`."""
    return "once" if count == 1 else f"{count:,} times"


def quantity(count: int, thing: str, things: str = "") -> str:
    """A number with its noun: `1 row`, `2 rows`; `things`: the plural, where it is not `thing` with an s."""
    return f"{count:,} {thing if count == 1 else things or f'{thing}s'}"
