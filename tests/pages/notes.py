"""Notes of a vault to be curated."""

from __future__ import annotations

from tests.integration.small_vault import KELP

GLASS = (
    "A storm glass is a sealed tube of camphor, ethanol and water that shows crystals before a "
    "{what}. It was described in the {century} century by sailors of the northern coast.\n"
)
HOSTILE = """# <script>window.pwned = 1</script>

<img src=x onerror="window.pwned = 2"> <b>bold?</b>

[click](javascript:window.pwned=3) ![seen](http://tracker.example/pixel.png)

```mermaid
graph TD
  A[<script>window.pwned = 4</script>] --> B
```

</textarea></pre><script>window.pwned = 5</script>

A link to [[Mira Sand|<i>her</i>]].
"""
NOTES = {
    **KELP,
    "permanent/Storm glass.md": "# Storm glass\n\n"
    + GLASS.format(what="storm", century="eighteenth"),
    "permanent/Weather tube.md": "# Weather tube\n\n"
    + GLASS.format(what="gale", century="nineteenth")
    + "\nSee [[Harbour Lab]].\n",
    "permanent/Lantern duty.md": "---\ntype: fact  # kept\ncreated: 2024-01-02\ntags: [duty]\n---\n"
    "The lantern at the pier is lit at dusk by the [[Harbour Lab]].\n",
    "permanent/Mooring rent.md": "---\ntype: fact\n---\n"
    "The rent of the mooring is 900 euros a year.\n",
    "permanent/Hostile.md": HOSTILE,
    "permanent/Windows note.md": "first line\r\nsecond line\r\n",
    "sessions/2026-03-14/Tide talk.md": "The tide gauge at the pier is read at noon every day. "
    "The numbers go to the harbour lab by radio. We had coffee afterwards.\n",
    "sessions/2026-03-15/Tide talk two.md": "The tide gauge at the pier was moved to the north "
    "side in March. The numbers now go to the harbour lab by cable.\n",
}
