"""Memories that say nearly the same, found as they come: of thousands only those that are new are compared."""

from collections.abc import Iterable, Iterator

from services.domain.texts.sentences import words
from services.memory.entry import Memory
from services.memory.rendering import are_twins, bits_of, rarest


class TwinPairs:
    """The active memories, each with all others that say nearly the same. Which of two is stronger is asked later.

    A memory that comes is compared with those that share one of its rarest words, or one of whose rarest words it has:
    see `services.memory.rendering.Twins`.
    """

    def __init__(self) -> None:
        self.compared = 0
        """Memories that were looked for among the others."""
        self._texts: dict[str, str] = {}
        """Memory -> its text, of the active ones."""
        self._words: dict[str, frozenset[str]] = {}
        self._which: dict[str, int] = {}
        """Memory -> its words as the bits of a number: that many texts are compared quickly."""
        self._bits: dict[str, int] = {}
        self._by_word: dict[str, set[str]] = {}
        self._by_rare: dict[str, set[str]] = {}
        self._rare: dict[str, tuple[str, ...]] = {}
        self._near: dict[str, set[str]] = {}
        """Memory -> those that say nearly the same; without those of which there are none."""

    def __len__(self) -> int:
        return len(self._texts)

    def update(self, gone: Iterable[str], changed: Iterable[Memory]) -> None:
        """Take out these memories, and take in those that came or are others now."""
        for name in gone:
            self._remove(name)
        for one in changed:
            if one.is_active and self._texts.get(one.id) == one.text:
                continue
            self._remove(one.id)
            if one.is_active:
                self._add(one)

    def among(self, strongest: Iterable[Memory]) -> Iterator[tuple[Memory, Memory]]:
        """Memories that are nearly the same as one before them, each with that one."""
        stronger: dict[str, tuple[int, Memory]] = {}
        for at, one in enumerate(strongest):
            near = self._near.get(one.id, ())
            before = min((stronger[name][0] for name in near if name in stronger), default=-1)
            if before >= 0:
                yield one, next(stronger[name][1] for name in near if name in stronger and stronger[name][0] == before)
            elif near:
                stronger[one.id] = at, one

    def _add(self, one: Memory) -> None:
        name, text_words = one.id, words(one.text)
        which = bits_of(text_words, self._bits)
        rare = tuple(rarest(text_words, self._by_word))
        self.compared += 1
        candidates = {other for word in rare for other in self._by_word.get(word, ())}
        candidates.update(other for word in text_words for other in self._by_rare.get(word, ()))
        for other in candidates:
            common = (which & self._which[other]).bit_count()
            if are_twins(len(text_words), len(self._words[other]), common):
                self._near.setdefault(name, set()).add(other)
                self._near.setdefault(other, set()).add(name)
        self._texts[name], self._words[name], self._which[name], self._rare[name] = one.text, text_words, which, rare
        for word in text_words:
            self._by_word.setdefault(word, set()).add(name)
        for word in rare:
            self._by_rare.setdefault(word, set()).add(name)

    def _remove(self, name: str) -> None:
        if self._texts.pop(name, None) is None:
            return
        del self._which[name]
        for word in self._words.pop(name):
            _discard(self._by_word, word, name)
        for word in self._rare.pop(name):
            _discard(self._by_rare, word, name)
        for other in self._near.pop(name, ()):
            _discard(self._near, other, name)


def _discard(found: dict[str, set[str]], key: str, name: str) -> None:
    """Take a name out of a set, and the set where nothing is left in it."""
    found[key].discard(name)
    if not found[key]:
        del found[key]
