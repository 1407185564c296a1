"""What is shown as dots, and what is not: a secret that is shown is seen, and a parameter that is hidden is missed."""

from __future__ import annotations

from typing import Any

import pytest

from paddlejob.ui.masking import DOTS, masked

SECRETS: dict[str, tuple[Any, Any]] = {
    "a variable": ({"name": "DB_PASSWORD", "value": "x"}, {"name": "DB_PASSWORD", "value": DOTS}),
    "a cloud's key": (
        {"name": "AWS_SECRET_ACCESS_KEY", "value": "x"},
        {"name": "AWS_SECRET_ACCESS_KEY", "value": DOTS},
    ),
    "a token": ({"name": "HF_TOKEN", "value": "x"}, {"name": "HF_TOKEN", "value": DOTS}),
    "an option": (["--password=x", "y"], [f"--password={DOTS}", "y"]),
    "an option and its value": (["--api-key", "x", "y"], ["--api-key", DOTS, "y"]),
    "in a script": (["export WANDB_API_KEY='x y'; run"], [f"export WANDB_API_KEY={DOTS}; run"]),
    "in an address": ({"uri": "mysql://me:x@db/t"}, {"uri": f"mysql://me:{DOTS}@db/t"}),
    "an annotation": ({"example.com/auth-token": "x"}, {"example.com/auth-token": DOTS}),
    "the object once more": (
        {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
        {"kubectl.kubernetes.io/last-applied-configuration": DOTS},
    ),
}
OTHERS: tuple[Any, ...] = (
    {"name": "TOKENIZERS_PARALLELISM", "value": "false"},
    {"name": "MONKEY", "value": "a"},
    {"name": "COMPASS", "value": "n"},
    {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
    {"secret": {"secretName": "s", "optional": True}, "serviceAccountToken": {"path": "token"}},
    ["--max-tokens", "128", "--tokenizer=bert", "--lr", "0.1", "--author", "me"],
    {"automountServiceAccountToken": False, "image": "registry.example/secret:1"},
    "http://db:8080/x@y",
    None,
    3,
)


@pytest.mark.parametrize(("given", "shown"), SECRETS.values(), ids=SECRETS)
def test_what_looks_like_a_secret_is_shown_as_dots(given: Any, shown: Any) -> None:
    assert masked({"spec": [given]}) == {"spec": [shown]}


@pytest.mark.parametrize("given", OTHERS, ids=str)
def test_what_refers_to_a_secret_or_is_none_stays(given: Any) -> None:
    assert masked(given) == given
