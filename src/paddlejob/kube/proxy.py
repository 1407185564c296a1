"""Whether the way to the API server goes through a proxy.

Owns the reading of proxy-url, HTTPS_PROXY, HTTP_PROXY and NO_PROXY, with the meaning they have for kubectl (Go).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from yarl import URL

from paddlejob.kube.auth import basic
from paddlejob.kube.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Proxy:
    url: URL
    # For the proxy itself; it must never reach the API server through the tunnel.
    authorization: str | None = None


def proxy_for(server: str, proxy_url: str | None, environ: Mapping[str, str]) -> Proxy | None:
    """A proxy named in the kubeconfig is always used; one from the environment unless NO_PROXY says otherwise."""
    if proxy_url:
        return _parse(proxy_url, "proxy-url of the kubeconfig")
    target = URL(server)
    name = "HTTPS_PROXY" if target.scheme == "https" else "HTTP_PROXY"
    found = environ.get(name) or environ.get(name.lower())
    if not found or is_exempt(target, environ.get("NO_PROXY") or environ.get("no_proxy") or ""):
        return None
    return _parse(found, name)


def _parse(text: str, source: str) -> Proxy:
    try:
        url = URL(text if "://" in text else f"http://{text}")
    except ValueError as error:
        raise ConfigError(f"{source} is not an address ({error}): write http://host:port") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(
            f"{source} is {url.with_user(None)}: only http:// and https:// proxies are supported"
            if url.host
            else f"{source} names no host: write http://host:port"
        )
    return Proxy(url.with_user(None), basic(url.user, url.password or "") if url.user else None)


def is_exempt(target: URL, no_proxy: str) -> bool:
    """Whether NO_PROXY, or being this very machine, keeps the proxy out."""
    host = (target.host or "").lower().rstrip(".")
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    rules = (rule.strip().lower() for rule in no_proxy.split(","))
    return any(_matches(rule, host, target.port) for rule in rules if rule)


def _matches(rule: str, host: str, port: int | None) -> bool:
    if rule == "*":
        return True
    address = _address(host)
    if "/" in rule:
        try:
            return address is not None and address in ipaddress.ip_network(rule, strict=False)
        except ValueError:
            return False
    rule, wanted = _split_port(rule)
    if wanted is not None and wanted != port:
        return False
    if address is not None:
        return _address(rule) == address
    rule = rule.removeprefix("*")
    if rule.startswith("."):
        return host.endswith(rule)
    return host == rule or host.endswith("." + rule)


def _split_port(rule: str) -> tuple[str, int | None]:
    if _address(rule) is not None:
        return rule, None
    name, colon, port = rule.rpartition(":")
    if colon and port.isdigit():
        return name.strip("[]"), int(port)
    return rule.strip("[]"), None


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
