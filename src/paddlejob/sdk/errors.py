"""What the SDK raises; `paddlejob.places.errors` draws the whole tree."""

from paddlejob.places.errors import *  # noqa: F403 - the same names, where users look for them
