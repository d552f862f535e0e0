"""Every key-value engine keeps the same promises."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memvault.model.errors import StorageError, StoreUnavailable
from memvault.stores.keyvalue import KeyValueStore
from tests.waiting import until

Open = Callable[[Path], KeyValueStore]
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
BRIEF = 1.0  # seconds; longer than a busy machine takes from one line to the next


def test_a_value_is_read_back_until_it_is_deleted(keyvalue: KeyValueStore) -> None:
    keyvalue.put("preferences", "colour", b"blue\x00\xff")
    assert keyvalue.get("preferences", "colour") == b"blue\x00\xff"
    assert keyvalue.get("sessions", "colour") is None
    keyvalue.delete("preferences", ["colour", "absent"])
    assert keyvalue.get("preferences", "colour") is None


def test_a_value_expires_and_a_later_one_need_not(keyvalue: KeyValueStore) -> None:
    keyvalue.put("s", "renewed", b"1", ttl_seconds=BRIEF)
    keyvalue.put("s", "renewed", b"2")
    keyvalue.put("s", "long", b"3", ttl_seconds=600)
    keyvalue.put("s", "short", b"1", ttl_seconds=BRIEF)
    assert keyvalue.get("s", "short") == b"1"
    until(lambda: keyvalue.get("s", "short") is None)
    kept = {"long": b"3", "renewed": b"2"}
    assert keyvalue.get_many("s", ["short", "renewed", "long"]) == kept
    assert dict(keyvalue.items("s")) == kept
    assert keyvalue.count("s") == 2


def test_a_counter_starts_again_once_it_has_expired(keyvalue: KeyValueStore) -> None:
    keyvalue.put("n", "calls", b"41", ttl_seconds=BRIEF)
    assert keyvalue.increment("n", "calls") == 42
    until(lambda: keyvalue.get("n", "calls") is None)
    assert keyvalue.increment("n", "calls") == 1


def test_what_is_no_counter_is_not_counted_with(keyvalue: KeyValueStore) -> None:
    keyvalue.put("n", "name", b"Ada")
    with pytest.raises(StorageError, match="not a counter"):
        keyvalue.increment("n", "name")
    assert keyvalue.get("n", "name") == b"Ada"


def test_no_increment_of_many_threads_is_lost(keyvalue: KeyValueStore) -> None:
    def count() -> None:
        for _ in range(50):
            keyvalue.increment("n", "hits")

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keyvalue.get("n", "hits") == b"400"


def test_a_change_of_several_namespaces_happens_all_at_once(keyvalue: KeyValueStore) -> None:
    keyvalue.put_many("keys", {"kept": b"1", "gone": b"2", "new": b"3"})
    keyvalue.put_many("other", {"gone": b"4"})
    keyvalue.change(
        {"keys": ["gone", "new", "absent"], "other": ["gone"]},
        {"keys": {"new": b"5"}, "third": {"first": b"6"}},
    )
    assert dict(keyvalue.items("keys")) == {"kept": b"1", "new": b"5"}
    assert dict(keyvalue.items("other")) == {}
    assert dict(keyvalue.items("third")) == {"first": b"6"}
    broken = {"keys": {"kept": b"7"}, "other": {"odd": object()}}
    with pytest.raises(Exception):  # noqa: B017
        keyvalue.change({"third": ["first"]}, broken)  # type: ignore[arg-type]
    assert keyvalue.get("keys", "kept") == b"1"
    assert keyvalue.get("third", "first") == b"6"
    keyvalue.change({}, {})


def test_a_swap_happens_only_if_the_old_value_is_still_there(keyvalue: KeyValueStore) -> None:
    keyvalue.put_many("ns", {"a": b"1", "b": b"2", "empty": b""})
    keyvalue.put("ns", "brief", b"1", ttl_seconds=BRIEF)
    given = {
        "a": (b"1", b"one"),
        "b": (b"1", b"never"),
        "c": (None, b"new"),
        "d": (b"", b"never"),
        "empty": (None, b"never"),
        "brief": (b"1", b"lasting"),
    }
    assert keyvalue.swap("ns", given) == {"b", "d", "empty"}
    keyvalue.put("other", "as brief", b"1", ttl_seconds=BRIEF)
    until(lambda: keyvalue.get("other", "as brief") is None)
    stand = {"a": b"one", "b": b"2", "brief": b"lasting", "c": b"new", "empty": b""}
    assert dict(keyvalue.items("ns")) == stand
    assert keyvalue.swap("ns", {"empty": (b"", b"full")}) == set()
    assert keyvalue.swap("ns", {}) == set()


def test_no_swap_of_many_threads_is_lost(keyvalue: KeyValueStore) -> None:
    keyvalue.put("n", "hits", b"0")

    def count() -> None:
        for _ in range(20):
            while True:
                old = keyvalue.get("n", "hits") or b"0"
                if not keyvalue.swap("n", {"hits": (old, b"%d" % (int(old) + 1))}):
                    break

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keyvalue.get("n", "hits") == b"80"


def test_readers_see_all_of_a_write_or_nothing(keyvalue: KeyValueStore) -> None:
    seen: set[int] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            values = keyvalue.get_many("ns", [f"k{i}" for i in range(40)])
            seen.add(len(set(values.values())))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(60):
        keyvalue.put_many("ns", {f"k{i}": b"%d" % turn for i in range(40)})
    done.set()
    for thread in threads:
        thread.join()
    assert seen <= {0, 1}


def test_a_write_that_fails_midway_leaves_nothing(keyvalue: KeyValueStore) -> None:
    keyvalue.put("ns", "a", b"old")
    broken = {"a": b"new", "b": object()}
    with pytest.raises(Exception, match=r"."):
        keyvalue.put_many("ns", broken)  # type: ignore[arg-type]
    assert dict(keyvalue.items("ns")) == {"a": b"old"}


def test_a_lease_is_one_holders_until_it_ends_or_is_given_back(keyvalue: KeyValueStore) -> None:
    assert keyvalue.lease("work", "ann", BRIEF)
    assert keyvalue.lease("work", "ann", BRIEF)
    assert not keyvalue.lease("work", "bob", 600)
    assert keyvalue.lease("rest", "bob", BRIEF)
    until(lambda: keyvalue.lease("work", "bob", 600))
    assert not keyvalue.lease("work", "ann", 0)
    assert not keyvalue.lease("work", "ann", 600)
    assert keyvalue.lease("work", "bob", 0)
    assert keyvalue.lease("work", "ann", 10)
    assert keyvalue.lease("work", "ann", 0)


def test_more_keys_than_a_query_takes_are_read_at_once(keyvalue: KeyValueStore) -> None:
    many = {f"{i:05}": b"%d" % i for i in range(1_701)}
    keyvalue.put_many("ns", many)
    assert keyvalue.get_many("ns", many.keys() | {"absent"}) == many


def test_it_is_there_after_reopening_and_closing_twice_is_allowed(
    open_keyvalue: Open, tmp_path: Path
) -> None:
    store = open_keyvalue(tmp_path)
    store.put("ns", "key", b"kept")
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable):
        store.get("ns", "key")
    again = open_keyvalue(tmp_path)
    assert again.get("ns", "key") == b"kept"
    again.close()


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.binary(max_size=3)),
        st.tuples(st.just("delete"), KEYS),
        st.tuples(st.just("many"), st.dictionaries(KEYS, st.binary(max_size=3), max_size=4)),
    ),
    max_size=12,
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(operations=OPERATIONS, prefix=st.text(st.characters(exclude_categories=["Cs"]), max_size=2))
def test_it_holds_what_a_dictionary_would(
    open_keyvalue: Open, operations: list[tuple[object, ...]], prefix: str
) -> None:
    model: dict[str, bytes] = {}
    with TemporaryDirectory() as folder:
        store = open_keyvalue(Path(folder))
        store.put("other", "key", b"untouched")
        for operation in operations:
            match operation:
                case ("put", str() as key, bytes() as value):
                    store.put("ns", key, value)
                    model[key] = value
                case ("delete", str() as key):
                    store.delete("ns", [key])
                    model.pop(key, None)
                case ("many", dict() as items):
                    store.put_many("ns", items)
                    model.update(items)
        expected = [(key, model[key]) for key in sorted(model) if key.startswith(prefix)]
        assert list(store.items("ns", prefix)) == expected
        assert store.count("ns") == len(model)
        assert store.get("other", "key") == b"untouched"
        store.close()
