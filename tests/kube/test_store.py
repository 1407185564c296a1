"""What a loop may rely on: its own writes are there at once, and the dead stay dead."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlejob.kube.errors import Undecodable
from paddlejob.kube.events import Bookmark, Removed, Seen, Skipped
from paddlejob.kube.objects import Key
from paddlejob.kube.store import BATCH, Change, Store
from tests.kube.things import Thing, a_thing

A = ("default", "a")


def a_store(*things: Thing, version: int = 100) -> tuple[Store[Thing], list[Change[Thing]]]:
    store: Store[Thing] = Store(now=lambda: "2026-01-02T03:04:05Z")
    replace_all(store, things, None, str(version))
    changes: list[Change[Thing]] = []
    store.subscribe(changes.append)
    return store, changes


def replace_all(store: Store[Thing], things: Iterable[Thing], scope: str | None, version: str) -> None:
    for _ in store.replacing(things, scope, version):
        pass


def names(store: Store[Thing]) -> list[str]:
    return sorted(thing.metadata.name for thing in store)


def test_events_change_the_store_and_are_told_with_before_and_after() -> None:
    store, changes = a_store()
    first, second = a_thing("a", 101), a_thing("a", 102)
    store.apply_event(Seen(first))
    store.apply_event(Seen(second))
    store.apply_event(Removed(a_thing("a", 103)))
    store.apply_event(Removed(a_thing("a", 103)))
    assert changes == [Change(None, first), Change(first, second), Change(second, None)]
    assert len(store) == 0


def test_a_handler_that_fails_at_an_object_keeps_nobody_else_from_hearing_of_it() -> None:
    failed: list[tuple[Key, str]] = []
    store: Store[Thing] = Store(on_error=lambda key, error: failed.append((key, str(error))))
    heard: list[str] = []

    def picky(change: Change[Thing]) -> None:
        assert change.after is not None, "it is gone"
        heard.append(f"picky {int(change.after.metadata.name)}")

    store.subscribe(picky)
    store.subscribe(lambda change: heard.append("other"))
    replace_all(store, [a_thing("a", 1), a_thing("7", 2)], None, "3")
    store.apply_event(Removed(a_thing("7", 103)))
    assert heard == ["other", "picky 7", "other", "other"]
    assert [key for key, _ in failed] == [("default", "a"), ("default", "7")]
    assert "invalid literal" in failed[0][1]
    assert "it is gone" in failed[1][1]


def test_without_anybody_to_tell_a_failing_handler_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    store: Store[Thing] = Store()
    store.subscribe(lambda change: [].pop())
    store.apply_event(Seen(a_thing("a", 101)))
    assert "a handler failed at default/a" in caplog.text
    assert len(store) == 1


def test_objects_are_found_by_the_uid_of_their_controller() -> None:
    store, _ = a_store(
        a_thing("a", 1, owner="x"), a_thing("b", 2, owner="x"), a_thing("c", 3, owner="y"), a_thing("d", 4)
    )
    assert [thing.metadata.name for thing in store.owned_by("x")] == ["a", "b"]
    store.apply_event(Seen(a_thing("b", 101, owner="y")))
    store.apply_event(Removed(a_thing("a", 102, owner="x")))
    assert store.owned_by("x") == ()
    assert [thing.metadata.name for thing in store.owned_by("y")] == ["c", "b"]
    assert store.owned_by("nobody") == ()


def test_the_store_may_change_while_it_is_walked() -> None:
    store, _ = a_store(a_thing("a", 1), a_thing("b", 2))
    for thing in store:
        store.apply_event(Removed(thing))
    assert len(store) == 0


def test_a_write_is_read_at_once_and_its_own_event_changes_nothing() -> None:
    store, changes = a_store()
    written = a_thing("a", 105)
    store.wrote(written)
    assert store.get(A) == written
    store.apply_event(Seen(a_thing("a", 105)))
    assert changes == [Change(None, written)]


def test_an_event_older_than_our_write_is_not_applied() -> None:
    store, _ = a_store(a_thing("a", 90))
    store.wrote(a_thing("a", 105, value=5))
    store.apply_event(Seen(a_thing("a", 103, value=3)))
    assert store.get(A) == a_thing("a", 105, value=5)
    store.apply_event(Seen(a_thing("a", 106, value=6)))
    assert store.get(A) == a_thing("a", 106, value=6)


@pytest.mark.parametrize(
    ("position", "written"),
    [(105, 105), (105, 101), (105, "not-a-number")],
    ids=["told already", "older than the watch", "versions that cannot be compared"],
)
def test_a_late_answer_never_resurrects_what_the_watch_has_removed(position: int, written: int | str) -> None:
    store, changes = a_store()
    store.apply_event(Removed(a_thing("a", position)))
    store.wrote(a_thing("a", written))
    assert store.get(A) is None
    assert changes == []


def test_a_bookmark_counts_as_told() -> None:
    store, _ = a_store()
    store.apply_event(Bookmark("200", False))
    store.wrote(a_thing("a", 150))
    assert store.get(A) is None


def test_answers_out_of_order_leave_the_newest() -> None:
    store, _ = a_store()
    store.wrote(a_thing("a", 106, value=6))
    store.wrote(a_thing("a", 105, value=5))
    assert store.get(A) == a_thing("a", 106, value=6)


@pytest.mark.parametrize(
    ("event", "gone"),
    [
        (Removed(a_thing("a", 103, uid="new")), True),
        (Removed(a_thing("a", 103, uid="old")), False),
        (Removed(a_thing("a", 109, uid="old")), True),
        (Removed(a_thing("a", "x", uid="old")), True),
    ],
    ids=["the same object", "its predecessor", "newer", "not comparable"],
)
def test_a_delete_removes_the_same_object_or_an_older_one(event: Removed[Thing], gone: bool) -> None:
    store, _ = a_store()
    store.wrote(a_thing("a", 105, uid="new"))
    store.apply_event(event)
    assert (store.get(A) is None) is gone


def test_our_delete_is_seen_at_once_and_survives_a_replayed_event() -> None:
    store, changes = a_store(a_thing("a", 90, owner="x"))
    store.mark_deleting(A, "uid-of-a")
    (held,) = store.owned_by("x")
    assert held.metadata.deletion_timestamp == "2026-01-02T03:04:05Z"
    store.apply_event(Seen(a_thing("a", 90, owner="x")))
    replace_all(store, [a_thing("a", 90, owner="x")], None, "110")
    store.mark_deleting(A, "uid-of-a")
    assert len(changes) == 1
    store.apply_event(Seen(a_thing("a", 111)))
    now = store.get(A)
    assert now is not None
    assert now.metadata.deletion_timestamp is None


@pytest.mark.parametrize(("key", "uid"), [(A, "another"), (("default", "b"), "uid-of-a")], ids=["uid", "key"])
def test_a_delete_of_another_object_marks_nothing(key: tuple[str, str], uid: str) -> None:
    store, changes = a_store(a_thing("a", 90))
    store.mark_deleting(key, uid)
    assert changes == []


def test_a_list_deletes_what_is_missing_and_tells_only_what_differs() -> None:
    store, changes = a_store(a_thing("a", 90), a_thing("b", 91), a_thing("c", 92))
    replace_all(store, [a_thing("a", 90), a_thing("b", 105), a_thing("d", 106)], None, "110")
    assert names(store) == ["a", "b", "d"]
    told = [((change.before or change.after), change.after is None) for change in changes]
    assert [(thing.metadata.name, gone) for thing, gone in told if thing] == [("c", True), ("b", False), ("d", False)]


def test_a_list_keeps_what_was_written_after_it_and_only_that() -> None:
    store, _ = a_store(a_thing("c", 90))
    store.wrote(a_thing("a", 105))
    store.wrote(a_thing("b", 120))
    store.wrote(a_thing("c", 121, value=1))
    replace_all(store, [a_thing("c", 90)], None, "110")
    assert names(store) == ["b", "c"]
    assert store.get(("default", "c")) == a_thing("c", 121, value=1)
    replace_all(store, [], None, "130")
    assert names(store) == []


def test_a_long_list_is_taken_in_batches_and_what_is_written_between_them_stays() -> None:
    old, new = ([a_thing(f"{age}-{index}", 90) for index in range(2 * BATCH)] for age in ("old", "new"))
    store, _ = a_store(*old)
    told: list[int] = []
    store.subscribe(lambda _: told.append(1))
    batches = []
    for _ in store.replacing(new, None, "110"):
        batches.append(len(told))
        told.clear()
        store.wrote(a_thing(f"new-{2 * BATCH - 1}", 111, value=len(batches)))
        store.wrote(a_thing("beside", 112 + len(batches)))
        told.clear()
    assert batches[:3] == [BATCH] * 3
    assert names(store) == sorted([*(one.metadata.name for one in new), "beside"])
    assert store.get(("default", f"new-{2 * BATCH - 1}")) == a_thing(f"new-{2 * BATCH - 1}", 111, value=1)


def test_a_list_after_a_restore_from_backup_wins_although_its_version_is_lower() -> None:
    store, _ = a_store(a_thing("a", 90), a_thing("b", 95))
    replace_all(store, [a_thing("a", 20, value=2)], None, "50")
    assert names(store) == ["a"]
    store.wrote(a_thing("c", 51))
    assert names(store) == ["a", "c"]


def test_scopes_do_not_disturb_each_other() -> None:
    store: Store[Thing] = Store()
    replace_all(store, [a_thing("a", 10)], "default", "100")
    replace_all(store, [], "other", "300")
    assert names(store) == ["a"]
    store.wrote(a_thing("b", 150))
    assert names(store) == ["a", "b"]
    replace_all(store, [], "default", "400")
    assert names(store) == []


def test_before_the_first_list_a_write_is_taken() -> None:
    store: Store[Thing] = Store()
    store.wrote(a_thing("a", 5))
    assert names(store) == ["a"]


def test_an_object_that_cannot_be_read_is_absent() -> None:
    store, changes = a_store(a_thing("a", 90))
    store.apply_event(Skipped("Thing", A, "105", Undecodable("no")))
    store.apply_event(Skipped("Thing", A, "", Undecodable("no")))
    assert names(store) == []
    assert len(changes) == 1
    store.wrote(a_thing("a", 105))
    assert names(store) == []


def test_versions_that_are_no_numbers_are_taken_as_they_come() -> None:
    store, _ = a_store()
    store.apply_event(Seen(a_thing("a", "x", value=1)))
    store.apply_event(Seen(a_thing("a", "w", value=2)))
    assert store.get(A) == a_thing("a", "w", value=2)
    store.apply_event(Seen(a_thing("a", 300, value=3)))
    assert store.get(A) == a_thing("a", 300, value=3)


# Each step makes a new version of the object, or removes it; the watch tells all of it in order, and the answers to our
# writes come in between, early or late.
@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_whenever_answers_come_the_store_ends_as_the_watch_says(steps: list[bool], data: st.DataObject) -> None:
    store, _ = a_store()
    alive, generation = False, 0
    told: list[Seen[Thing] | Removed[Thing]] = []
    answers: list[tuple[int, Thing]] = []
    for number, removes in enumerate(steps):
        version = 101 + number
        if removes and alive:
            told.append(Removed(a_thing("a", version, uid=str(generation))))
            alive, generation = False, generation + 1
        else:
            thing = a_thing("a", version, uid=str(generation))
            told.append(Seen(thing))
            answers.append((data.draw(st.integers(0, len(steps))), thing))
            alive = True
    for moment in range(len(told) + 1):
        for at, thing in answers:
            if at == moment:
                store.wrote(thing)
        if moment < len(told):
            store.apply_event(told[moment])
    last = told[-1]
    assert store.get(A) == (last.object if isinstance(last, Seen) else None)
