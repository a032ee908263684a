"""The three tiers, each of them the one before it and more."""

from collections.abc import Callable

from services.plan.text_compression import rules
from services.plan.text_compression.regions import mask, unmask

LITE, FULL, ULTRA = 1, 2, 3

_RULES: dict[int, tuple[Callable[[str], str], ...]] = {
    LITE: (rules.without_needless_words, rules.with_short_phrases),
    FULL: (rules.without_auxiliaries, rules.without_articles),
    ULTRA: (rules.with_symbols, rules.with_abbreviations),
}


def compress(text: str, depth: int) -> str:
    """The pristine text at this depth: the same for ever, whatever depth it was served at before."""
    masked, regions = mask(text)
    for tier, worked in _RULES.items():
        if tier <= depth:
            for rule in worked:
                masked = rule(masked)
    return unmask(rules.tidy(masked), regions)
