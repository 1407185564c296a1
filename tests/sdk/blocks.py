"""The code blocks of the user's SDK document, by number, as they stand there.

`{home of root}` stands for the home folder that the document names inside its container.
"""

from __future__ import annotations

from pathlib import Path

HOME_OF_ROOT = "/" + "root"
BLOCKS = {
    path.stem: path.read_text().replace("{home of root}", HOME_OF_ROOT)
    for path in (Path(__file__).parent / "document").glob("[0-9].*")
}
