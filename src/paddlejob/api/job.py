"""PaddleJob: the object that users create."""

from __future__ import annotations

from typing import Annotated

import msgspec

from paddlejob.api import rules
from paddlejob.api.meta import ObjectMeta
from paddlejob.api.names import API_VERSION, KIND
from paddlejob.api.spec import PaddleJobSpec
from paddlejob.api.status import Status


class Job(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    api_version: str = API_VERSION
    kind: str = KIND
    metadata: ObjectMeta = ObjectMeta()
    spec: Annotated[PaddleJobSpec, rules.validations((*rules.SPEC, *rules.TRANSITIONS))] = PaddleJobSpec()
    status: Status = Status()
