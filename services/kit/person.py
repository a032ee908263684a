"""The person who works in a directory: git's e-mail address, as a digest that only this installation can make.

The service reads it itself, so that no harness can claim to be somebody. The address is stored nowhere: the log has the
digest, and its key lies in the data directory, so that nobody who reads the log alone can try addresses.
"""

import ipaddress
import os
import re
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit

from services.kit.files import OWNERS, write_whole
from services.kit.git import GitFailed, environment, git
from services.settings import Settings

FILE = "profile.key"
"""In the data directory: the key of the digests. Without it every profile begins anew."""
KEY_BYTES, DIGEST_BYTES = 32, 16
PREFIX = "person-"
PATIENCE = 2.0
"""Seconds that git may take."""
NO_CREDENTIALS = (
    "profiles are off in a team: its people share the credentials of harnesses, so that a session is not known to be "
    "one person's; they stay off until each person has a credential of their own"
)
UNREAD = (
    "the service reads no directories of harnesses (ANNALS_COMMITS__CHECKOUTS), so that it cannot see who works in "
    "them: profiles are off"
)
_ADDRESS = re.compile(r"[^\s@\x00-\x1f\x7f]{1,128}@[^\s@\x00-\x1f\x7f]{1,255}")


class NoPerson(LookupError):
    """Nobody is known in a directory; says why, as the end of a sentence."""


def why_off(settings: Settings) -> str:
    """The reason why there are no profiles; empty: there are, on one machine whose directories it reads."""
    if not _is_local(settings.nats.url):
        return NO_CREDENTIALS
    return "" if settings.commits.checkouts else UNREAD


def _is_local(url: str) -> bool:
    """Whether a broker is the embedded one, which has no address here or is reached on this machine alone."""
    if not url:
        return True
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def person_at(directory: str, settings: Settings) -> str:
    """The digest of the person who works in a directory. Raises `NoPerson`."""
    if reason := why_off(settings):
        raise NoPerson(reason)
    address = await _address(Path(directory))
    try:
        key = _key(settings.data / FILE)
    except OSError as error:
        raise NoPerson(
            f"the key of profiles cannot be read ({error.strerror or type(error).__name__}): see that {FILE} in the "
            "data directory can be read and written"
        ) from error
    return f"{PREFIX}{blake2b(address.casefold().encode(), key=key, digest_size=DIGEST_BYTES).hexdigest()}"


async def _address(directory: Path) -> str:
    """The e-mail address that git has in a directory. Raises `NoPerson`."""
    unset = (
        "git has no e-mail address here, so that nobody knows whose profile it is: "
        "set one with `git config --global user.email`"
    )
    if not directory.is_absolute():
        raise NoPerson("the directory must be named from the root on")
    try:
        found = await git(directory, environment(os.environ), "config", "--get", "user.email", patience=PATIENCE)
    except GitFailed as error:
        raise NoPerson(unset if error.status == 1 else "git does not return the e-mail address here") from error
    except (OSError, ValueError) as error:
        raise NoPerson("the service cannot read this directory, or git is missing") from error
    address = found.decode(errors="replace").strip()
    if not _ADDRESS.fullmatch(address):
        raise NoPerson(unset.replace("no e-mail address", "a `user.email` that is no e-mail address"))
    return address


def _key(path: Path) -> bytes:
    """The key, which is made where it is missing: by whichever process comes first. Raises `NoPerson`, `OSError`."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        write_whole(draft, secrets.token_bytes(KEY_BYTES), mode=OWNERS, durable=True)
        try:
            with suppress(FileExistsError):
                os.link(draft, path)
        finally:
            draft.unlink()
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise NoPerson(f"the key of profiles is spoilt: delete {FILE} in the data directory, and profiles begin anew")
    return key
