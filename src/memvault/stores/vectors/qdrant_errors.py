"""Translates the errors of the Qdrant client."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import grpc
import httpx
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from memvault.model.errors import DiskFull, StorageError, StoreUnavailable
from memvault.stores import faults
from memvault.stores.server import refused

T = TypeVar("T")
UNREACHABLE = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)


class Unreachable(Exception):
    """The server cannot be reached."""


class TimedOut(Exception):
    """The server did not answer in time."""


class CollectionMissing(Exception):
    """The server has no such collection."""


def translated(call: Callable[[], T]) -> T:
    """Run a call and translate the client's errors."""
    try:
        return call()
    except UnexpectedResponse as error:
        raise _error_of_status(error.status_code or 0, str(error.content)) from error
    except ResponseHandlingException as error:
        is_late = isinstance(error.source, httpx.TimeoutException)
        raise (TimedOut() if is_late else Unreachable()) from error
    except grpc.RpcError as error:
        raise _error_of_code(error.code(), str(error.details())) from error
    except QdrantException as error:
        raise Unreachable from error


def _error_of_status(status: int, message: str) -> Exception:
    if status == 404:
        return CollectionMissing()
    if status in (401, 403):
        return _key_refused()
    if status in (408, 504):
        return TimedOut()
    if status in (429, 502, 503):
        return Unreachable()
    return _error_of_message(message)


def _error_of_code(code: grpc.StatusCode, message: str) -> Exception:
    if code is grpc.StatusCode.NOT_FOUND:
        return CollectionMissing()
    if code in _REFUSED:
        return _key_refused()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return TimedOut()
    if code in UNREACHABLE:
        return Unreachable()
    return _error_of_message(message)


def _key_refused() -> StoreUnavailable:
    return refused("Qdrant refuses the key", "MEMVAULT_QDRANT_API_KEY")


def _error_of_message(message: str) -> StorageError:
    if faults.reports_full_disk(Exception(message)):
        return DiskFull("Qdrant's disk is full. Free some space; no partial data was written.")
    return StorageError("Qdrant failed. Run `memvault rebuild`.")
