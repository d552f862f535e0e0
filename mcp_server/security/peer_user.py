"""Recognises local connections of other users of this computer, where the system shows them."""

from __future__ import annotations

import os
import socket
import struct
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_UID = 7  # column of a table


class Address(NamedTuple):
    host: str
    port: int


def is_of_another_user(client: Address, server: Address) -> bool:
    """Whether another user than this process's, who is not root, opened this connection.

    Only Linux shows whose a connection is (``/proc/net/tcp``); elsewhere, and for connections that
    do not come from this machine, the answer is False.
    """
    if not hasattr(os, "geteuid") or not _is_loopback(client.host):
        return False
    uid = _uid_of(client, server)
    return uid is not None and uid not in (0, os.geteuid())


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _uid_of(client: Address, server: Address) -> int | None:
    """The user of the client's end of a connection."""
    table = _TABLES[":" in client.host]
    ends = f" {_hex(client)} {_hex(server)} "
    try:
        lines = table.read_text("ascii").splitlines()
    except OSError:
        return None
    line = next((line for line in lines if ends in line), None)
    return int(line.split()[_UID]) if line is not None else None


def _hex(address: Address) -> str:
    """An address as the tables write it: words of four bytes in the machine's order."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    packed = socket.inet_pton(family, address.host)
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{address.port:04X}"
