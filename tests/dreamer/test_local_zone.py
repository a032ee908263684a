"""The time zone of the machine, in which slots are where nobody sets one."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import TZPATH

import pytest
from structlog.testing import capture_logs

from services.dreamer import worker

SUMMER, WINTER = datetime(2026, 7, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 12, tzinfo=UTC)
OF_BERLIN = [timedelta(hours=2), timedelta(hours=1)]


def offsets() -> list[timedelta | None]:
    zone = worker.local_zone()
    return [moment.astimezone(zone).utcoffset() for moment in (SUMMER, WINTER)]


def file_of(name: str) -> Path:
    """The file of a time zone, as systems link to one."""
    found = [path for folder in TZPATH if (path := Path(folder) / name).is_file()]
    if found:
        return found[0]
    tzdata = pytest.importorskip("tzdata", reason="this machine has no files of time zones")
    return Path(str(tzdata.__file__)).parent / "zoneinfo" / name


@pytest.mark.parametrize("named", ["Europe/Berlin", ":Europe/Berlin"])
def test_the_variable_names_a_zone(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", named)
    assert OF_BERLIN == offsets()


@pytest.mark.parametrize("begin", ["", ":"])
def test_the_variable_names_the_file_of_a_zone(begin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", f"{begin}{file_of('Europe/Berlin')}")
    assert OF_BERLIN == offsets()


def test_without_the_variable_it_is_the_zone_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(worker, "SYSTEM_ZONE", str(file_of("Europe/Berlin")))
    assert OF_BERLIN == offsets()


def test_a_system_without_a_zone_is_in_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(worker, "SYSTEM_ZONE", str(tmp_path / "localtime"))
    with capture_logs() as lines:
        assert [timedelta(0)] * 2 == offsets()
    assert not lines


@pytest.mark.parametrize("named", ["CET-1CEST", "Europe/Nowhere", "../Berlin", "/no/such/file", "Europe"])
def test_what_is_no_zone_is_reported_and_counts_as_utc(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", named)
    with capture_logs() as lines:
        assert [timedelta(0)] * 2 == offsets()
    (line,) = lines
    assert "ANNALS_DREAM__ZONE" in line["remedy"]
