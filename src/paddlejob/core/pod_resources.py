"""What a pod asks of a node, by its template: as schedulers count it.

Containers together with sidecars, or the init container that needs most, together with the sidecars before it,
whichever is more; and the overhead of its runtime. A limit counts as a request where there is none. What a template
says for the pod as a whole wins.
"""

from __future__ import annotations

from paddlejob.core.quantities import Amounts, amounts, most, plus
from paddlejob.core.template import Mapping, mapping, mappings


def pod_resources(template: Mapping) -> Amounts:
    spec = mapping(template.get("spec"))
    sidecars: Amounts = {}
    starting: list[Amounts] = []
    for container in mappings(spec.get("initContainers")):
        own = _asked(container)
        if container.get("restartPolicy") == "Always":
            sidecars = plus(sidecars, own)
            starting.append(sidecars)
        else:
            starting.append(plus(sidecars, own))
    running = plus(sidecars, *(_asked(container) for container in mappings(spec.get("containers"))))
    whole = {**most(running, *starting), **_asked(spec)}
    return plus(whole, amounts(mapping(spec.get("overhead"))))


def _asked(of: Mapping) -> Amounts:
    resources = mapping(of.get("resources"))
    return amounts({**mapping(resources.get("limits")), **mapping(resources.get("requests"))})
