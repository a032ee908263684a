"""The fullest tier of a compartment with some of its lines left out, where it is too long to be shown whole."""

from services.domain.transcript.labels import is_settled

LEAST = 1_300
"""Bytes of a fullest tier that need no shortening: about what one has on average."""


def shortened(full: str, brief: str, most: int) -> str:
    """At most `most` bytes, but at least LEAST, and never less than the next tier.

    What the user wrote comes first, then what was decided and what is open, then what was done, then what was said,
    from the end on: that tells how it stands.
    """
    room = max(most, LEAST, len(brief.encode()))
    if len(full.encode()) <= room:
        return full
    lines = full.splitlines()
    kept: set[int] = set()
    for at in sorted(range(len(lines)), key=lambda at: (_rank(lines[at], at), at)):
        cost = len(lines[at].encode()) + 1
        if cost <= room:
            kept.add(at)
            room -= cost
    text = "\n".join(lines[at] for at in sorted(kept))
    return text if len(text.encode()) >= len(brief.encode()) else brief


def _rank(line: str, at: int) -> tuple[int, int]:
    if line.startswith("U: ") or not at:
        return 0, 0
    if is_settled(line):
        return 1, 0
    if not line.lstrip().startswith("- "):
        return 2, 0
    return 3, -at
