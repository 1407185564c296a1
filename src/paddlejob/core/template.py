"""Reading a user's pod template. It may be half empty or odd: reading never fails."""

from __future__ import annotations

from typing import Any

from paddlejob.api.names import CONTAINER

Mapping = dict[str, Any]


def mapping(value: object) -> Mapping:
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def containers(template: Mapping) -> list[Mapping]:
    return mappings(mapping(template.get("spec")).get("containers"))


def main_index(found: list[Mapping]) -> int:
    """The container that trains: the one named paddle, else the first."""
    return next((i for i, container in enumerate(found) if container.get("name") == CONTAINER), 0)


def env_value(template: Mapping, name: str) -> str | None:
    """The literal value that the user gave a variable of the training container."""
    found = containers(template)
    if not found:
        return None
    variables = mappings(found[main_index(found)].get("env"))
    values = [variable.get("value") for variable in variables if variable.get("name") == name]
    value = values[-1] if values else None  # of two with the same name Kubernetes takes the last
    return value if isinstance(value, str) and value else None


def asks_for_accelerator(template: Mapping) -> bool:
    """Whether any container asks for a device: an extended resource such as nvidia.com/gpu, or a claim."""
    return any(_has_device(mapping(container.get("resources"))) for container in containers(template))


def asked_resources(template: Mapping) -> list[str]:
    """The names of all that any container asks for, but for what it asks none of."""
    return [name for container in containers(template) for name in _asked(mapping(container.get("resources")))]


def _asked(resources: Mapping) -> list[str]:
    asked = {**mapping(resources.get("requests")), **mapping(resources.get("limits"))}
    return [str(name) for name, quantity in asked.items() if str(quantity) != "0"]


def _has_device(resources: Mapping) -> bool:
    wanted = (name.partition("/") for name in _asked(resources))
    return bool(resources.get("claims")) or any(slash and not of.endswith("kubernetes.io") for of, slash, _ in wanted)
