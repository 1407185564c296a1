"""`import paddle.job as job`: the names of `paddlejob`, where the older documents look for them.

Installed as paddle/job beside PaddlePaddle's own files, or alone where PaddlePaddle is not installed.
"""

from paddlejob import *  # noqa: F403 - the same names, whatever they are
from paddlejob import __all__ as __all__
