"""What a command exits with when it cannot do its work: scripts can rely on it.

1   the job failed, or something has not happened in time
2   the command line or a file is wrong, or there is no such job
3   the cluster cannot be reached or refuses us
"""

from __future__ import annotations

from paddlejob import errors


class BadUse(errors.PaddleJobError):
    """The command line is wrong."""


_BAD_USE = (BadUse, errors.NotFound, errors.NoNamespace, errors.AlreadyExists, errors.Invalid, errors.NotHere)
_NO_CLUSTER = (errors.NoCluster, errors.Unauthorized, errors.Forbidden, errors.NoCRD)


def exit_code(error: Exception) -> int:
    return 2 if isinstance(error, _BAD_USE) else 3 if isinstance(error, _NO_CLUSTER) else 1
