"""Every error that a user may see. Each message is one sentence that says what to do.

PaddleJobError
├── NoCluster         no kubeconfig, a wrong context, or no answer from the API server
├── Unauthorized      the cluster does not know who asks: an expired token, a wrong certificate
├── Forbidden         the cluster knows who asks and does not allow it
├── NotFound          no such job
├── NoNamespace       no such namespace
├── NoCRD             the cluster has no PaddleJobs: the CRD is not installed
├── AlreadyExists     the name is taken
├── Invalid           the API server refuses the job or the change
├── Timeout           it did not happen in time
├── JobFailed         the job failed, or was stopped
├── NotSubmitted      the job was described but never submitted
├── NotHere           jobs on this machine cannot do that
└── CannotShip        a function cannot be sent to a cluster as source
"""

from __future__ import annotations


class PaddleJobError(Exception):
    """Root of the tree: what was tried, on which object, and what to do."""


class NoCluster(PaddleJobError): ...


class Unauthorized(PaddleJobError): ...


class Forbidden(PaddleJobError): ...


class NotFound(PaddleJobError): ...


class NoNamespace(PaddleJobError): ...


class NoCRD(PaddleJobError): ...


class AlreadyExists(PaddleJobError): ...


class Invalid(PaddleJobError): ...


class Timeout(PaddleJobError): ...


class JobFailed(PaddleJobError): ...


class NotSubmitted(PaddleJobError): ...


class NotHere(PaddleJobError): ...


class CannotShip(PaddleJobError): ...
