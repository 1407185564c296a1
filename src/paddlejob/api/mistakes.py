"""All that is wrong in the document of a job, told as an API server would judge it and as a person can use it.

The schema is the CRD's own, so what passes here passes there: field names, types, bounds, the pod template included.
Where all have their types, the rules of `rules.py` are asked too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

import msgspec

from paddlejob.api import crd
from paddlejob.api.formats import is_json_integer, matches
from paddlejob.api.job import Job
from paddlejob.api.labels import wrong_labels
from paddlejob.api.names import API_VERSION, KIND, LABEL, is_label
from paddlejob.api.rules import WHOLE_NUMBERS, broken

Json = dict[str, Any]
Path = tuple[str | int, ...]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
}
_WANTED = {
    "object": "a mapping (lines of `key: value`)",
    "array": "a list (each item after a `- `)",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
# What versions of paddle-operator after 0.3 had, which were never released; their examples are still around.
_FORMER: dict[Path, str] = {
    ("spec", "tasks"): "write the servers as ps, the workers as worker",
    ("spec", "mode"): "remove it; with ps the mode is PS, without it Collective",
}
# More than these are no help.
_MOST_CHOICES = 15


class Mistake(msgspec.Struct, frozen=True):
    """`meant` is the field, not there otherwise, that a misspelt one probably stands for; `written` is a number or
    a flag in place of another type, as it stands in the text."""

    path: Path
    text: str
    meant: str | None = None
    written: str = ""

    def __str__(self) -> str:
        return self.about(shown(self.path))

    def about(self, name: str) -> str:
        """The sentence, with another name for the field."""
        if self.text.startswith(name):
            return self.text
        return f"{name} {self.text}" if self.text.startswith(("is ", "must ")) else f"{name}: {self.text}"


def shown(path: Path) -> str:
    """
    >>> shown(("spec", "containers", 0, "image"))
    'spec.containers[0].image'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def mistakes(document: Json) -> list[Mistake]:
    """Of a PaddleJob. A rule is silent about fields that are wrong already."""
    schema = _job_schema()
    found = list(misshapen({name: child for name, child in document.items() if name != "status"}, schema))
    found += _unknown_fields(document.get("status"), schema["properties"]["status"], ("status",))
    try:
        job = job_of(document, found)
    except msgspec.ValidationError as error:
        return found or [Mistake((), str(error))]
    wrong = [shown(mistake.path) for mistake in found]
    metadata = document["metadata"] if isinstance(document.get("metadata"), dict) else {}
    for field, key, text in wrong_labels(metadata):
        found.append(Mistake(("metadata", field, key) if key else ("metadata", field), text))
    wrong += [shown((*mistake.path[:-1], mistake.meant)) for mistake in found if mistake.meant]
    if not is_label(job.metadata.namespace or "default"):
        text = f"{_quote(job.metadata.namespace)} cannot be the name of a namespace: {LABEL}"
        found.append(Mistake(("metadata", "namespace"), text))
    for rule in broken(job):
        if not any(_overlap(read, path) for read in rule.reads for path in wrong):
            found.append(Mistake(tuple(rule.reads[0].split(".")), rule.message))
    return found


def job_of(document: Json, wrong: Iterable[Mistake] = ()) -> Job:
    """The typed job, without what is wrong in it, and without fields that are empty: they count as left out.

    Its status does not count either: nobody but the one who runs a job says how it is.
    """
    return msgspec.convert(_without(document, {("status",), *(mistake.path for mistake in wrong)}), Job)


