"""The key-value store on a Redis server.

A namespace uses three Redis keys: a hash of the values, a sorted set of its keys (all with score
0, so ordered by their bytes), and a sorted set of expiry times by the server's clock. The next call
in the namespace deletes expired values in the same transaction or script, so no call sees them. All
Redis keys of a vault share one hash tag, so that a cluster keeps them on one node, as transactions
require.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from memvault.model.batched import batched
from memvault.model.errors import DiskFull, StorageError, StoreUnavailable
from memvault.stores.keyvalue import Rows
from memvault.stores.server import Server, StoreNamespace, invalid_url, refused

TIMEOUT_SECONDS = 3.0
CONNECT_SECONDS = 2.0
KEYS_PER_COMMAND = 5_000  # Lua takes no more than 8,000 arguments
# Marks scripts that need no memory: a server without free memory rejects others (Redis 7 or newer)
# and all transactions.
_NEEDS_NO_MEMORY = "#!lua flags=allow-oom\n"
_SWEEP = """
local now = redis.call('TIME')
now = now[1] * 1000 + now[2] / 1000
local gone
repeat
    gone = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 5000)
    if #gone > 0 then
        redis.call('HDEL', KEYS[1], unpack(gone))
        redis.call('ZREM', KEYS[2], unpack(gone))
        redis.call('ZREM', KEYS[3], unpack(gone))
    end
