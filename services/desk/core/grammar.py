"""The grammar of `ctx_reduce`: numbers and ranges of tags."""

from services.domain.ranges import BadRange, ends_of

MAX_TAGS = 1000


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
    first, last = ends_of(item, 'is no tag number and no range: write "3", or "3-5"')
    if last - first >= MAX_TAGS:
        raise BadRange(f"the range {item.strip()!r} names more than {MAX_TAGS} tags: ask for fewer at once")
    return set(range(first, last + 1))
