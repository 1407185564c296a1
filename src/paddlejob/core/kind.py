"""What describes one kind of object that a job owns: where it lives, how it is read, when it is made and removed.

Each kind has a file of its own; `kinds` is the table of them. Whoever acts on what a job owns goes through the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Generic, Literal, NamedTuple, TypeVar

import msgspec

from paddlejob.api import Job
from paddlejob.core.actions import Create, Update
from paddlejob.core.children import Child, KindName, Verb
from paddlejob.core.observe import Observed, Scheduling

C = TypeVar("C", bound=Child)
Extent = Literal["everything", "what still runs", "nothing"]


class Missing(NamedTuple):
    """One object that a job lacks. Its body is built when it is made: of a large job most are not made in this step."""

    kind: KindName
    name: str
    make: Callable[[], Create | Update]
    verb: Verb = "create"


class Kind(msgspec.Struct, Generic[C], frozen=True, kw_only=True):
    type: type[C]
    """The fields of an object that decisions read. The class is named after the kind."""
    group: str = ""
    version: str = "v1"
    older: tuple[str, ...] = ()
    """Versions in which it is watched where an API server does not serve `version`."""
    plural: str
    names: Callable[[Job], tuple[str, ...]]
    """What the job's objects of this kind are called."""
    missing: Callable[[Job, Observed, datetime], Iterable[Missing]]
    """What a job that has not ended lacks of this kind now."""
    precedes_pods: Callable[[Job], bool]
    """Whether pods must wait until nothing of this kind is missing."""
    is_cleaned: Callable[[C, Extent], bool]
    """Whether this object is deleted after the job's end, given how much `cleanPodPolicy` removes."""
    wanted_by: Callable[[Job, Scheduling], bool] = lambda _, __: True
    """Whether the job needs objects of this kind. Kinds that not every API server has are watched only then."""
    by_name: Callable[[str], str] | None = None
    """From an object's name, the name of the job that it is for: such kinds are watched whole, and an object that no
    controller owns is used as it is. None: a label tells, and only what carries it is watched."""
    is_custom: bool = False
    """Whether it is known to an API server only by a CustomResourceDefinition."""
    is_made: bool = True
    """Whether the operator makes such objects; otherwise it only reads them."""

    @property
    def name(self) -> KindName:
        return self.type.kind
