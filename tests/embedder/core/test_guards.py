import pytest

from services.embedder.core.guards import BadPlace, address_of, place_of


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://api.example.com/v1", ("https", "api.example.com", 443)),
        ("http://127.0.0.1:11434/v1", ("http", "127.0.0.1", 11434)),
        ("http://[::1]/v1", ("http", "::1", 80)),
    ],
)
def test_an_address_names_a_place(url: str, place: tuple[str, str, int]) -> None:
    assert place == place_of(url)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://example.com", "example.com/v1", "http://", "http://a:b@example.com/v1",
        "http://token@example.com", "http://metadata.google.internal/v1", "http://METADATA/", "http://a:99999/",
    ],
)  # fmt: skip
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(BadPlace):
        place_of(url)


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254", "169.254.1.1", "fe80::1%eth0", "fd00:ec2::254", "100.100.100.200", "0.0.0.1",
        "224.0.0.1", "ff02::1", "::", "::ffff:169.254.169.254",
        "::ffff:a9fe:a9fe", "64:ff9b::169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::169.254.169.254",
        "::169.254.169.254", "::ffff:0:169.254.169.254", "2002:a9fe:a9fe::1", "2001:0:1:2:3:4:5601:5601",
        "::ffff:100.100.100.200", "168.63.129.16", "fd20:ce::254",
    ],
)  # fmt: skip
def test_no_place_of_the_machine_or_its_cloud_is_asked(address: str) -> None:
    with pytest.raises(BadPlace):
        address_of("model.example.com", ["93.184.216.34", address])


def test_any_other_place_may_be_asked() -> None:
    assert "127.0.0.1" == address_of("localhost", ["127.0.0.1", "::1"])
    assert "::1" == address_of("localhost", ["::1"])
    assert "64:ff9b::808:808" == address_of("dns.example", ["64:ff9b::808:808"])
    assert "10.1.2.3" == address_of("gpu.local", ["10.1.2.3"])


def test_a_host_without_an_address_is_refused() -> None:
    with pytest.raises(BadPlace):
        address_of("nowhere.example", [])
