"""Who a person is: what git says where they stand, as a digest with a key that lies in the data directory."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from services.kit.person import FILE, KEY_BYTES, NO_CREDENTIALS, UNREAD, NoPerson, person_at, why_off
from services.settings import Commits, Nats, Settings
from tests.helpers.repositories import Checkout


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory without settings of git."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return place


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


def checkout(folder: Path, address: str = "") -> str:
    made = Checkout(folder)
    if address:
        made.git("config", "user.email", address)
    return str(folder)


async def test_the_same_address_is_one_person_in_every_directory_and_another_one_is_another(
    tmp_path: Path, settings: Settings, home: Path
) -> None:
    (home / ".gitconfig").write_text("[user]\n\temail = Ada@Example.org\n")
    plain = tmp_path / "plain"
    plain.mkdir()
    here = await person_at(checkout(tmp_path / "shop"), settings)
    assert here == await person_at(str(plain), settings)
    assert here == await person_at(checkout(tmp_path / "other", "ada@example.org"), settings)
    work = await person_at(checkout(tmp_path / "work", "ada@work.example"), settings)
    assert here != work
    assert not any(word in here for word in ("ada@", "example"))


async def test_another_installation_has_another_digest_for_the_same_address(tmp_path: Path, settings: Settings) -> None:
    here = checkout(tmp_path / "shop", "ada@example.org")
    digests = {await person_at(here, replace(settings, data=tmp_path / name)) for name in ("one", "two")}
    assert 2 == len(digests)


async def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path, settings: Settings) -> None:
    here = checkout(tmp_path / "shop", "ada@example.org")
    assert 1 == len({*await asyncio.gather(*(person_at(here, settings) for _ in range(8)))})
    assert [FILE] == [path.name for path in settings.data.iterdir()]
    path = settings.data / FILE
    assert (0o600, KEY_BYTES) == (path.stat().st_mode & 0o777, path.stat().st_size)
    path.write_bytes(b"short")
    with pytest.raises(NoPerson, match=f"delete {FILE}"):
        await person_at(here, settings)
    path.unlink()
    path.mkdir()
    with pytest.raises(NoPerson, match="cannot be read"):
        await person_at(here, settings)


@pytest.mark.parametrize(
    "address", ["", "ada", "@", "a b@example.org", "ada@example.org\neve@example.org", "x" * 4_000]
)
async def test_without_an_address_nobody_is_known(tmp_path: Path, settings: Settings, address: str) -> None:
    with pytest.raises(NoPerson, match=r"git config --global user\.email"):
        await person_at(checkout(tmp_path / "shop", address), settings)
    assert not settings.data.exists(), "a key is made only where there is somebody"


@pytest.mark.parametrize("directory", ["", ".", "shop", "/nowhere/at/all", "/dev/null", "/a\0b", "/" + "x" * 5_000])
async def test_a_directory_that_cannot_be_read_has_nobody(settings: Settings, directory: str) -> None:
    with pytest.raises(NoPerson):
        await person_at(directory, settings)


@pytest.mark.parametrize(
    ("url", "checkouts", "reason"),
    [
        ("", True, ""),
        ("nats://127.0.0.1:4222", True, ""),
        ("nats://localhost:4222", True, ""),
        ("nats://user:secret@[::1]:4222", True, ""),
        ("", False, UNREAD),
        ("nats://nats:4222", False, NO_CREDENTIALS),
        ("nats://10.0.0.7:4222", True, NO_CREDENTIALS),
        ("nats://[broken", True, NO_CREDENTIALS),
        ("nothing", True, NO_CREDENTIALS),
    ],
)
async def test_in_a_team_there_are_no_profiles(tmp_path: Path, url: str, *, checkouts: bool, reason: str) -> None:
    settings = Settings(data=tmp_path, nats=Nats(url=url), commits=Commits(checkouts=checkouts))
    assert reason == why_off(settings)
    if reason:
        with pytest.raises(NoPerson, match="profiles are off"):
            await person_at(str(tmp_path), settings)
        assert not (tmp_path / FILE).exists()
