"""The command line: one function per command, each loaded only when it is called."""

from __future__ import annotations

import os
import sys

from cyclopts import App, CycloptsError, Parameter

from paddlejob.cli.errors import exit_code
from paddlejob.errors import PaddleJobError
from paddlejob.terminal import lines

INTERRUPTED = 130
COMMANDS = {
    "run": ("run:run", "Run a PaddleJob on this machine and watch it live."),
    "submit": ("submit:submit", "Submit a PaddleJob to the cluster."),
    "list": ("list:list_jobs", "List the jobs on this machine and on the cluster."),
    "describe": ("describe:describe", "Show the details of a job."),
    "usage": ("usage:usage", "Show what jobs have used, by what they did meanwhile."),
    "logs": ("logs:logs", "Print the logs of a job's pods."),
    "wait": ("wait:wait", "Wait until a job has finished."),
    "delete": ("delete:delete", "Stop jobs and delete them."),
    "scale": ("scale:scale", "Change the number of workers of an elastic job."),
    "suspend": ("suspend:suspend", "Delete a job's pods but keep the job."),
    "resume": ("suspend:resume", "Start a suspended job again."),
    "convert": ("convert:convert", "Convert a PaddleJob of kubeflow.org/v1."),
    "ui": ("ui:ui", "Show jobs in your browser."),
    "plan": ("plan:plan_file", "Print the objects that a job would create."),
    "install": ("install:install", "Install the operator on the cluster."),
    "uninstall": ("install:uninstall", "Remove the operator from the cluster."),
    "crd": ("crd:crd", "Print the CustomResourceDefinition of PaddleJob."),
    "operator": ("operator:operator", "Run the operator."),
    "completion": ("completion:completion", "Print a completion script for your shell."),
}


def the_app(asked: str | None = None) -> App:
    """Only the command asked for is imported, for its full help; the others have one line of help in COMMANDS."""
    app = App(
        name="paddlejob",
        help="Run PaddlePaddle training on Kubernetes and on this machine.",
        help_format="plaintext",  # Markdown would cost as much as everything else together
        help_formatter="default" if sys.stdout.isatty() else "plain",
        version=_version,
        default_parameter=Parameter(negative=(), show_default=_worth_showing),
    )
    for place, (name, (function, text)) in enumerate(COMMANDS.items()):
        app.command(f"paddlejob.cli.{function}", name=name, sort_key=place, help=None if name == asked else text)
    return app


def _worth_showing(default: object) -> object:
    """That a flag is off and an option empty goes without saying."""
    return default or None


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - it is slow, and hardly ever asked

    return version("paddle-operator")


def main() -> None:
    """Exit codes: 0 fine, 1 the job failed, 2 bad use, 3 the cluster cannot be reached."""
    try:
        code = the_app(sys.argv[1] if len(sys.argv) > 1 else None)(exit_on_error=False)
        sys.stdout.flush()
    except CycloptsError:
        sys.exit(2)  # what was wrong has been printed
    except PaddleJobError as error:
        print(*lines(f"paddlejob: {error}"), sep="\n", file=sys.stderr)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)
