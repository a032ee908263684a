"""How often something happened, in words."""


def often(count: int) -> str:
    """`once`, or a number of times: `0 times`, `2 times`."""
    return "once" if count == 1 else f"{count:,} times"
