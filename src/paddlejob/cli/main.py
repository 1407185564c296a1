"""The command line: one function per command, each loaded only when it is called."""

from __future__ import annotations

import sys

from cyclopts import App, CycloptsError

from paddlejob.cli.errors import UserError

app = App(name="paddlejob", help="Run PaddlePaddle training on Kubernetes and on this machine.")
app.command("paddlejob.cli.crd:crd", help="Print the CustomResourceDefinition of PaddleJob.")
app.command("paddlejob.cli.operator:operator", help="Turn PaddleJobs into pods and drive them to their end.")


def main() -> None:
    """Exit codes: 0 fine, 1 the job failed, 2 bad use, 3 the cluster cannot be reached."""
    try:
        app(exit_on_error=False)
    except CycloptsError:
        sys.exit(2)  # what was wrong has been printed
    except UserError as error:
        print(f"paddlejob: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
