"""Everything that can go wrong between a person and a job, each as one sentence that says what to do.

PaddleJobError
├── NoCluster         no kubeconfig, a wrong context, or no answer from the API server
├── Unauthorized      the cluster does not know who asks: an expired token, a wrong certificate
├── Forbidden         the cluster knows who asks and does not allow it
├── NotFound          no such job
├── NoNamespace       no such namespace
├── NoCRD             the cluster does not know PaddleJobs
├── AlreadyExists     the name is taken
├── Invalid           the API server refuses the job or the change
├── Timeout           it has not happened in time
├── JobFailed         the job ended, but not well
├── NotSubmitted      nothing is known of a job that was only written down
├── NotHere           jobs of this machine cannot do that
└── CannotShip        a function cannot travel to a cluster as source
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
