"""Everything that can go wrong between us and the API server.

KubeError
├── ConfigError              the kubeconfig, or a file or plugin it names, is missing or wrong
├── Unreachable              no answer: connection, TLS, time-out
│   └── Silent               a watch that was open said nothing for too long
├── Undecodable              an answer that is not what its kind promises
├── LeaseLost                this process may no longer act as the leader
└── ApiError                 the server answered and refused
    ├── ApiBadRequest        400
    ├── ApiUnauthorized      401
    ├── ApiForbidden         403
    ├── ApiNotFound          404
    ├── ApiConflict          409
    ├── ApiAlreadyExists     409 with that reason
    ├── ApiGone              410, or the reason Expired
    ├── ApiInvalid           422
    ├── ApiTooManyRequests   429
    └── ApiServerError       5xx
"""

from __future__ import annotations

import msgspec


class KubeError(Exception):
    """Root of the tree."""


class ConfigError(KubeError):
    """Says which file or plugin, and what to do about it."""


class Unreachable(KubeError):
    """Says which server, and what to do about it."""


class Silent(Unreachable):
    """An open watch on which nothing came: perhaps quiet, perhaps a dead connection. Only asking again tells."""


class Undecodable(KubeError):
    """The server's answer could not be read as the type that was asked for."""


class LeaseLost(KubeError):
    """Whoever sees this must stop acting at once: another process may be the leader already."""


class Cause(msgspec.Struct, frozen=True):
    reason: str = ""
    message: str = ""
    field: str = ""


class Details(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after_seconds: float = 0


class ApiStatus(msgspec.Struct, frozen=True):
    """The API server's answer when it refuses, and the object of an ERROR event on a watch."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: Details | None = None


class ApiError(KubeError):
    """The server's refusal, with what was tried: `create pods default/a: 403 Forbidden: ...`."""

    def __init__(self, tried: str, answer: ApiStatus, retry_after: float | None = None) -> None:
        self.tried = tried
        self.status = answer.code
        self.reason = answer.reason
        self.message = answer.message
        self.details = answer.details or Details()
        self.retry_after = retry_after
        super().__init__(tried, answer, retry_after)

    def __str__(self) -> str:
        what = f"{self.status} {self.reason}".strip()
        return f"{self.tried}: {what}: {self.message}" if self.message else f"{self.tried}: {what}"


class ApiBadRequest(ApiError):
    pass


class ApiUnauthorized(ApiError):
    pass


class ApiForbidden(ApiError):
    pass


class ApiNotFound(ApiError):
    pass


class ApiConflict(ApiError):
    pass


class ApiAlreadyExists(ApiError):
    pass


class ApiGone(ApiError):
    pass


class ApiInvalid(ApiError):
    pass


class ApiTooManyRequests(ApiError):
    pass


class ApiServerError(ApiError):
    pass


_BY_REASON: dict[str, type[ApiError]] = {"AlreadyExists": ApiAlreadyExists, "Expired": ApiGone, "Gone": ApiGone}
_BY_STATUS: dict[int, type[ApiError]] = {
    400: ApiBadRequest,
    401: ApiUnauthorized,
    403: ApiForbidden,
    404: ApiNotFound,
    409: ApiConflict,
    410: ApiGone,
    422: ApiInvalid,
    429: ApiTooManyRequests,
}
_STATUS = msgspec.json.Decoder(ApiStatus)


def refusal(tried: str, body: bytes, *, status: int = 0, retry_after: str | None = None) -> ApiError:
    """The error for a Status that the server sent, as a response or as an ERROR event (which has no HTTP status)."""
    try:
        answer = _STATUS.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # A proxy or load balancer in front of the API server answers in its own words.
        answer = ApiStatus(message=body[:500].decode(errors="replace").strip())
    answer = msgspec.structs.replace(answer, code=status or answer.code or 500)
    fallback = ApiServerError if answer.code >= 500 else ApiError
    kind = _BY_REASON.get(answer.reason) or _BY_STATUS.get(answer.code, fallback)
    return kind(tried, answer, _seconds(retry_after, answer))


def _seconds(header: str | None, answer: ApiStatus) -> float | None:
    if header is not None and header.strip().isdigit():
        return float(header)
    if answer.details is not None and answer.details.retry_after_seconds > 0:
        return answer.details.retry_after_seconds
    return None


def is_transient(error: BaseException) -> bool:
    """Whether the same call may well succeed a little later."""
    return isinstance(error, ApiTooManyRequests | ApiServerError | Unreachable)


def delay_asked(error: BaseException) -> float:
    """For how many seconds the server wants to be left alone; 0 if it did not say."""
    return error.retry_after or 0.0 if isinstance(error, ApiError) else 0.0
