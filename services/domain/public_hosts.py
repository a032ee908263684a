"""Recognises web addresses of the public internet: by their form, and by the IP addresses of their names."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

LONGEST = 500
"""Characters of an address."""
PORTS = {"https": 443, "http": 80}
_NAT64 = ip_network("64:ff9b::/96")
_CLOSED = (
    *(ip_network(one) for one in ("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15")),
    *(ip_network(one) for one in ("::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "3fff::/20", "fec0::/10")),
)
"""Networks that no public host has, whatever the library says of them: own ones, tunnels, and such for tests."""


class PublicWebAddress(NamedTuple):
    """A web address in its parts."""

    scheme: str
    host: str
    target: str
    """Path and query."""

    @property
    def port(self) -> int:
        return PORTS[self.scheme]


def web_address(url: str) -> PublicWebAddress:
    """The parts of an address. Raises `ValueError`, as a sentence, for one that is not looked at by its form alone."""
    if len(url) > LONGEST:
        raise ValueError(f"the address has {len(url)} characters, and may have {LONGEST}")
    if not all("!" <= letter <= "~" for letter in url) or "\\" in url:
        raise ValueError("the address has white space or characters that an address does not have")
    parts = urlsplit(url)
    if parts.scheme not in PORTS:
        raise ValueError(f"{parts.scheme[:20] or 'nothing'!r} is no scheme of a web address; use https or http")
    if "@" in parts.netloc:
        raise ValueError("the address has a name or a password before its host; leave them out")
    host = (parts.hostname or "").rstrip(".")
    if not host or "%" in host:
        raise ValueError("the address names no host")
    if parts.port not in (None, PORTS[parts.scheme]):
        raise ValueError(f"port {parts.port} is not looked at; use 443 for https and 80 for http")
    if is_private_literal(host):
        raise ValueError(f"{host} is no public address")
    if _is_number(host):
        raise ValueError(f"{host[:80]} is no IP address as it is written; write four numbers from 0 to 255, or a name")
    path = parts.path or "/"
    return PublicWebAddress(parts.scheme, host, f"{path}?{parts.query}" if parts.query else path)


def is_private_literal(host: str) -> bool:
    """Whether a host is an IP address, and none of the public internet, or the name of this machine."""
    if host.lower() == "localhost" or host.lower().endswith(".localhost"):
        return True
    return _is_ip(host) and not is_public(host)


def _is_number(host: str) -> bool:
    """Whether a system takes a host for an IP address that is spelled in another way, such as 0x7f.1 or 2130706433."""
    last = host.lower().rpartition(".")[2]
    is_number = last.isdigit() or (last.startswith("0x") and not {*last[2:]} - {*"0123456789abcdef"})
    return is_number and not _is_ip(host)


def _is_ip(host: str) -> bool:
    try:
        return bool(ip_address(host))
    except ValueError:
        return False


def is_public(ip: str) -> bool:
    """Whether an IP address belongs to the public internet; one that embeds another is judged by that, too."""
    try:
        found = ip_address(ip)
    except ValueError:
        return False
    embedded = _embedded(found)
    if embedded is not None:
        return is_public(str(embedded))
    is_closed = any(found in network for network in _CLOSED if network.version == found.version)
    return found.is_global and not (is_closed or found.is_multicast or found.is_reserved or _has_scope(found))


def _embedded(ip: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to: mapped, by NAT64 or by 6to4; none: it leads to itself."""
    if isinstance(ip, IPv4Address):
        return None
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


def _has_scope(ip: IPv4Address | IPv6Address) -> bool:
    return isinstance(ip, IPv6Address) and ip.scope_id is not None


def is_named(host: str, names: tuple[str, ...]) -> bool:
    """Whether a host is one of these names; `*` is any, and `*.example.org` any below that."""
    low = host.lower()
    return any(name in ("*", low) or (name.startswith("*.") and low.endswith(name[1:])) for name in names)
