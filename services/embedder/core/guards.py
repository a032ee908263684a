"""Where a remote model may be: a web address without a password, and nothing that only a cloud's machine sees."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

FORBIDDEN = tuple(
    ip_network(network)
    for network in (
        "169.254.0.0/16",  # link-local: the metadata of most clouds
        "fe80::/10",
        "fd00:ec2::254/128",
        "100.100.100.200/32",
        "192.0.0.192/32",
        "0.0.0.0/8",
        "224.0.0.0/4",
        "ff00::/8",
    )
)
METADATA = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data"})


class BadPlace(ValueError):
    """An address that is not asked; says why."""


class Place(tuple[str, str, int]):
    """A scheme, a host and a port."""

    __slots__ = ()


def place_of(url: str) -> Place:
    """Where this address is. Raises `BadPlace`."""
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
        raise BadPlace(f"{parts.hostname} tells the secrets of a cloud's machine: no model is there")
    return Place((parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80)))


def address_of(host: str, found: Sequence[str]) -> str:
    """The one of the addresses of a host that is connected to. Where one of them is forbidden, none is."""
    for one in found:
        address = _plain(ip_address(one.partition("%")[0]))
        if any(address.version == network.version and address in network for network in FORBIDDEN):
            raise BadPlace(f"{host} is at {one}, which belongs to the machine or its cloud: no model is asked there")
    if not found:
        raise BadPlace(f"nobody knows where {host} is")
    return found[0]


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """An address of the older kind that is written as one of the newer is judged as what it is."""
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
