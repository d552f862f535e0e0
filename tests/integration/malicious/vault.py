"""Notes that the person writes in the vault that a malicious client shares."""

from __future__ import annotations

from mcp_server.runtime.container import Container


def write(container: Container, path: str, text: str) -> None:
    (container.vault.root / path).parent.mkdir(exist_ok=True)
    (container.vault.root / path).write_text(text, encoding="utf-8")
    container.indexing.index_written([path])
