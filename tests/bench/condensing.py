"""A model that is none: it answers what the historian asks with the beginnings of the lines that it was sent."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from services.domain.texts.bounds import beginning, flat
from services.domain.transcript.names import names
from tests.harness.provider import Reply, Request, Script

SECTION = 6_000
"""Bytes of a transcript after which a compartment ends where a person speaks next ..."""
LONG_SECTION = 16_000
"""... or anywhere."""
SHARE = 0.3
"""Of the transcript: what the fullest tier has."""
LEAST, ROOMS = 160, (1_200, 400, 140, 70)
"""Characters of the tiers."""
LINE = {"U": 240, "A": 160, "S": 80, "TC": 60}
"""Characters of a line that stay, by its author."""
ANCHORS = 3
_FENCED = re.compile(r"<transcript-(\w+)>\n(.*)\n</transcript-\1>", re.DOTALL)
_HEAD = re.compile(r"^\[(\d+)(?:-(\d+))?\] ([UAS]):", re.MULTILINE)
_COMMITS = re.compile(r"^commits: (.+)$|(?<=: )commits: (.+)$", re.MULTILINE)


class Block(msgspec.Struct, frozen=True):
    """What one side says in neighbouring messages."""

    first: int
    last: int
    speaker: str
    text: str


class Condensing(Script):
    """As many summaries as it is asked for. `delay`: seconds before each."""

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__()
        self.delay = delay

    def take(self, request: Request) -> Reply:
        return Reply(text=condensed(request.texts[-1]), delay=self.delay)


def condensed(prompt: str) -> str:
    """The answer to a question for a summary, as JSON."""
    fenced = _FENCED.search(prompt)
    if fenced is None:
        raise ValueError("there is no transcript in this prompt")
    compartments = [_compartment(section) for section in _sections(list(blocks(fenced[2])))]
    return json.dumps({"compartments": compartments, "unprocessed_from": None})


def blocks(transcript: str) -> Iterator[Block]:
    """A transcript by its `[3-5] A:`."""
    heads = list(_HEAD.finditer(transcript))
    ends = [*(head.start() for head in heads[1:]), len(transcript)]
    for head, end in zip(heads, ends, strict=True):
        yield Block(int(head[1]), int(head[2] or head[1]), head[3], transcript[head.end() : end].strip())


def _sections(found: Sequence[Block]) -> Iterator[list[Block]]:
    section: list[Block] = []
    size = 0
    for one in found:
        if section and (size >= LONG_SECTION or (size >= SECTION and one.speaker == "U")):
            yield section
            section, size = [], 0
        section.append(one)
        size += len(one.text)
    if section:
        yield section


def _compartment(section: Sequence[Block]) -> dict[str, object]:
    lines = [line for one in section for line in _lines(one)]
    place = f"{section[0].first}-{section[-1].last}"
    title = next((text for side, text in lines if side == "U"), lines[0][1] if lines else "")
    anchors = _anchors(section)
    room = int(sum(len(one.text) for one in section) * SHARE)
    tiers = [_tier(lines, max(LEAST, min(most, room)), place, anchors) for most in ROOMS]
    for number in range(1, len(tiers)):
        tiers[number] = min(tiers[number - 1 : number + 1], key=len)
    return {
        "start": section[0].first,
        "end": section[-1].last,
        "title": beginning(title, 100) or place,
        "importance": 50,
        "anchors": anchors,
        **{f"p{number}": text for number, text in enumerate(tiers, 1)},
    }


def _lines(block: Block) -> Iterator[tuple[str, str]]:
    """Its lines, each with who says it, cut."""
    for line in filter(None, map(flat, block.text.splitlines())):
        side = "TC" if line.startswith("TC:") else block.speaker
        yield side, beginning(line, LINE[side])


def _tier(lines: Sequence[tuple[str, str]], most: int, place: str, anchors: Sequence[str]) -> str:
    """As many lines as there is room for: a person's before the agent's, and those before calls; in their order."""
    closing = f" ({', '.join(anchors)})" if anchors else ""
    room = most - len(place) - len(closing)
    stays: set[int] = set()
    for side in LINE:
        for number, (other, line) in enumerate(lines):
            if other == side and len(line) + 4 <= room:
                stays.add(number)
                room -= len(line) + 4
    rendered = "\n".join(
        f"{side}: {line}" if side == "U" else line for number, (side, line) in enumerate(lines) if number in stays
    )
    return f"{place} {rendered}{closing}"


def _anchors(section: Sequence[Block]) -> list[str]:
    """Commits that are listed there, then names in the order in which they come."""
    hashes = [one[:7] for block in section for found in _COMMITS.finditer(block.text) for one in _split(found)]
    named = [name for block in section for name in names(block.text) if len(name) <= 40]
    return list(dict.fromkeys((*hashes, *named)))[:ANCHORS]


def _split(found: "re.Match[str]") -> Iterable[str]:
    return (found[1] or found[2]).split(", ")
