"""`erniekit train` with the trainer taken out: ERNIEKit's own command line starts world.py instead of it.

ERNIEKit 1.3.0 on PyPI cannot start whole: nearly every module of it imports a package `ernie` that does not come with
it. Its command line, which drops what Paddle knows of the others and writes the launcher's arguments, is whole. It runs
here as it is; what it imports and does not use for that is an empty module.
"""

import sys
from pathlib import Path
from types import ModuleType

import erniekit
from erniekit import cli

UNUSED = {
    "chat.chat": "run_chat",
    "chat.server": "run_server",
    "eval.eval": "run_eval",
    "export.export": "run_export",
    "export.split": "run_split",
    "train.tuner": "run_tuner",
    "webui": "run_webui",
}


def stand_in(path: str, **contents: object) -> None:
    module = ModuleType(f"erniekit.{path}")
    vars(module).update(contents)
    sys.modules[module.__name__] = module


for path, name in UNUSED.items():
    folder, _, rest = path.partition(".")
    if rest:
        stand_in(folder, __path__=[])
    stand_in(path, **{name: None})
stand_in("launcher", __file__=str(Path(__file__).with_name("world.py")))
vars(erniekit)["launcher"] = sys.modules["erniekit.launcher"]
cli.main()
