"""A Python function as a program: its source, and the source, imports and plain values of what it uses.

Nothing is pickled. Whatever cannot be written as source is refused, with the name of what is in the way.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import symtable
import sys
import sysconfig
from collections.abc import Callable, Iterable
from keyword import iskeyword
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from paddlejob.errors import CannotShip

# Python's own parser reads no more than some 90 brackets within each other, and no longer decimal number.
DEEPEST = 40
LONGEST_DECIMAL = 10_000
_BRACKETS: dict[type, tuple[str, str, str]] = {
    list: ("[", "", "]"),
    tuple: ("(", "", ")"),
    set: ("{", "*()", "}"),
    frozenset: ("frozenset({", "*()", "})"),
}
_INSTALLED = tuple({sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")})


def program(function: Callable[..., object], arguments: dict[str, Any], modules: Iterable[str]) -> str:
    """The text of a file that calls the function. `modules` are those that travel along as files."""
    name = getattr(function, "__name__", repr(function))
    if not isinstance(inspect.unwrap(function), FunctionType) or name == "<lambda>":
        raise CannotShip(f"{name} is not a function with a name: write it with def")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise CannotShip(f"{name} would do nothing when called: make it a plain function, without async or yield")
    try:
        inspect.signature(function).bind(**arguments)
    except TypeError as error:
        raise CannotShip(f"{name} cannot be called with these arguments: {error}") from error
    written = _Writer(frozenset(modules))
    written.need(name, function, "the job")
    given = _call(arguments)
    if "frozenset" in written.known and "frozenset(" in given:
        raise CannotShip(f"{name} uses something of its own called frozenset, and an argument is one: rename it")
    return written.text() + f'\n\nif __name__ == "__main__":\n    {name}({given})\n'


class _Writer:
    def __init__(self, modules: frozenset[str]) -> None:
        self._modules = modules
        self._imports: dict[str, None] = {}
        self._values: list[str] = []
        self._sources: list[str] = []
        self.known: dict[str, Any] = {}
        self._future = False

    def text(self) -> str:
        future = ["from __future__ import annotations"] if self._future else []
        head = "\n".join([*future, *self._imports, *self._values])
        return "\n\n\n".join([head, *self._sources] if head else self._sources)

    def need(self, name: str, value: Any, user: str) -> None:
        """Make `name` mean `value` in the program; `user` is who needs it."""
        if name in self.known:
            if self.known[name] is not value:
                raise CannotShip(f"{user} and another part of the job mean different things by {name}: rename one")
            return
        self.known[name] = value
        if isinstance(value, ModuleType):
            self._module(name, value, user)
        elif isinstance(value, type) or callable(value):
            self._definition(name, value, user)
        else:
            self._values.append(f"{name} = {literal(value, f'{name}, which {user} uses,')}")

    def _module(self, name: str, module: ModuleType, user: str) -> None:
        if not self._importable(module.__name__):
            raise CannotShip(
                f"{user} uses the module {module.__name__}, which is not an installed package: pass its file in files="
            )
        self._imports[f"import {module.__name__}" + (f" as {name}" if name != module.__name__ else "")] = None

    def _definition(self, name: str, value: Any, user: str) -> None:
        home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", "").split(".")[-1]
        if home and self._importable(home) and getattr(sys.modules.get(home), own, None) is value:
            self._imports[f"from {home} import {own}" + (f" as {name}" if name != own else "")] = None
            return
        if not isinstance(inspect.unwrap(value), (FunctionType, type)) or own == "<lambda>":
            raise CannotShip(
                f"{name}, which {user} uses, is neither an installed function or class nor one written with def or"
                " class: make it inside the function"
            )
        self._source(own, value)
        if name != own:
            self.known.setdefault(own, value)
            self._sources.append(f"{name} = {own}")

    def _source(self, name: str, value: Any) -> None:
        try:
            source = inspect.getsource(value).rstrip("\n")
        except (OSError, TypeError) as error:
            raise CannotShip(
                f"the source of {name} is not known: write it in a file and pass that in files="
            ) from error
        if source[:1].isspace():
            source = f"if True:\n{source}"  # a closure, as deep as it stood
        scope = _scope(value)
        self._future = self._future or scope.get("annotations") is __future__.annotations
        for each in sorted(_names(source)):
            if each in scope:
                self.need(each, scope[each], name)
        self._submodules(source, scope)
        self._sources.append(source)

    def _submodules(self, source: str, scope: dict[str, Any]) -> None:
        """`import a.b` binds only a: whoever writes a.b needs that import again."""
        for node in ast.walk(ast.parse(source)):
            chain: list[str] = []
            inner = node
            while isinstance(inner, ast.Attribute):
                chain.insert(0, inner.attr)
                inner = inner.value
            root = scope.get(inner.id) if isinstance(inner, ast.Name) else None
            if chain and isinstance(root, ModuleType):
                full = f"{root.__name__}.{chain[0]}"
                for each in [*chain[1:], ""]:
                    if full not in sys.modules:
                        break
                    self._imports[f"import {full}"] = None
                    full = f"{full}.{each}"

    def _importable(self, module: str) -> bool:
        top = module.partition(".")[0]
        if top in self._modules:
            return True
        origin = getattr(getattr(sys.modules.get(module), "__spec__", None), "origin", None)
        if top == "__main__" or top not in sys.modules:
            return False
        return origin in (None, "built-in", "frozen") or str(Path(origin)).startswith(_INSTALLED)


def _call(arguments: dict[str, Any]) -> str:
    """The arguments of a call. A name that Python would not read as itself is data like the values."""
    plain, other = [], []
    for key, value in arguments.items():
        name, text = literal(key, "the name of an argument"), literal(value, f"the argument {key}")
        if key.isascii() and key.isidentifier() and not iskeyword(key) and key != "__debug__":
            plain.append(f"{key}={text}")
        else:
            other.append(f"{name}: {text}")
    return ", ".join([*plain, *(["**{" + ", ".join(other) + "}"] if other else [])])


def literal(value: Any, what: str, depth: int = 0) -> str:
    """Plain values only: a text that Python reads back as the same value, whatever names mean there."""
    if depth > DEEPEST:
        raise CannotShip(f"{what} contains itself, or is nested more than {DEEPEST} deep: pass less")
    match value:
        case int() if type(value) is int and value.bit_length() > LONGEST_DECIMAL:
            return hex(value)
        case None | bool() | int() | str() | bytes() if type(value) in (type(None), bool, int, str, bytes):
            return repr(value)
        case float() if type(value) is float:
            return repr(value).replace("inf", "1e999").replace("nan", "(1e999 - 1e999)")
        case list() | tuple() | set() | frozenset() if type(value) in _BRACKETS:
            begin, nothing, end = _BRACKETS[type(value)]
            return begin + ("".join(f"{literal(one, what, depth + 1)}, " for one in value).strip() or nothing) + end
        case dict() if type(value) is dict:
            pairs = (f"{literal(k, what, depth + 1)}: {literal(v, what, depth + 1)}" for k, v in value.items())
            return "{" + ", ".join(pairs) + "}"
    raise CannotShip(
        f"{what} is a {type(value).__name__}, but only plain values can be sent (numbers, strings, lists, dicts, ...):"
        " make it inside the function, or pass what it is made from"
    )


def _scope(value: Any) -> dict[str, Any]:
    """What the names in a definition mean where it stands."""
    inner = inspect.unwrap(value)
    if not isinstance(inner, FunctionType):
        return dict(vars(sys.modules[inner.__module__]))
    cells = dict(zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True))
    closed = {}
    for name, cell in cells.items():
        try:
            closed[name] = cell.cell_contents
        except ValueError:  # a name of the surrounding function that it has not given a value yet
            continue
    return {**inner.__globals__, **closed}


def _names(source: str) -> set[str]:
    """The names that a definition takes from outside."""
    found: set[str] = set()

    def visit(table: symtable.SymbolTable) -> None:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
                found.add(symbol.get_name())
        for child in table.get_children():
            visit(child)

    visit(symtable.symtable(source, "function", "exec"))
    return found
