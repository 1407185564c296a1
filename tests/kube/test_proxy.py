"""When the way to the API server goes through a proxy."""

from __future__ import annotations

import pytest
from yarl import URL

from paddlejob.kube.errors import ConfigError
from paddlejob.kube.proxy import is_exempt, proxy_for

SERVER = "https://api.example.com:6443"

NO_PROXY = [
    ("https://api.example.com:6443", "", False),
    ("https://api.example.com:6443", "*", True),
    ("https://api.example.com:6443", "api.example.com", True),
    ("https://api.example.com:6443", " other , API.Example.com. ", False),
    ("https://api.example.com:6443", " other , API.Example.com ", True),
    ("https://api.example.com:6443", "example.com", True),
    ("https://api.example.com:6443", ".example.com", True),
    ("https://example.com", ".example.com", False),
    ("https://api.example.com:6443", "*.example.com", True),
    ("https://api.notexample.com", "example.com", False),
    ("https://api.example.com:6443", "api.example.com:6443", True),
    ("https://api.example.com:6443", "api.example.com:443", False),
    ("https://10.1.2.3:6443", "10.0.0.0/8", True),
    ("https://11.1.2.3:6443", "10.0.0.0/8", False),
    ("https://10.1.2.3:6443", "10.1.2.3", True),
    ("https://10.1.2.3:6443", "10.1.2.3:6443", True),
    ("https://10.1.2.3:6443", "10.1.2.3:443", False),
    ("https://10.1.2.3:6443", "2.3", False),
    ("https://10.1.2.3:6443", "nonsense/99", False),
    ("https://api.example.com:6443", "10.0.0.0/8", False),
    ("https://[fd00::1]:6443", "fd00::/8", True),
    ("https://[fd00::1]:6443", "fd00::1", True),
    ("https://[fd00::1]:6443", "[fd00::1]:6443", True),
    ("https://[fd00::1]:6443", "fd00::2", False),
    ("https://localhost:6443", "", True),
    ("https://127.0.0.5:6443", "", True),
    ("https://[::1]:6443", "", True),
]


@pytest.mark.parametrize(("server", "no_proxy", "exempt"), NO_PROXY)
def test_no_proxy_means_what_it_means_to_kubectl(server: str, no_proxy: str, exempt: bool) -> None:
    assert is_exempt(URL(server), no_proxy) is exempt


ENVIRONMENTS: dict[str, tuple[str, str | None, dict[str, str], str | None]] = {
    "none": (SERVER, None, {}, None),
    "upper case": (SERVER, None, {"HTTPS_PROXY": "http://p:3128"}, "http://p:3128"),
    "lower case": (SERVER, None, {"https_proxy": "http://p:3128"}, "http://p:3128"),
    "without a scheme": (SERVER, None, {"HTTPS_PROXY": "p:3128"}, "http://p:3128"),
    "of the other scheme": (SERVER, None, {"HTTP_PROXY": "http://p:3128"}, None),
    "for http": ("http://api.example.com", None, {"HTTP_PROXY": "http://p:3128"}, "http://p:3128"),
    "exempt": (SERVER, None, {"HTTPS_PROXY": "http://p:3128", "no_proxy": "example.com"}, None),
    "kubeconfig wins": (SERVER, "https://k:1", {"HTTPS_PROXY": "http://p:3128", "NO_PROXY": "*"}, "https://k:1"),
}


@pytest.mark.parametrize(("server", "url", "environ", "expected"), ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_where_the_proxy_comes_from(
    server: str, url: str | None, environ: dict[str, str], expected: str | None
) -> None:
    proxy = proxy_for(server, url, environ)
    assert (None if proxy is None else str(proxy.url)) == expected


def test_the_proxys_own_password_goes_into_a_header_and_not_into_the_address() -> None:
    proxy = proxy_for(SERVER, "http://me:secret@p:3128", {})
    assert proxy is not None
    assert str(proxy.url) == "http://p:3128"
    assert proxy.authorization == "Basic bWU6c2VjcmV0"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("socks5://me:secret@p:1080", "only http:// and https://"),
        ("http://p:99999999", "is not an address"),
        ("http://", "names no host"),
    ],
)
def test_a_proxy_we_cannot_use_is_named_without_its_password(url: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        proxy_for(SERVER, url, {})
    assert "secret" not in str(caught.value)
