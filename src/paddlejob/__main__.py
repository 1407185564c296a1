"""`python -m paddlejob` is the `paddlejob` command."""

from paddlejob.cli.main import main

main()
