"""What is shown as dots, and what is not: a secret that is shown is seen, and a parameter that is hidden is missed."""

from __future__ import annotations

import time
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
    "a password with signs in it": ({"uri": "mysql://me:a@b@db/t"}, {"uri": f"mysql://me:{DOTS}@db/t"}),
    "a token in place of a user": (
        ["git clone https://abcdefghij0123456789@git.example/x"],
        [f"git clone https://{DOTS}@git.example/x"],
    ),
    "a header of a probe": ({"name": "Authorization", "value": "Bearer x"}, {"name": "Authorization", "value": DOTS}),
    "a header of a command": (["curl -H 'Authorization: Bearer abc' u"], [f"curl -H 'Authorization: Bearer {DOTS}' u"]),
    "a bearer by itself": (["echo Bearer abcdefgh123"], [f"echo Bearer {DOTS}"]),
    "in JSON": (['{"password": "x", "lr": 0.1}'], [f'{{"password": {DOTS}, "lr": 0.1}}']),
    "in YAML": (["user: me\npassword: x\nlr: 0.1"], [f"user: me\npassword: {DOTS}\nlr: 0.1"]),
    "in Python": (["python -c \"api_key = 'x'; go()\""], [f'python -c "api_key = {DOTS}; go()"']),
    "in a query": (["get https://s/x?access_token=abc&n=1"], [f"get https://s/x?access_token={DOTS}&n=1"]),
    "Baidu's keys": (
        [{"name": "BOS_AK", "value": "x"}, {"name": "BOS_SK", "value": "y"}],
        [{"name": "BOS_AK", "value": DOTS}, {"name": "BOS_SK", "value": DOTS}],
    ),
    "what is a key by its form": ({"name": "A", "value": "AKIAABCDEFGHIJKLMNOP"}, {"name": "A", "value": DOTS}),
    "what is a token by its form": (["login hf_abcdefghijklmnopqrstuvwx"], [f"login {DOTS}"]),
    "a private key": (
        {"a": "-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\n"},
        {"a": f"-----BEGIN RSA PRIVATE KEY-----{DOTS}-----END RSA PRIVATE KEY-----\n"},
    ),
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
    "ssh://git@git.example/x",
    {"key": "gpu", "operator": "In", "values": ["a100"]},
    ["if token == other: go()", "task-1", "a risk: none", "--mask-token-id 4", "--pad-token x"],
    {"name": "DISK", "value": "ssd"},
    None,
    3,
)


@pytest.mark.parametrize(("given", "shown"), SECRETS.values(), ids=SECRETS)
def test_what_looks_like_a_secret_is_shown_as_dots(given: Any, shown: Any) -> None:
    assert masked({"spec": [given]}) == {"spec": [shown]}


@pytest.mark.parametrize("given", OTHERS, ids=str)
def test_what_refers_to_a_secret_or_is_none_stays(given: Any) -> None:
    assert masked(given) == given


HOSTILE = {
    "dashes": "-",
    "options": "--secret",
    "options within options": "-secret",
    "names": "secret",
    "names and spaces": "secret ",
    "quotes": "secret='",
    "addresses": "a://b:c",
    "users": "abcdefghijklmnop",
    "at signs": "a://b:@",
    "half a JWT": "eyJ-eyJ-",
    "half a bearer": "bearer ",
    "half a key": "-----BEGIN PRIVATE ",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_a_text_that_somebody_made_to_be_slow_is_not(piece: str) -> None:
    """As long as an annotation may be. What grows with the square of the length takes minutes."""
    text = piece * (256 * 1024 // len(piece))
    began = time.process_time()
    masked({"metadata": {"annotations": {"a": text}}})
    assert time.process_time() - began < 5
