"""The page of `paddlejob ui`: jobs in a browser, over the same places that the commands ask. server.py wires it."""
