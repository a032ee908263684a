"""Which addresses are public."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.public_hosts import is_named, is_public, web_address

PRIVATE = [
    "127.0.0.1", "127.255.0.9", "0.0.0.1", "0.1.2.3", "10.0.0.1", "172.16.9.1", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.1.2.3", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "2001::1", "2001:db8::1", "100::1",
    "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "3fff::1",
    "localhost", "", "1", "0x7f.1", "2606:4700::1111%eth0",
]  # fmt: skip
PUBLIC = ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]


@pytest.mark.parametrize("ip", PRIVATE)
def test_a_private_address_is_none_of_the_internet_however_it_is_wrapped(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize("ip", PUBLIC)
def test_a_public_address_is_one(ip: str) -> None:
    assert is_public(ip)


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "64:ff9b::{}"]))
def test_an_address_that_embeds_another_is_as_public_as_that(ip: object, form: str) -> None:
    assert is_public(str(ip)) == is_public(form.format(ip))


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("file:///etc/passwd", "is no scheme"),
        ("FILE:///etc/passwd", "is no scheme"),
        ("ftp://example.org/", "is no scheme"),
        ("//example.org/", "is no scheme"),
        ("https:///x", "names no host"),
        ("https://ada:pw@example.org/", "name or a password"),
        ("https://example.org:8080/", "port 8080"),
        ("http://example.org:443/", "port 443"),
        ("https://example.org\\@127.0.0.1/", "characters that an address does not have"),
        ("https://example.org/a b", "white space"),
        ("https://example.org/\r\nHost: x", "white space"),
        ("https://bücher.example/", "characters"),
        ("http://127.0.0.1/", "no public address"),
        ("http://[::ffff:10.0.0.1]/", "no public address"),
        ("http://localhost./", "no public address"),
        ("http://a.localhost/", "no public address"),
        ("https://example.org:99999/", "out of range"),
        ("https://" + "a" * 600, "may have 500"),
    ],
)
def test_an_address_that_is_never_asked_is_known_by_its_form(url: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        web_address(url)


def test_an_address_has_a_host_a_port_and_a_target() -> None:
    address = web_address("https://Example.org./a?b=c#d")
    assert ("example.org", 443, "/a?b=c") == (address.host, address.port, address.target)
    bare = web_address("http://a.b")
    assert ("http", 80, "/") == (bare.scheme, bare.port, bare.target)


def test_a_host_is_named_by_itself_by_what_is_above_it_or_by_all() -> None:
    names = ("example.org", "*.example.net")
    assert [True, True, True, False, False, False] == [
        is_named(host, names)
        for host in ("example.org", "EXAMPLE.org", "a.example.net", "example.net", "a.example.org", "badexample.net")
    ]
    assert is_named("any.where", ("*",))
    assert not is_named("any.where", ())
