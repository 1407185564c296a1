"""Certificates for the TLS tests, made anew for every run: no private key lives in the repository."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import trustme


@cache
def certificates() -> Path:
    """A folder with ca.crt, and server (localhost, 127.0.0.1, api.test) and client as .crt and .key."""
    folder = Path(tempfile.mkdtemp(prefix="paddlejob-tls-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.crt"))
    made = {
        "server": authority.issue_cert("localhost", "127.0.0.1", "api.test", common_name="server"),
        "client": authority.issue_cert("client.test", common_name="client"),
    }
    for name, one in made.items():
        one.cert_chain_pems[0].write_to_path(str(folder / f"{name}.crt"))
        one.private_key_pem.write_to_path(str(folder / f"{name}.key"))
    return folder
