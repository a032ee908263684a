"""Guards of a remote model's address: no password in it, and no address that only a cloud's machine sees."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

FORBIDDEN = tuple(
    ip_network(network)
    for network in (
        "169.254.0.0/16",  # link-local: the metadata of most clouds
        "fe80::/10",
        "fd00:ec2::/32",
        "fd20:ce::254/128",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "0.0.0.0/8",
        "224.0.0.0/4",
        "ff00::/8",
        "::/128",
    )
)
TRANSLATED = (
    ip_network("64:ff9b::/96"),
    ip_network("64:ff9b:1::/48"),
    ip_network("::/96"),
    ip_network("::ffff:0:0:0/96"),
)
"""Addresses of the newer kind whose last four bytes are one of the older kind."""
METADATA = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data"})


class BadPlace(ValueError):
    """An address that is not asked; says why."""


class WebAddress(tuple[str, str, int]):
    """A scheme, a host and a port."""

    __slots__ = ()


def place_of(url: str) -> WebAddress:
    """The parts of a web address. Raises `BadPlace`."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadPlace(f"ANNALS_EMBED__URL is no web address: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadPlace("ANNALS_EMBED__URL must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise BadPlace("ANNALS_EMBED__URL holds a user or a password: put the key into ANNALS_EMBED__KEY instead")
    if parts.hostname.rstrip(".").lower() in METADATA:
        raise BadPlace(f"{parts.hostname} serves the secrets of a cloud's machine: no model runs there")
    return WebAddress((parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80)))


def address_of(host: str, found: Sequence[str]) -> str:
    """The one of the addresses of a host that is connected to. Where one of them is forbidden, none is."""
    for one in found:
        if any(map(_is_forbidden, _meanings(ip_address(one.partition("%")[0])))):
            raise BadPlace(f"{host} is at {one}, which belongs to the machine or its cloud: no model is asked there")
    if not found:
        raise BadPlace(f"nobody knows where {host} is")
    return found[0]


def _is_forbidden(address: IPv4Address | IPv6Address) -> bool:
    return any(address.version == network.version and address in network for network in FORBIDDEN)


def _meanings(address: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    """An address, and those of the older kind that it leads to: mapped, translated, or at the end of a tunnel."""
    yield address
    if isinstance(address, IPv4Address) or address.is_loopback:
        return
    if any(address in network for network in TRANSLATED):
        yield IPv4Address(address.packed[-4:])
    yield from filter(None, (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())))
