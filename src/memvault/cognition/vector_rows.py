"""The vectors of memories as the rows of one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.model.note import Vector

_FIRST_ROWS = 256
_NONE = -1


@dataclass(frozen=True, slots=True)
class Rows:
    """The vectors of these memories as (n, dim) float32."""

    ids: list[str]
    matrix: npt.NDArray[np.float32]


class VectorRows:
    """Vectors by memory id, as 16-bit floats. Not thread-safe.

    A vector of 384 dimensions takes 768 bytes, and cosines differ by less than 0.0002 from those of
    32 bits. If it is full, further vectors are not kept.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._row_of: dict[str, int] = {}  # _NONE if the memory has no vector
        self._free: list[int] = []
        self._rows: npt.NDArray[np.float16] | None = None
        self._used = 0

    def __contains__(self, key: str) -> bool:
        return key in self._row_of

    def get(self, key: str) -> Vector | None:
        row = self._row_of[key]
        if row == _NONE or self._rows is None:
            return None
        return np.asarray(self._rows[row], np.float32)

    def rows(self, keys: Sequence[str]) -> Rows:
        """The rows of these keys, in order, without those that have no vector."""
        with_vector = [key for key in keys if self._row_of[key] != _NONE]
        if self._rows is None:
            return Rows([], np.zeros((0, 0), np.float32))
        matrix = self._rows[[self._row_of[key] for key in with_vector]]
        return Rows(with_vector, matrix.astype(np.float32))

    def put(self, key: str, vector: Vector | None) -> None:
        self.forget(key)
        if len(self._row_of) >= self._capacity:
            return
        if vector is None:
            self._row_of[key] = _NONE
            return
        row = self._free.pop() if self._free else self._next_row(len(vector))
        assert self._rows is not None
        self._rows[row] = vector
        self._row_of[key] = row

    def forget(self, key: str) -> None:
        row = self._row_of.pop(key, _NONE)
        if row != _NONE:
            self._free.append(row)

    def _next_row(self, dimension: int) -> int:
        if self._rows is None:
            self._rows = np.zeros((_FIRST_ROWS, dimension), np.float16)
        elif self._used == len(self._rows):
            grown = np.zeros((self._used + self._used // 2, dimension), np.float16)
            grown[: self._used] = self._rows
            self._rows = grown
        self._used += 1
        return self._used - 1
