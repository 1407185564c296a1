"""What can keep a job from running on this machine, each with what to do about it.

LocalError
├── BadFile          the file is no PaddleJob
├── BadName          no namespace or job can be called so
├── AlreadyRunning   a job of that name runs here
├── NoPython         the Python that was named is not there
├── CannotStart      the runner ended before it looked at the job
├── NoSuchJob        no such job here
├── CannotScale      the job's number of workers cannot change so
└── NotYet           a container cannot start for now: what it needs is not there
"""

from __future__ import annotations


class LocalError(Exception):
    """Root of the tree; a sentence for a person."""


class BadFile(LocalError): ...


class BadName(LocalError): ...


class AlreadyRunning(LocalError): ...


class NoPython(LocalError): ...


class CannotStart(LocalError): ...


class NoSuchJob(LocalError): ...


class CannotScale(LocalError): ...


class NotYet(LocalError):
    """Carries the reason that a kubelet would give, where that is not CREATE_CONTAINER_CONFIG_ERROR."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
