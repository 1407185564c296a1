"""The TLS context for one cluster.

Owns that key material given as data never stays on disk: OpenSSL reads keys from files only, so it passes through a
file that only we can read and that is gone before the first connection.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

from paddlejob.kube.errors import ConfigError


def ssl_context(*, ca: bytes | None = None, insecure: bool = False, certificate: bytes | None = None) -> ssl.SSLContext:
    """`certificate` is the client's certificate chain and its key, in one PEM."""
    try:
        context = ssl.create_default_context(cadata=ca.decode() if ca else None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"the certificate authority of the cluster is not a PEM certificate ({error}): "
            "check certificate-authority or certificate-authority-data in the kubeconfig"
        ) from error
    # Since Python 3.13 the default refuses certificates that Kubernetes makes and that every other client accepts.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        _load(context, certificate)
    return context


def _load(context: ssl.SSLContext, certificate: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix="kube-", suffix=".pem")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(certificate)
        # Without a password OpenSSL would ask on the terminal for the one of an encrypted key, and wait for ever.
        context.load_cert_chain(name, password="")
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"the client certificate and its key cannot be used ({error}): check client-certificate and client-key "
            "in the kubeconfig; the key must belong to the certificate and must not be encrypted"
        ) from error
    finally:
        Path(name).unlink()
