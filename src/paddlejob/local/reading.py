"""Reading a file of Kubernetes objects: all that is wrong in it is told at once, each mistake with its line.

YAML is read as kubectl reads it: keys are text, dates are text, a key that stands twice is a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import yaml

from paddlejob.api.kubeflow import convert, is_of_kubeflow, source_of
from paddlejob.api.mistakes import Json, Mistake, misshapen, mistakes, shown
from paddlejob.api.mistakes import Path as FieldPath
from paddlejob.api.names import API_VERSION, KIND
from paddlejob.errors import Invalid
from paddlejob.local.extent import TooMuch, check_extent

_TEXT = {"type": "string"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_ANY = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object", "required": ["name"]}}
# What pods of a local run may read; of other kinds nothing is known here.
_BESIDE: dict[str, Json] = {
    "ConfigMap": {**_ANY, "immutable": {"type": "boolean"}, "data": _TEXTS, "binaryData": _TEXTS},
    "Secret": {**_ANY, "immutable": {"type": "boolean"}, "data": _TEXTS, "stringData": _TEXTS, "type": _TEXT},
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # its base is known at run time
    """Without dates: in JSON they are text."""

    yaml_implicit_resolvers: ClassVar = {
        first: [one for one in resolvers if one[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class Document(msgspec.Struct, frozen=True):
    """One object of a file, and the line where it begins."""

    body: Json
    line: int = 0
    converted: bool = False
    notes: tuple[str, ...] = ()
    """What is to be known of a job that was converted."""

    @property
    def kind(self) -> object:
        return self.body.get("kind")


class Misplaced(msgspec.Struct, frozen=True, order=True):
    """A mistake, and where in the text it stands; lines and columns are counted from 1, 0 means all of it."""

    line: int
    column: int
    text: str

    def within(self, source: str) -> str:
        return f"{source}:{self.line}:{self.column}: {self.text}" if self.line else f"{source}: {self.text}"


def read_file(path: Path) -> list[Document]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path}: is not a UTF-8 text file") from error
    return read_text(text, str(path))


def read_text(text: str, source: str) -> list[Document]:
    """All objects, Lists opened; `source` names the text in messages."""
    documents, found = parse_text(text)
    if found:
        lines = [one.within(source) for one in found]
        raise Invalid("\n".join([f"{source}: {len(lines)} mistakes", *lines] if len(lines) > 1 else lines))
    return documents


def parse_text(text: str) -> tuple[list[Document], list[Misplaced]]:
    """All objects, and all that is wrong with them, in order."""
    documents: list[Document] = []
    found: list[Misplaced] = []
    loader = _Loader(text)
    try:
        check_extent(text, _Loader)
        while loader.check_node():
            node = loader.get_node()
            found += _tidied(node, (), {})
            for path, one in _opened(loader.construct_document(node)):
                line = _at(node, path)[0].line + 1
                document, wrong = _understood(one, line)
                documents.append(document)
                found += [_found(node, path, each) for each in wrong]
    except yaml.YAMLError as error:
        return documents, [_not_yaml(error, text)]
    finally:
        loader.dispose()
    return documents, sorted(found)


def only_job(source: object, documents: list[Document]) -> Json:
    """The one PaddleJob among them."""
    jobs = [one for one in documents if one.kind == KIND]
    if len(jobs) == 1:
        return jobs[0].body
    if jobs:
        lines = " and ".join(str(one.line) for one in jobs)
        raise Invalid(f"{source}: it must contain one PaddleJob, but has {len(jobs)}, at lines {lines}: split the file")
    others = ", ".join(sorted({str(one.kind) for one in documents}))
    holds = f"no PaddleJob, only {others}" if others else "nothing"
    raise Invalid(f"{source}: it contains {holds}: add a document with kind: {KIND}")


def _opened(body: Any) -> Iterator[tuple[FieldPath, Any]]:
    if isinstance(body, dict) and body.get("kind") == "List" and isinstance(body.get("items"), list):
        for index, one in enumerate(body["items"]):
            yield ("items", index), one
    elif body:
        yield (), body


def _understood(one: Any, line: int) -> tuple[Document, list[Mistake]]:
    if not is_of_kubeflow(one):
        return Document(one if isinstance(one, dict) else {}, line), _wrong(one)
    made = convert(one)
    # Until its shape is right, what becomes of it says nothing.
    wrong = [*made.mistakes] or [
        msgspec.structs.replace(each, path=source_of(each.path)) for each in mistakes(made.document)
    ]
    return Document(made.document, line, True, made.notes), wrong


def _wrong(one: Any) -> list[Mistake]:
    if not isinstance(one, dict):
        return [Mistake((), "an object is a mapping that begins with apiVersion and kind")]
    kind = one.get("kind")
    if kind == KIND:
        return mistakes(one)
    if isinstance(kind, str) and kind in _BESIDE:
        shape = {"type": "object", "properties": _BESIDE[kind], "required": ["apiVersion", "metadata"]}
        return list(misshapen(one, shape))
    if one.get("apiVersion") == API_VERSION or str(kind).lower() == KIND.lower():
        said = f"is {kind!r}" if kind else "is missing"
        return [Mistake(("kind",), f"{said}: write {KIND}")]
    known = {name: one.get(name) for name in _ANY}
    return list(misshapen(known, {"type": "object", "properties": _ANY, "required": list(_ANY)}))


def _tidied(node: yaml.Node, path: FieldPath, seen: dict[int, bool]) -> Iterator[Misplaced]:
    """Makes all keys text, as in JSON; tells keys that stand twice. `seen` says of nodes whether all is seen."""
    if not seen.get(id(node), True):
        raise yaml.composer.ComposerError(problem="an anchor contains itself", problem_mark=node.start_mark)
    if id(node) in seen:
        return
    seen[id(node)] = False
    if isinstance(node, yaml.SequenceNode):
        for index, one in enumerate(node.value):
            yield from _tidied(one, (*path, index), seen)
    if isinstance(node, yaml.MappingNode):
        yield from _tidied_keys(node, path, seen)
    seen[id(node)] = True


def _tidied_keys(node: yaml.MappingNode, path: FieldPath, seen: dict[int, bool]) -> Iterator[Misplaced]:
    lines: dict[str, int] = {}
    for key, value in node.value:
        at = (*path, str(key.value))
        yield from _tidied(value, at, seen)
        if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
            continue
        key.tag = "tag:yaml.org,2002:str"
        line, column = key.start_mark.line + 1, key.start_mark.column + 1
        if key.value in lines:
            yield Misplaced(line, column, f"{shown(at)} is set twice, first at line {lines[key.value]}: keep one")
        lines.setdefault(key.value, line)


def _found(document: yaml.Node, around: FieldPath, wrong: Mistake) -> Misplaced:
    wrong = msgspec.structs.replace(wrong, path=(*around, *wrong.path))
    mark, node = _at(document, wrong.path)
    text = str(wrong)
    if wrong.written and isinstance(node, yaml.ScalarNode) and not node.style:
        text = text.replace(wrong.written, node.value)  # `yes` and 010 as they were written, not as true and 8
    return Misplaced(mark.line + 1, mark.column + 1, text)


def _at(node: yaml.Node, path: FieldPath) -> tuple[yaml.Mark, yaml.Node | None]:
    """Where that field, or the nearest around it, begins; and the value that stands there."""
    mark = node.start_mark
    for step in path:
        if isinstance(node, yaml.MappingNode):
            # The last wins: what is merged into a mapping comes before its own keys.
            pairs = [(key, value) for key, value in node.value if key.value == step]
            if not pairs:
                return mark, None
            key, node = pairs[-1]
            mark = key.start_mark
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            mark = node.start_mark
    return mark, node


def _not_yaml(error: yaml.YAMLError, text: str) -> Misplaced:
    if isinstance(error, TooMuch):
        return Misplaced(error.line, error.column, error.text)
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Misplaced(0, 0, f"is not YAML: {' '.join(str(error).split())}")
    problem = getattr(error, "problem", None) or "it ends too early"
    line = [*text.splitlines(), ""][mark.line]
    if "\t" in line[: mark.column + 1] and not line[: mark.column].strip():
        problem = "a tab cannot indent YAML: write spaces"
    elif "mapping values" in problem:
        problem += ": put a value that contains a colon in quotes, or check the indentation"
    elif not line:
        problem += ": it ends in the middle: is a bracket or quote left open?"
    return Misplaced(mark.line + 1, mark.column + 1, f"is not YAML: {problem}")
