"""What the embedded stores do when a process is killed, a file is damaged or the disk is full."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import qdrant_edge as qdrant

from memvault.config.settings import Settings
from memvault.model.errors import DiskFull, StorageError, StoreUnavailable
from memvault.stores.open import Stores, open_stores
from memvault.stores.vectors.edge_shard import open_shard
from tests.contract.conftest import DIMENSION
from tests.contract.store_child import NOTES, write
from tests.contract.test_vectors import id_of

ROUNDS = 2
FILLED = 20
PADDING = 100_000


def opened(folder: Path) -> Stores:
    return open_stores(Settings(), folder, DIMENSION)


def child(folder: Path, first: int, padding: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.contract.store_child", str(folder), str(first), str(padding)],
        stdout=subprocess.PIPE,
        text=True,
    )


def written(stores: Stores, name: str) -> list[int]:
    """The write that each store has of a note."""
    texts = {each.chunk.text for each in stores.vectors.chunks(id_of(name))}
    numbers = {int(text.split()[1]) for text in texts}
    said = {int(e.sentence.strip("x")) for e in stores.graph.neighbours([id_of(name)])}
    assert (len(numbers), len(said)) == (1, 1), "half of a write is there"
    (number,) = numbers
    assert len(texts) == 1 + number % 4
    value = stores.keyvalue.get("notes", name)
    return [number, *said, int((value or b"").split()[0])]


def assert_whole(stores: Stores, last: int) -> None:
    """Every write up to the last is there; the next may be, and nothing is there by halves."""
    for number in range(max(0, last - NOTES + 1), last + 1):
        for found in written(stores, f"note {number % NOTES}"):
            assert found in (number, number + NOTES)


def test_a_killed_process_loses_no_write_that_returned(tmp_path: Path) -> None:
    dice = random.Random(4)
    last = -1
    for _ in range(ROUNDS):
        process = child(tmp_path, last + 1)
        assert process.stdout is not None
        output = process.stdout.readline()
        time.sleep(dice.random() * 0.4)
        process.kill()
        output += process.stdout.read()
        process.wait()
        last = int(output.split()[-1])
        stores = opened(tmp_path)
        assert_whole(stores, last)
        stores.close()


def test_a_write_that_a_kill_left_incomplete_costs_no_earlier_one(tmp_path: Path) -> None:
    process = child(tmp_path, 0)
    assert process.stdout is not None
    for _ in range(5):
        process.stdout.readline()
    process.kill()
    last = int((process.stdout.read() or "4").split()[-1])
    process.wait()
    log = tmp_path / "graph.lbug.wal"
    log.write_bytes(log.read_bytes()[:-50] + bytes(50))
    stores = opened(tmp_path)
    for number in range(max(0, last - NOTES + 1), last):
        assert number in written(stores, f"note {number % NOTES}")
    stores.close()


def test_a_second_opening_says_who_has_the_files(tmp_path: Path) -> None:
    stores = opened(tmp_path)
    with pytest.raises(StoreUnavailable, match="Another process"):
        opened(tmp_path)
    stores.close()
    stores.close()
    opened(tmp_path).close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    stores = opened(folder)
    for number in range(FILLED):
        write(stores, number)
    stores.close()
    return folder


def overwrite(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.write(b"\xde\xad" * 2_048)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def copied(filled: Path, folder: Path) -> Path:
    return Path(shutil.copytree(filled, folder, copy_function=copy_with_holes))


def copy_with_holes(source: str, target: str) -> None:
    """An empty store reserves 200 MB, of which it has written next to nothing."""
    with Path(source).open("rb") as given, Path(target).open("wb") as taken:
        while block := given.read(1 << 16):
            if block == bytes(len(block)):
                taken.seek(len(block), os.SEEK_CUR)
            else:
                taken.write(block)
        taken.truncate(given.tell())


@pytest.mark.parametrize("damage", [overwrite, cut])
@pytest.mark.parametrize("file", ["keyvalue.sqlite", "graph.lbug"])
def test_a_damaged_file_asks_for_recovery(
    filled: Path, tmp_path: Path, file: str, damage: Callable[[Path], None]
) -> None:
    folder = copied(filled, tmp_path / "copy")
    damage(folder / file)
    with pytest.raises(StorageError, match=r"integrity check failed. Recovery required\."):
        opened(folder)


@pytest.mark.parametrize("damage", [overwrite, empty])
@pytest.mark.parametrize(
    "part", ["payload_storage/tracker.dat", "segment.json", "page_0.dat", "deleted/status.dat"]
)
def test_a_damaged_shard_mends_itself_or_asks_for_recovery(
    filled: Path,
    tmp_path: Path,
    part: str,
    damage: Callable[[Path], None],
) -> None:
    folder = copied(filled, tmp_path / "copy")
    for file in sorted((folder / "vectors").rglob(f"*/{part}")):
        damage(file)
    try:
        stores = opened(folder)
    except StorageError as error:
        assert error.message == "Database integrity check failed. Recovery required."
    else:  # the engine's log held what the file had lost
        assert_whole(stores, FILLED - 1)
        stores.close()


def test_a_shard_of_which_a_point_lost_its_note_asks_for_recovery(
    filled: Path, tmp_path: Path
) -> None:
    folder = copied(filled, tmp_path / "copy")
    shard = open_shard(folder / "vectors", DIMENSION)
    (point, *_), _ = shard.scroll(qdrant.ScrollRequest(limit=1))
    shard.update(qdrant.UpdateOperation.clear_payload([point.id]))
    shard.close()
    with pytest.raises(StorageError, match=r"integrity check failed. Recovery required\."):
        opened(folder)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 MB, of its own. (Not a tmpfs: reading a reserved page takes room there.)"""
    image, folder = tmp_path / "image", tmp_path / "disk"
    folder.mkdir()
    with image.open("wb") as stream:
        stream.truncate(64_000_000)
    for command in (["mkfs.ext4", "-q", "-F", image], ["mount", "-o", "loop", image, folder]):
        if shutil.which(str(command[0])) is None:
            pytest.skip("this system has no loop mounts")
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("this user may not mount a disk")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_is_said_so_and_what_was_there_stays(small_disk: Path) -> None:
    process = child(small_disk, 0, padding=PADDING)
    out, _ = process.communicate(timeout=120)
    *numbers, end = out.split()
    assert end == "full", f"ended with {process.returncode}"
    stores = opened(small_disk)
    assert_whole(stores, int(numbers[-1]))
    with pytest.raises(DiskFull):
        for number in range(1_000):
            write(stores, int(numbers[-1]) + 1 + number, "x" * PADDING)
    stores.close()
