"""The grammar of `ctx_reduce`: numbers and ranges of tags."""

import re

MAX_TAGS = 1000
MAX_ECHO = 40
"""Characters of a wrong item that are said back."""

_ITEM = re.compile(r"\s*([0-9]{1,18})\s*(?:(-)\s*([0-9]{0,18})\s*)?", re.ASCII)


class BadRange(ValueError):
    """A text that names no tags; says what is wrong and what would be right."""


def parse_tags(text: str) -> tuple[int, ...]:
    """`3-5,8` as the sorted set of its numbers, at most 1,000 of them."""
    if not text.strip():
        raise BadRange('nothing is named: give tag numbers such as "3-5,8"')
    numbers: set[int] = set()
    for item in text.split(","):
        numbers |= _numbers(item)
        if len(numbers) > MAX_TAGS:
            raise BadRange(f"more than {MAX_TAGS} tags are named: ask for fewer at once")
    return tuple(sorted(numbers))


def _numbers(item: str) -> set[int]:
    found = _ITEM.fullmatch(item)
    if found is None or (found[2] and not found[3]):
        raise BadRange(f'{item.strip()[:MAX_ECHO]!r} is no tag number and no range: write "3", or "3-5"')
    first, last = int(found[1]), int(found[3] or found[1])
    if last < first:
        raise BadRange(f'the range {item.strip()!r} runs backwards: write "{last}-{first}"')
    if last - first >= MAX_TAGS:
        raise BadRange(f"the range {item.strip()!r} names more than {MAX_TAGS} tags: ask for fewer at once")
    return set(range(first, last + 1))