until #gone == 0
"""
_GET = """
local values = {}
for start = 1, #ARGV, 5000 do
    local last = math.min(start + 4999, #ARGV)
    local part = redis.call('HMGET', KEYS[1], unpack(ARGV, start, last))
    for place, value in ipairs(part) do values[start + place - 1] = value end
end
return values
"""
_DELETE = """
for start = 1, #ARGV, 5000 do
    local last = math.min(start + 4999, #ARGV)
    redis.call('HDEL', KEYS[1], unpack(ARGV, start, last))
    redis.call('ZREM', KEYS[2], unpack(ARGV, start, last))
    redis.call('ZREM', KEYS[3], unpack(ARGV, start, last))
end
"""
_EXPIRE = """
local now = redis.call('TIME')
redis.call('ZADD', KEYS[1], now[1] * 1000 + now[2] / 1000 + ARGV[2], ARGV[1])
"""
_PAGE = """
local keys = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
if #keys == 0 then return {{}, {}} end
return {keys, redis.call('HMGET', KEYS[1], unpack(keys))}
"""
_COUNT = "return redis.call('HLEN', KEYS[1])"
_INCREMENT = """
local total = redis.pcall('HINCRBY', KEYS[1], ARGV[1], 1)
if type(total) ~= 'number' then return total end
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return total
"""
_SWAP = """
local refused = {}
for place = 1, #ARGV, 4 do
    local key, current = ARGV[place], redis.call('HGET', KEYS[1], ARGV[place])
    if current == (ARGV[place + 1] == '1' and ARGV[place + 2]) then
        redis.call('HSET', KEYS[1], key, ARGV[place + 3])
        redis.call('ZADD', KEYS[2], 0, key)
        redis.call('ZREM', KEYS[3], key)
    else
        refused[#refused + 1] = key
    end
end
return refused
"""
_LEASE = """
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > 0 then
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
else
    redis.call('DEL', KEYS[1])
end
return 1
"""
_CANNOT_SAVE = "MISCONF"  # the server could not write its snapshot and rejects writes
_NO_NUMBER = "hash value is not an integer"
Names = tuple[str, str, str]  # Redis keys of the hash, the sorted keys and the expiries
Pipe = Any  # redis-py's types mix the synchronous and asynchronous pipelines
T = TypeVar("T")


class RedisKeyValueStore:
    """The keys of a vault's generation. A call is one round trip: a transaction or a script.

    Raises:
        InvalidParams: the URL is invalid.
    """

    def __init__(self, url: str, namespace: StoreNamespace, password: str | None = None) -> None:
        self._vault = _of_vault(namespace.vault)
        self._prefix = f"{self._vault}:{namespace.generation}"
        self._client = _connect(url, password)
        self.server = _new_server()
        self.calls = self.server.calls

    def get(self, namespace: str, key: str) -> bytes | None:
        return self.get_many(namespace, [key]).get(key)

    def get_many(self, namespace: str, keys: Collection[str]) -> dict[str, bytes]:
        wanted_keys = list(keys)
        if not wanted_keys:
            return {}
        values = self._run_without_memory(namespace, _GET, *wanted_keys)
        return {
            key: value for key, value in zip(wanted_keys, values, strict=True) if value is not None
        }

    def put(
        self, namespace: str, key: str, value: bytes, *, ttl_seconds: float | None = None
    ) -> None:
        names = self._names(namespace)

        def write(pipe: Pipe) -> None:
            pipe.eval(_SWEEP, 3, *names)
            _put(pipe, names, {key: value})
            if ttl_seconds is not None:
                pipe.eval(_EXPIRE, 1, names[2], key, ttl_seconds * 1000)

        self._write(write)

    def put_many(self, namespace: str, items: Mapping[str, bytes]) -> None:
        self.change({}, {namespace: items})

    def change(self, deleted: Mapping[str, Collection[str]], written: Rows) -> None:
        def write(pipe: Pipe) -> None:
            for namespace in {**deleted, **written}:
                names, items = self._names(namespace), written.get(namespace, {})
                pipe.eval(_SWEEP, 3, *names)
                for batch in batched(deleted.get(namespace, ()), KEYS_PER_COMMAND):
                    pipe.eval(_DELETE, 3, *names, *batch)
                for batch in batched(items, KEYS_PER_COMMAND):
                    _put(pipe, names, {key: items[key] for key in batch})

        self._write(write)

    def delete(self, namespace: str, keys: Iterable[str]) -> None:
        self._run_without_memory(namespace, _DELETE, *keys)

    def items(self, namespace: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        start = b"[" + prefix.encode()
        end = b"(" + prefix.encode() + b"\xff"  # a byte that no text has in UTF-8
        while True:
            keys, values = self._page(namespace, start, end)
            yield from zip(map(bytes.decode, keys), values, strict=True)
            if len(keys) < KEYS_PER_COMMAND:
                return
            start = b"(" + keys[-1]

    def _page(self, namespace: str, start: bytes, end: bytes) -> tuple[list[bytes], list[bytes]]:
        keys, values = self._run_without_memory(namespace, _PAGE, start, end, KEYS_PER_COMMAND)
        return keys, values

    def swap(self, namespace: str, items: Mapping[str, tuple[bytes | None, bytes]]) -> set[str]:
        arguments = [
            part
            for key, (old, new) in items.items()
            for part in (key, int(old is not None), old or b"", new)
        ]
        return set(
            map(bytes.decode, self._script(namespace, _SWEEP + _SWAP, arguments, writes=True))
        )

    def increment(self, namespace: str, key: str) -> int:
        """See `KeyValueStore.increment`; keeps the counter's expiry. Never retried, because that
        could count twice.

        Raises:
            StorageError: the value is not a whole number.
        """
        script = _SWEEP + _INCREMENT
        return int(self._script(namespace, script, [key], repeatable=False, writes=True))

    def count(self, namespace: str) -> int:
        return int(self._run_without_memory(namespace, _COUNT))

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        key, until = f"{self._vault}:lease:{name}", round(seconds * 1000)
        return bool(
            self._ask(lambda: self._client.eval(_NEEDS_NO_MEMORY + _LEASE, 1, key, holder, until))
        )

    def drop(self) -> None:
        """Delete all data of this generation."""
        for key in self._client.scan_iter(f"{_literally(self._prefix)}:*", count=1_000):
            self._client.unlink(key)

    def close(self) -> None:
        if self.server.close():
            self._client.close()

    def _run_without_memory(self, namespace: str, script: str, *arguments: Any) -> Any:
        """Run a script that needs no memory, after deleting expired values."""
        return self._script(namespace, _NEEDS_NO_MEMORY + _SWEEP + script, arguments)

    def _script(
        self,
        namespace: str,
        script: str,
        arguments: Sequence[Any],
        *,
        repeatable: bool = True,
        writes: bool = False,
    ) -> Any:
        names = self._names(namespace)
        return self._ask(
            lambda: self._client.eval(script, len(names), *names, *arguments),
            repeatable=repeatable,
            writes=writes,
        )

    def _write(self, fill: Callable[[Pipe], None]) -> None:
        """Run the commands that ``fill`` adds in one transaction."""

        def attempt() -> None:
            with self._client.pipeline(transaction=True) as pipe:
                fill(pipe)
                pipe.execute()

        self._ask(attempt, writes=True)

    def _names(self, namespace: str) -> Names:
        prefix = f"{self._prefix}:{namespace}"
        return f"{prefix}:values", f"{prefix}:keys", f"{prefix}:expiry"

    def _ask(self, attempt: Callable[[], T], *, repeatable: bool = True, writes: bool = False) -> T:
        return self.server.ask(lambda: _translating(attempt), repeatable=repeatable, writes=writes)


class RedisPointer:
    """The name of a vault's live generation, shared by all machines that use its indexes."""

    def __init__(self, url: str, vault: str, password: str | None = None) -> None:
        self._key = f"{_of_vault(vault)}:live"
        self._client: Any = _connect(url, password)
        self._server = _new_server()

    def read(self) -> str | None:
        name: bytes | None = self._ask(lambda: self._client.get(self._key))
        return None if name is None else name.decode()

    def write(self, name: str | None) -> None:
        if name is None:
            self._ask(lambda: self._client.delete(self._key))
        else:
            self._ask(lambda: self._client.set(self._key, name))

    def claim(self, name: str) -> str:
        self._ask(lambda: self._client.set(self._key, name, nx=True))
        return self.read() or name

    def close(self) -> None:
        if self._server.close():
            self._client.close()

    def _ask(self, attempt: Callable[[], T]) -> T:
        return self._server.ask(lambda: _translating(attempt))


def _of_vault(vault: str) -> str:
    return f"{{memvault:{vault}}}"


def _new_server() -> Server:
    return Server("Redis", timeouts=(redis.TimeoutError,), network=(redis.ConnectionError,))


def _translating(attempt: Callable[[], T]) -> T:
    try:
        return attempt()
    except redis.AuthenticationError as error:
        raise _wrong_password() from error
    except redis.ResponseError as error:
        raise _translated(error) from error


def _connect(url: str, password: str | None) -> redis.Redis:
    options = {} if password is None else {"password": password}
    try:
        return redis.Redis.from_url(
            url,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(NoBackoff(), 0),  # `Server` retries
            **options,
        )
    except ValueError:
        raise invalid_url("keyvalue") from None


def _put(pipe: Pipe, names: Names, items: Mapping[str, bytes]) -> None:
    values, keys, expiry = names
    pipe.hset(values, mapping=items)
    pipe.zadd(keys, dict.fromkeys(items, 0))
    pipe.zrem(expiry, *items)


def _literally(text: str) -> str:
    """A glob pattern that matches exactly this text."""
    return "".join(f"\\{sign}" if sign in "*?[]\\" else sign for sign in text)


def _wrong_password() -> StoreUnavailable:
    return refused("Redis refuses the password", "MEMVAULT_REDIS_PASSWORD")


def _translated(error: redis.ResponseError) -> StorageError:
    text = str(error)
    if isinstance(error, redis.OutOfMemoryError):
        return DiskFull("Redis is out of memory. Give it more; no partial data was written.")
    if _CANNOT_SAVE in text:
        return DiskFull(
            "Redis cannot save to its disk. Free some space; no partial data was written."
        )
    if _NO_NUMBER in text:
        return StorageError("The value is not a counter.")
    if "NOAUTH" in text or "WRONGPASS" in text:
        return _wrong_password()
    return StorageError(f"Redis rejected a command: {text}")
