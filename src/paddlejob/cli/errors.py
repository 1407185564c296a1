"""What a command says when it cannot do its work, with the exit code that scripts can rely on.

UserError            exit code 1: the job failed, or something has not happened in time
├── BadUse           exit code 2: the command line or a file is wrong, or there is no such job
└── NoCluster        exit code 3: the cluster cannot be reached or refuses us
"""

from __future__ import annotations


class UserError(Exception):
    """Printed as one sentence, without a traceback."""

    exit_code = 1


class BadUse(UserError):
    exit_code = 2


class NoCluster(UserError):
    exit_code = 3