def misshapen(value: object, schema: Json, path: Path = ()) -> Iterator[Mistake]:
    """Where a value does not follow a structural schema."""
    wanted = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else [schema["type"]]
    whole = "template" not in path and len(wanted) == 1
    if not any(_is_of_type(value, name, whole=whole) for name in wanted):
        nearly = whole and wanted == ["integer"] and isinstance(value, float) and is_json_integer(value)
        yield Mistake(path, WHOLE_NUMBERS.message) if nearly else _of_another_type(value, wanted, path)
    elif isinstance(value, dict):
        yield from _in_mapping(value, schema, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from misshapen(item, schema["items"], (*path, index))
    elif text := _out_of_bounds(value, schema):
        yield Mistake(path, text)


def _is_of_type(value: object, name: str, *, whole: bool) -> bool:
    """Numbers of the job itself are whole, others as whole as an API server demands."""
    if isinstance(value, bool) or name == "boolean":
        return isinstance(value, bool) and name == "boolean"
    if name == "integer":
        return is_json_integer(value) and not (whole and isinstance(value, float))
    return isinstance(value, _TYPES[name])


def _in_mapping(value: Json, schema: Json, path: Path) -> Iterator[Mistake]:
    known, others = schema.get("properties"), schema.get("additionalProperties")
    given = {name: child for name, child in value.items() if child is not None}  # an empty field counts as left out
    for name, child in given.items():
        if known is not None and name in known:
            yield from misshapen(child, known[name], (*path, name))
        elif others is not None:
            yield from misshapen(child, others, (*path, name))
    if known is not None and others is None:
        for name in value.keys() - known.keys():  # also an empty one
            yield _misplaced(name, known, path) or _unknown(name, list(known), path, value)
    for name in schema.get("required", ()):
        if name not in given:
            choices = schema.get("properties", {}).get(name, {}).get("enum", ())
            yield Mistake((*path, name), f"is missing: {f'write {choices[0]}' if len(choices) == 1 else 'add it'}")


def _unknown_fields(value: object, schema: Json, path: Path) -> Iterator[Mistake]:
    """All that is asked of a status that somebody submits with a job: its values are dropped, its names are not."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown_fields(item, schema.get("items", {}), (*path, index))
    elif isinstance(value, dict):
        known = schema.get("properties", {})
        for name, child in value.items():
            if name in known:
                yield from _unknown_fields(child, known[name], (*path, name))
            else:
                yield _unknown(name, list(known), path, value)


def _misplaced(name: str, known: Json, path: Path) -> Mistake | None:
    """A field of the pod beside its template, where other programs' jobs have some."""
    inner = known.get("template", {}).get("properties", {}).get("spec", {}).get("properties", {})
    return (
        Mistake((*path, name), f"there is no such field: write it under template.spec, as {name}")
        if name in inner
        else None
    )


def _unknown(name: str, known: list[str], path: Path, beside: Json) -> Mistake:
    meant = _close(str(name), known)
    if former := _FORMER.get((*path, name)):
        advice = former
    elif meant:
        advice = f"did you mean `{meant}`?"
    elif len(known) <= _MOST_CHOICES:
        advice = f"use one of {', '.join(known)}"
    else:
        advice = "remove it, or check its indentation"
    return Mistake((*path, name), f"there is no such field: {advice}", None if meant in beside else meant)


def _of_another_type(value: object, wanted: list[str], path: Path) -> Mistake:
    written = _quote(value)
    must = f"must be {' or '.join(_WANTED[name] for name in wanted)}, not {written}"
    if not isinstance(value, int | float):
        return Mistake(path, must)
    return Mistake(path, f'{must}: write it in quotes, "{written}"' if "string" in wanted else must, written=written)


def _out_of_bounds(value: Any, schema: Json) -> str | None:
    if "enum" in schema and value not in schema["enum"]:
        choices: list[str] = schema["enum"]
        if len(choices) > 1 and (meant := _close(value, choices)):
            return f"{_quote(value)} is unknown: did you mean {meant}?"
        return f"{_quote(value)} is unknown: write {' or '.join(choices[:_MOST_CHOICES])}"
    if value < schema.get("minimum", value):
        return f"must be {schema['minimum']} or more, not {value}"
    if value > schema.get("maximum", value):
        return f"must be {schema['maximum']} or less, not {value}"
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"may have at most {schema['maxLength']} characters, not {len(value)}"
    if "pattern" in schema and isinstance(value, str) and not matches(schema["pattern"], value):
        return f"{_quote(value)} is not a quantity: write a number with a unit, such as 500m, 2 or 4Gi"
    return None


def _close(name: str, known: Iterable[str]) -> str | None:
    by_small = {one.lower(): one for one in known}
    found = get_close_matches(name.lower(), by_small, n=1)
    return by_small[found[0]] if found else None


def _quote(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = msgspec.json.encode(value).decode() if isinstance(value, str | int | float) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _overlap(one: str, other: str) -> bool:
    """Whether one path holds the other."""
    return any(f"{a}.".startswith((f"{b}.", f"{b}[")) for a, b in ((one, other), (other, one)))


def _without(value: Any, wrong: set[Path], path: Path = ()) -> Any:
    if isinstance(value, dict):
        kept = ((name, child) for name, child in value.items() if child is not None and (*path, name) not in wrong)
        return {name: _without(child, wrong, (*path, name)) for name, child in kept}
    if isinstance(value, list):
        items = ((item, (*path, index)) for index, item in enumerate(value))
        return [_without(item, wrong, at) for item, at in items if at not in wrong]
    return value


@cache
def _job_schema() -> Json:
    """The CRD's schema, and what an API server knows of metadata and versions besides."""
    schema = crd.schema()
    metadata = schema["properties"]["spec"]["properties"]["worker"]["properties"]["template"]["properties"]["metadata"]
    by_server = {"type": "array", "items": {"type": "object"}}
    names = {**metadata["properties"], "managedFields": by_server, "ownerReferences": by_server}
    own = {
        "apiVersion": {"type": "string", "enum": [API_VERSION]},
        "kind": {"type": "string", "enum": [KIND]},
        "metadata": {"type": "object", "properties": names, "required": ["name"]},
    }
    return {
        **schema,
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": {**schema["properties"], **own},
    }
