"""Recognises local connections of other users of this computer, where the system shows them."""

from __future__ import annotations

import errno
import os
import socket
import struct
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_UID, _INODE = 7, 9  # columns of a table

# A request for one socket, and its answer: man 7 sock_diag.
_SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
_BY_FAMILY = 20  # kind of message: SOCK_DIAG_BY_FAMILY
_HEADER = struct.Struct("=IHHII")  # length, kind, flags, number, process
_FLAGS = 1  # NLM_F_REQUEST
_REQUEST = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_ENDS = struct.Struct("!HH16s16s")  # ports and addresses of both ends
_ANY = struct.pack("=Iii", 0, -1, -1)  # interface and cookie
_OWNER = struct.Struct("=II")  # uid and inode
_OWNER_AT = _HEADER.size + 4 + _ENDS.size + len(_ANY) + 12
_ALL_STATES = 0xFFFFFFFF


class Address(NamedTuple):
    host: str
    port: int


class _Owner(NamedTuple):
    """Whose a socket is; ``inode`` is 0 if its process has closed it."""

    uid: int
    inode: int


def is_of_another_user(client: Address, server: Address) -> bool:
    """Whether another user than this process's, who is not root, may have opened this connection.

    A connection that the client has closed already may be anybody's. Only Linux shows whose a
    connection is; elsewhere, and for connections that do not come from this machine, the answer is
    False.
    """
    if not hasattr(os, "geteuid") or not _is_loopback(client.host):
        return False
    try:
        owner = _ask_kernel(client, server) or _read_table(client, server)
    except OSError:  # the system shows no connections
        return False
    return owner is None or not owner.inode or owner.uid not in (0, os.geteuid())


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _ask_kernel(client: Address, server: Address) -> _Owner | None:
    """The owner of the client's end of a connection; None if the kernel has none or cannot say."""
    family, packed = _packed(client.host)
    _, packed_server = _packed(server.host)
    ends = _ENDS.pack(client.port, server.port, packed, packed_server)
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES) + ends + _ANY
    header = _HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _FLAGS, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
            kernel.setblocking(False)  # the answer is there when `send` returns, or never
            kernel.send(header + body)
            answer = kernel.recv(4096)
    except (OSError, AttributeError):  # AttributeError: not Linux
        return None
    is_owner = _HEADER.unpack_from(answer)[1] == _BY_FAMILY
    return _Owner(*_OWNER.unpack_from(answer, _OWNER_AT)) if is_owner else None


def _read_table(client: Address, server: Address) -> _Owner | None:
    """The same from the table of all connections, which takes milliseconds to read.

    Raises OSError: there is no table, or it does not even have the server.
    """
    table = _TABLES[":" in client.host].read_text("ascii")
    if f":{server.port:04X} " not in table:
        raise OSError(errno.ENOENT, "the table lacks the server")
    ends = f" {_hex(client)} {_hex(server)} "
    line = next((line for line in table.splitlines() if ends in line), None)
    columns = line.split() if line is not None else None
    return _Owner(int(columns[_UID]), int(columns[_INODE])) if columns else None


def _packed(host: str) -> tuple[socket.AddressFamily, bytes]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return family, socket.inet_pton(family, host)


def _hex(address: Address) -> str:
    """An address as the tables write it: words of four bytes in the machine's order."""
    _, packed = _packed(address.host)
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{address.port:04X}"
