"""Sentences of agents, of summaries and of documents in recordings of other projects, by the ids of their words."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.domain.texts.bounds import flat
from services.domain.texts.own import unquoted_lines
from services.domain.texts.paragraphs import paragraphs
from services.domain.texts.sentences import is_informative, split
from tests.helpers.session_candidates import name_of

LONGEST_MESSAGE, SUMMARY = 12_000, 4_000
"""Characters of a text that are read, and of a user's message from which on it counts as a summary."""
_DOCUMENT = re.compile(r"AGENTS|CLAUDE|README|CONTRIBUTING|docs?/|DESIGN|ARCHITECTURE|\.md")
_LINE_NUMBER = re.compile(r"^\s*\d+[\u2192|:\t] ?", re.MULTILINE)
_TAG = re.compile(r"<[^>]*>")


def recorded_sentences(paths: list[Path]) -> dict[str, str]:
    """Each sentence of these recordings by its id, over the project and the words."""
    return {
        name_of(path.name.split("__")[0], sentence): sentence
        for path in paths
        for line in gzip.open(path, "rt", encoding="utf-8")
        for message in json.loads(line)["messages"]
        for part in message["parts"]
        for sentence in _sentences(_text_of(part, message["role"]))
    }


def _text_of(part: dict[str, Any], role: str) -> str:
    kind, text = part.get("type"), part.get("text") or ""
    if kind == "compaction" or (role == "user" and len(text) > SUMMARY):
        return str(part.get("summary") or text)
    if kind == "text" and role == "assistant":
        return str(text)
    is_reading = kind == "tool" and "read" in part["name"].lower()
    if not is_reading or not _DOCUMENT.search(json.dumps(part.get("input") or "")):
        return ""
    output = part.get("output") or ""
    return _TAG.sub("", _LINE_NUMBER.sub("", output if isinstance(output, str) else json.dumps(output)))


def _sentences(text: str) -> Iterator[str]:
    for paragraph in paragraphs("\n".join(unquoted_lines(text[:LONGEST_MESSAGE]))):
        for item in paragraph.items:
            yield from (flat(sentence) for sentence in split(item) if is_informative(sentence))
