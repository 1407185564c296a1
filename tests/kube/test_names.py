"""The names other packages import are a promise."""

from __future__ import annotations

from paddlejob import kube


def test_the_public_names_are_these_and_all_are_there() -> None:
    assert kube.__all__ == sorted(kube.__all__)
    assert set(kube.__all__) >= {"Client", "Election", "FairLimiter", "Reflector", "Store", "WorkQueue", "load_config"}
    assert all(hasattr(kube, name) for name in kube.__all__)
