"""When clients on the web keep and lose their access, also while the disk is full."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from mcp_server.security.client_registry import ClientRegistry


@pytest.fixture
def registry(tmp_path: Path) -> ClientRegistry:
    registry = ClientRegistry(tmp_path / "clients.json")
    for client in ("kept", "revoked"):
        registry.approve(client, {"client_name": client})
    return registry


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)


def test_a_client_that_is_revoked_on_a_full_disk_does_not_return_at_the_next_start(
    registry: ClientRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access, _ = registry.issue("revoked", [], None)
    fill_the_disk(monkeypatch)
    assert registry.revoke("revoked")
    for opened in (registry, ClientRegistry(tmp_path / "clients.json")):
        assert "revoked" not in opened.clients
        assert opened.grant(access, "access") is None


def test_a_token_that_is_withdrawn_on_a_full_disk_does_not_return_at_the_next_start(
    registry: ClientRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access, refresh = registry.issue("kept", [], None)
    fill_the_disk(monkeypatch)
    registry.withdraw(refresh)
    for opened in (registry, ClientRegistry(tmp_path / "clients.json")):
        assert opened.grant(access, "access") is None
        assert opened.grant(refresh, "refresh") is None


def test_the_other_clients_are_saved_again_once_there_is_space(
    registry: ClientRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, refresh = registry.issue("kept", [], None)
    with monkeypatch.context() as full:
        fill_the_disk(full)
        registry.revoke("revoked")
    access, _ = registry.issue("kept", [], None, refresh)
    reopened = ClientRegistry(tmp_path / "clients.json")
    assert list(reopened.clients) == ["kept"]
    assert reopened.grant(access, "access") is not None


def test_a_client_that_fetches_a_token_on_a_full_disk_can_try_again(
    registry: ClientRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, refresh = registry.issue("kept", [], None)
    with monkeypatch.context() as full:
        fill_the_disk(full)
        with pytest.raises(OSError):
            registry.issue("kept", [], None, refresh)
    assert registry.grant(refresh, "refresh") is not None
    registry.issue("kept", [], None, refresh)
    assert registry.grant(refresh, "refresh") is None


def test_a_client_whose_approval_cannot_be_saved_is_not_approved(
    registry: ClientRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_the_disk(monkeypatch)
    with pytest.raises(OSError):
        registry.approve("new", {"client_name": "new"})
    assert "new" not in registry.clients


def test_a_refresh_token_that_is_used_long_after_it_was_renewed_ends_its_grant(
    registry: ClientRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_access, _ = registry.issue("kept", [], None)
    _, stolen = registry.issue("kept", [], None)
    access, refresh = registry.issue("kept", [], None, stolen)

    registry.withdraw_if_reused(stolen)  # the client, which lost the answer
    assert registry.grant(access, "access") is not None
    later = time.time() + 120
    monkeypatch.setattr(time, "time", lambda: later)
    for token in (refresh, "unknown", access):
        registry.withdraw_if_reused(token)
        assert registry.grant(access, "access") is not None
    registry.withdraw_if_reused(stolen)
    assert registry.grant(access, "access") is None and registry.grant(refresh, "refresh") is None
    assert registry.grant(other_access, "access") is not None
