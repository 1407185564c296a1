"""The command `paddlejob`: one file per command; `main` knows them all and loads the one that is asked for."""

import gc

# Loading a program makes many objects and hardly any garbage: looking for it every 700 objects costs a tenth of a
# second-long command. What runs for long is still cleaned up.
gc.set_threshold(20_000, 10, 10)
