"""Many clients at once: the highest rate of calls at which the slowest hundredth stays quick.

usage: python -m tests.benchmarks.bench_load [--notes 10000] [--keep DIR] [--seconds 8]

Calls arrive at a steady rate, whether or not those before have been answered, spread over the
connected clients and mixed as assistants mix them; a call's time runs from the moment it was due.
The rate is raised by a quarter until the 99th percentile passes 50 ms or a call fails; reported is
the last rate that held. Clients and engine share this machine's cores.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket

from mcp_server.engine.client import connect_to_engine
from mcp_server.engine.launcher import EngineAddress, Launcher, engine_command, read_address
from tests.benchmarks.bench_engine import questions, wait_until_indexed, wait_until_quiet
from tests.benchmarks.figures import Figure, percentile, show
from tests.benchmarks.measured_vaults import made_vault, parser_for

CLIENTS = (1, 10, 500)
LIMIT_MS = 50.0
FIRST_RATE = 8.0  # calls a second
STEP = 1.25
FEWEST = 100  # calls of each rate: of fewer the slowest hundredth is the slowest one
# Share of each tool, and its arguments but for the question.
MIX: list[tuple[float, str, dict[str, Any]]] = [
    (0.4, "recall_memory", {"top_k": 5}),
    (0.2, "inject_context", {}),
    (0.2, "get_preference", {"key": "writing style"}),
    (0.1, "vector_search", {"top_k": 5}),
    (0.1, "get_memetic_status", {}),
]


@dataclass(slots=True)
class Client:
    """One connection; answers are matched to calls by their ids."""

    connection: ClientConnection
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    waiting: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    listening: asyncio.Future[None] | None = None

    async def listen(self) -> None:
        async for frame in self.connection:
            answer = json.loads(frame)
            future = self.waiting.pop(answer.get("id", -1), None)
            if future is not None and not future.done():
                future.set_result(answer)

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        key = next(self.ids)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.waiting[key] = future
        message = {"jsonrpc": "2.0", "id": key, "method": method, "params": params}
        await self.connection.send(json.dumps(message))
        return await future


@dataclass(slots=True)
class Outcome:
    """Milliseconds of every call that was answered, by tool, and how many failed."""

    spent: dict[str, list[float]] = field(default_factory=dict)
    failed: int = 0

    @property
    def p99(self) -> float:
        return percentile([one for each in self.spent.values() for one in each], 0.99)

    @property
    def holds(self) -> bool:
        return not self.failed and self.p99 <= LIMIT_MS


async def clients_of(address: EngineAddress, count: int) -> list[Client]:
    clients = []
    for _ in range(count):
        connection = await open_websocket(
            f"ws://{address.netloc}/bridge",
            additional_headers={"Authorization": f"Bearer {address.token}"},
            max_size=None,
        )
        client = Client(connection)
        client.listening = asyncio.ensure_future(client.listen())
        info = {"name": "bench", "version": "1"}
        await client.request(
            "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info
        )
        await connection.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        clients.append(client)
    return clients


async def offer(
    clients: list[Client], questions: list[str], rate: float, seconds: float
) -> Outcome:
    """Calls at a steady rate for some seconds, other ones at each rate."""
    dice, outcome = random.Random(rate), Outcome()

    async def one(client: Client, tool: str, arguments: dict[str, Any], due: float) -> None:
        try:
            answer = await asyncio.wait_for(
                client.request("tools/call", name=tool, arguments=arguments), 20
            )
        except TimeoutError:
            outcome.failed += 1
            return
        if "error" in answer or answer["result"].get("isError"):
            outcome.failed += 1
        outcome.spent.setdefault(tool, []).append((time.perf_counter() - due) * 1000)

    start, calls = time.perf_counter(), []
    weights = [share for share, _, _ in MIX]
    for number in range(max(FEWEST, int(rate * seconds))):
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        _, tool, arguments = dice.choices(MIX, weights)[0]
        if tool not in ("get_preference", "get_memetic_status"):
            arguments = {**arguments, "query": dice.choice(questions)}
        calls.append(asyncio.ensure_future(one(dice.choice(clients), tool, arguments, due)))
    await asyncio.gather(*calls)
    return outcome


async def highest(
    address: EngineAddress, questions: list[str], count: int, seconds: float
) -> list[Figure]:
    clients = await clients_of(address, count)
    await offer(clients, questions, FIRST_RATE + 1.0, seconds)  # loads what loads once
    rate, best = FIRST_RATE, None
    while (outcome := await offer(clients, questions, rate, seconds)).holds:
        best, held, rate = outcome, rate, rate * STEP
    for client in clients:
        await client.connection.close()
    name = f"{count} client{'s' if count > 1 else ''}"
    if best is None:
        worst = f"p99 {outcome.p99:.0f} ms, {outcome.failed} failed at {rate:.0f}/s"
        return [Figure(f"calls held with p99 <= 50 ms, {name}", 0.0, "/s", note=worst)]
    injected = percentile(best.spent.get("inject_context", [0.0]), 0.95)
    return [
        Figure(
            f"calls held with p99 <= 50 ms, {name}",
            held,
            "/s",
            note=f"p99 {best.p99:.1f} ms, no error",
        ),
        Figure(f"inject_context p95 at that rate, {name}", injected, "ms", "25"),
    ]


async def measure(address: EngineAddress, questions: list[str], seconds: float) -> list[Figure]:
    figures = []
    for count in CLIENTS:
        figures += await highest(address, questions, count, seconds)
    return figures


def main() -> None:
    parser = parser_for(10_000, __doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each rate")
    given = parser.parse_args()
    with made_vault(given.notes, given.keep) as made:
        with connect_to_engine(
            Launcher(made.state, engine_command(made.vault)), made.state
        ) as engine:
            wait_until_indexed(engine, len(list(made.vault.rglob("*.md"))))
            address = read_address(made.state)
            assert address is not None
            wait_until_quiet(address.pid)
            figures = asyncio.run(measure(address, questions(made.vault), given.seconds))
            engine.shutdown()
        show("load", figures)


if __name__ == "__main__":
    main()
