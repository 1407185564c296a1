"""Where a scheduler's webhooks are on loopback, and by which certificate an API server knows them."""

from __future__ import annotations

import base64
from pathlib import Path

import trustme

from tests.cluster.processes import free_ports
from tests.schedulers.history import Json


class Loopback:
    """A port, and in a folder its tls.crt, its tls.key, and ca.crt, which vouches for it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        authority = trustme.CA()
        issued = authority.issue_cert("127.0.0.1")
        issued.cert_chain_pems[0].write_to_path(str(folder / "tls.crt"))
        issued.private_key_pem.write_to_path(str(folder / "tls.key"))
        authority.cert_pem.write_to_path(str(folder / "ca.crt"))
        (self.port,) = free_ports(1)
        self.folder = folder
        self.url = f"https://127.0.0.1:{self.port}"
        self._authority = base64.b64encode(authority.cert_pem.bytes()).decode()

    def client(self, path: str) -> Json:
        """As a webhook's clientConfig has it."""
        return {"url": self.url + path, "caBundle": self._authority}
