"""The cluster as a place, as far as no cluster is needed: what is refused before anything is asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from paddlejob.api.meta import Key
from paddlejob.errors import Invalid
from paddlejob.places.cluster import Cluster
from paddlejob.places.place import Description


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    """Of a cluster that nobody answers for."""
    config = {
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "a", "user": {}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return str(path)


@pytest.mark.parametrize("said", ["", ".", "..", "../x", "a/b", "a?b", "%2e%2e", "A", "a..b"])
async def test_what_cannot_be_a_name_is_never_part_of_a_path(kubeconfig: str, said: str) -> None:
    """Without its name, a job's path is that of all jobs: `paddlejob delete "$UNSET"` must not get near it."""
    async with Cluster.connect(kubeconfig=kubeconfig) as cluster:
        job = {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob", "metadata": {"name": said}}
        for asked in (
            cluster.submit(Description(job)),
            cluster.get(Key("default", said)),
            cluster.get(Key(said, "job")),
            cluster.list(said),
        ):
            with pytest.raises(Invalid, match=re.escape(f"can be called {said!r}")):
                await asked
