"""The command line: one function per command, each loaded only when it is called."""

from __future__ import annotations

import sys

from cyclopts import App, CycloptsError

from paddlejob.cli.errors import UserError

app = App(name="paddlejob", help="Run PaddlePaddle training on Kubernetes and on this machine.")
app.command("paddlejob.cli.run:run", help="Run a PaddleJob on this machine and show it live.")
app.command("paddlejob.cli.listing:list_jobs", name="list", help="List the jobs of this machine.")
app.command("paddlejob.cli.describing:describe", help="Show everything about a job of this machine.")
app.command("paddlejob.cli.logs:logs", help="Print the output of a job's pods.")
app.command("paddlejob.cli.waiting:wait", help="Wait for the end of a job.")
app.command("paddlejob.cli.deleting:delete", help="End a job of this machine and forget it.")
app.command("paddlejob.cli.crd:crd", help="Print the CustomResourceDefinition of PaddleJob.")
app.command("paddlejob.cli.operator:operator", help="Turn PaddleJobs into pods and drive them to their end.")


def main() -> None:
    """Exit codes: 0 fine, 1 the job failed, 2 bad use, 3 the cluster cannot be reached."""
    try:
        code = app(exit_on_error=False)
    except CycloptsError:
        sys.exit(2)  # what was wrong has been printed
    except UserError as error:
        print(f"paddlejob: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    sys.exit(code if isinstance(code, int) else 0)
