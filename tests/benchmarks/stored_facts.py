"""Facts that are stored over older notes: those that contradict one of them, and those that do not.

`OWN` is a small made-up vault; the others are about the vault template. All were written before the
rules were tried on them.
"""

from __future__ import annotations

OWN = {
    "Choir.md": """---
date: 2026-01-11
---
# Choir

The choir rehearses on Wednesdays from half past seven to nine in the hall of St Anne's. It has 38
singers: 14 sopranos, 11 altos, 6 tenors and 7 basses. [[Judit Hollo]] conducts; [[Bram Okonkwo]]
plays the piano. Whoever misses three rehearsals in a row does not sing in the concert.

| Concert | Date | Place | Tickets |
| --- | --- | --- | --- |
| Spring concert | 9 May | Town hall | 12 euros |
| Summer serenade | 4 July | Castle yard | free |
| Advent concert | 6 December | St Anne's | 15 euros |

Scores are lent by the music library until the end of June.
""",
    "Judit Hollo.md": """# Judit Hollo

Studied in Pécs, came to Marburg in 2014. She has conducted the choir since 2018. Speaks Hungarian
and German. Does not drink alcohol.

- Phone: 0555 8123
- Instrument: cello
- Birthday: 3 October
""",
    "Kiln.md": """---
tags: [pottery]
---
# Kiln

Our kiln is a top loader made by Rohde with a volume of 60 litres. It stands in the shed and needs
a three-phase socket.

| Firing | Temperature | Duration | Cost |
| --- | --- | --- | --- |
| Biscuit | 950 °C | 9 hours | 4 euros |
| Earthenware glaze | 1060 °C | 8 hours | 5 euros |
| Stoneware glaze | 1240 °C | 11 hours | 8 euros |

Never open the kiln above 100 °C. The thermocouple was replaced in March 2025.
""",
    "Trip to Lisbon.md": """---
date: 2026-03-20
status: planned
---
# Trip to Lisbon

We fly on 12 September and come back on 21 September. The flat is in Alfama and costs 84 euros a
night; breakfast is not included. Check-in is after 15:00. [[Nadia]] booked it; I book the trains.

- Airline: TAP
- Hand luggage: 8 kg each
- [ ] Reserve a table at the fado house
- [x] Renew my passport

We take the tram to Belém on the first day, because the museums are closed on Mondays.
""",
    "Nadia.md": """# Nadia

My sister. Works as a nurse at the children's hospital in Leiden, on night shifts. Vegetarian since
2016. Allergic to penicillin. Rides a red Gazelle. Her cat is called Mungo.
""",
    "Phone contract.md": """# Phone contract

Provider: Norrtel
Monthly price: 19 euros
Data: 20 GB
Ends: 30 November 2026
Notice: three months

Roaming in the EU is included; calls to Switzerland are not.
""",
    "Choosing a database.md": """---
type: decision
date: 2026-02-17
---
# Choosing a database

We decided to use PostgreSQL for the booking system, not MongoDB: bookings are relations. It runs on
version 16, in a container on the office server. Backups are kept for 14 days. Reads go through
PgBouncer with a pool of 40 connections. Decided by: [[Bram Okonkwo]]
""",
    "Medicine cabinet.md": """# Medicine cabinet

Ibuprofen is on the top shelf, at most three tablets of 400 mg a day. Plasters are in the drawer
below. The antihistamine expires in August 2027. Children get paracetamol only as a syrup.
""",
}

# What is stored, and the note that says otherwise.
CONTRADICTING_OWN = [
    ("The choir rehearses on Thursdays from half past seven to nine.", "Choir.md"),
    ("The Spring concert is on 16 May.", "Choir.md"),
    ("Bram Okonkwo conducts the choir.", "Choir.md"),
    ("Judit's birthday is on 13 October.", "Judit Hollo.md"),
    ("A stoneware glaze firing costs 12 euros.", "Kiln.md"),
    ("The kiln has a volume of 90 litres.", "Kiln.md"),
    ("The flat in Lisbon costs 95 euros a night.", "Trip to Lisbon.md"),
    ("Nadia's cat is called Pixel.", "Nadia.md"),
    ("The phone contract ends on 31 December 2026.", "Phone contract.md"),
]
CONTRADICTING_TEMPLATE = [
    (
        "The budget of the seed library is 200 euros until the end of the year.",
        "projects/seed-library/Seed library.md",
    ),
    ("The spring swap is on Saturday 25 April.", "sessions/2026-03-14/Planning the spring swap.md"),
    ("The seed library is now led by Rowan Achterberg.", "projects/seed-library/Seed library.md"),
    ("Rowan is away the first two weeks of August.", "permanent/people/Rowan Achterberg.md"),
    ("Pilar is best reached by e-mail.", "permanent/people/Pilar Mbeki.md"),
]

# Like these, but about something else.
DIFFERENT_OWN = [
    "The choir's board meets on Thursdays.",
    "The Autumn concert is on 17 October.",
    "Bram Okonkwo conducts the brass band.",
    "Nadia's birthday is on 13 October.",
    "A raku firing costs 12 euros.",
    "The new glaze bucket has a volume of 10 litres.",
    "The flat in Porto costs 95 euros a night.",
    "Judit's dog is called Pixel.",
    "The internet contract ends on 31 December 2026.",
]
DIFFERENT_TEMPLATE = [
    "The budget of the reading club is 200 euros until the end of the year.",
    "The autumn swap is on Saturday 10 October.",
    "The reading club is led by Rowan Achterberg.",
    "Pilar is away the first two weeks of August.",
    "Rowan is best reached by e-mail.",
]
