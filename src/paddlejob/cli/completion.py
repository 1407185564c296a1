"""`paddlejob completion`: commands and flags by the Tab key."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a completion script for your shell.

    Example: paddlejob completion bash
    """
    from paddlejob.cli.main import the_app  # noqa: PLC0415 - it names this very module

    print(the_app().generate_completion(prog_name="paddlejob", shell=shell))
