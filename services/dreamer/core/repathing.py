"""New paths in the text of a memory, where the desk would take that from the dreamer. All other words stay."""

from __future__ import annotations

import re
from collections.abc import Mapping

from services.domain.texts.risky import risk_of
from services.memory.book import Book
from services.memory.decide.context import LONGEST
from services.memory.decide.words import gate_verdict, rejecting
from services.memory.entry import Memory
from services.memory.keys import exact_key
from services.memory.policy import action_for

TRUST = "dreamer"
"""The trust of the desk in these commands."""


def with_paths(book: Book, memory: Memory, paths: Mapping[str, str], taken: set[str]) -> str:
    """The text with a new path in the place of each old one; empty: the desk would not take it.

    `taken`: the keys of texts that others get in the same run, to which this one is added.
    """
    if action_for(book.policy, TRUST) == "refused":
        return ""
    text = memory.text
    for old, new in paths.items():
        place = re.compile(rf"(?<![\w./-]){re.escape(old)}(?!/?[\w-]|\.\w)")
        text = new.join(place.split(text))
    text = text.strip()
    if text == memory.text.strip() or len(text) > LONGEST or risk_of(text):
        return ""
    key = exact_key(memory.memory_class, text)
    if key in taken or key in book.exact:
        return ""  # the two are for a merge, or for a person
    if rejecting(gate_verdict(text, memory.memory_class, TRUST), TRUST):
        return ""
    taken.add(key)
    return text
