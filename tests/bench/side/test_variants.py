"""Sessions that are played with other numbers of the engine: what a variant changes, and that nothing of it is left."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from services.domain import retention
from services.domain.limits import Limits
from tests.bench.side import variants
from tests.bench.side.left_out import TODAY, Figures
from tests.bench.side.recordings import shipped
from tests.bench.side.variants import ALONE, VARIANTS, Variant, played

WINDOW, OVERHEAD, MESSAGES = 20_000, 9_000, 12


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_names_numbers_that_the_engine_has_and_other_values_than_todays(name: str) -> None:
    variant, today = VARIANTS[name], Limits()
    changes = [(getattr(module, constant), value) for module, constant, value in variant.numbers]
    changes += [(getattr(today, setting), value) for setting, value in variant.limits.items()]
    assert all(before != value for before, value in changes)
    assert bool(changes) == (name != TODAY)
    msgspec.convert(variant.limits, Limits)


def test_numbers_are_as_before_when_a_session_was_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "VARIANTS", {"other": Variant(((retention, "TAIL", 1),))})
    before = retention.TAIL
    longest = shipped()[0]
    session = played(replace(longest, messages=longest.messages[:MESSAGES]), WINDOW, "other", OVERHEAD)
    assert session.steps
    assert before == retention.TAIL


def test_what_was_played_is_known_with_what_it_costs_alone(tmp_path: Path) -> None:
    lines = [
        Figures(repository="a", session="s", window=WINDOW, variant=ALONE, cost=100.0),
        Figures(repository="a", session="s", window=WINDOW, variant=TODAY, cost=80.0),
        Figures(repository="a", session="not played alone", window=WINDOW, variant=TODAY, cost=80.0),
    ]
    path = tmp_path / "variants.jsonl"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    assert [replace(lines[1], alone=100.0)] == variants.known(path)
