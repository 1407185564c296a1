"""Who may speak to the test API server, and which of its calls are written down.

Everything is made with Python alone: the service-account key is an elliptic one, which is a random number in a
fixed frame, so neither openssl nor a cryptography package is needed.
"""

import base64
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ADMIN = "test-admin"

# The order of the curve P-256 (FIPS 186-4, D.1.2.3): a private key is a number from 1 to this less 1.
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def write_signing_key(path: Path) -> None:
    """A PEM file with a P-256 key (RFC 5915). The API server derives the public half itself."""
    number = (secrets.randbelow(_P256_ORDER - 1) + 1).to_bytes(32, "big")
    version, curve = bytes.fromhex("020101"), bytes.fromhex("a00a06082a8648ce3d030107")
    body = version + b"\x04\x20" + number + curve
    text = base64.encodebytes(b"\x30" + bytes([len(body)]) + body).decode()
    _write_private(path, f"-----BEGIN EC PRIVATE KEY-----\n{text}-----END EC PRIVATE KEY-----\n")


def write_tokens(path: Path, others: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """The file of --token-auth-file with an administrator and others by name and groups; returns each one's token."""
    groups = {ADMIN: "system:masters", **others}
    tokens = {user: secrets.token_hex(16) for user in groups}
    _write_private(path, "".join(f'{tokens[user]},{user},{user},"{groups[user]}"\n' for user in groups))
    return tokens


def write_audit_policy(path: Path, *, namespace: str) -> None:
    """Only calls of the service accounts of one namespace are logged: the operator's, hence exactly its own."""
    operator = {"level": "Metadata", "userGroups": [f"system:serviceaccounts:{namespace}"]}
    policy = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [operator, {"level": "None"}],
    }
    path.write_text(json.dumps(policy))


def write_kubeconfig(path: Path, *, server: str, authority: Path, token: str, namespace: str = "default") -> Path:
    """JSON is YAML, so every client reads it."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": server, "certificate-authority": str(authority)}}],
        "users": [{"name": "user", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "user", "namespace": namespace}}],
        "current-context": "test",
    }
    _write_private(path, json.dumps(config, indent=2))
    return path


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
