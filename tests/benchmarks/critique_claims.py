"""A small vault, and claims about it that are wrong or right, for measuring `critique_context`.

The claims were written by reading the notes as a model would after skimming them: other words,
shorter, sometimes two facts in one sentence. Each wrong claim names the note that says otherwise.
"""

from __future__ import annotations

NOTES = {
    "Rowing club.md": """---
date: 2026-02-11
---
# Rowing club

The club was founded in 1987 by Ines Farrow and Tom Adeyemi. It has 64 members, 18 of them under 18.
The boathouse stands on the north bank, next to the old mill. Training is on Tuesday and Thursday
evenings from six to eight; beginners come on Saturday mornings.

- Chair: [[Lena Brandt]]
- Treasurer: [[Tom Adeyemi]]
- Boat keeper: [[Marek Novotny]]

The yearly fee is 140 euros for adults and 60 euros for members under 18. Guests may row three times
before they have to join. Life jackets are compulsory for beginners and optional for everyone else.
""",
    "Boats.md": """# Boats

| Boat | Seats | Built | Weight | State |
|---|---|---|---|---|
| Heron | 4 | 2009 | 52 kg | in use |
| Kingfisher | 2 | 2017 | 27 kg | in use |
| Otter | 8 | 1998 | 96 kg | under repair |
| Teal | 1 | 2021 | 14 kg | in use |

Only the Heron and the Otter may go out on the lake when the wind is above force 4. The Teal is made
of carbon fibre, all others of wood. The oars of the Kingfisher are kept in the upper rack.
""",
    "Otter repair.md": """---
date: 2026-03-05
status: active
---
# Otter repair

The hull of the Otter cracked on 14 February when it hit the jetty. [[Marek Novotny]] repairs it with
epoxy, not with polyester resin, because epoxy sticks better to old wood. The work takes five weeks
and costs 780 euros; the insurance pays half of it. The Otter goes back on the water on 18 April.

- [x] Remove the varnish
- [ ] Glue the ribs
- [ ] Paint the hull white
""",
    "Lena Brandt.md": """# Lena Brandt

Lena is a vet in Hallstedt. She has chaired the rowing club since 2021; before her Ines Farrow was
chair for twelve years. She cannot come on Thursdays. Her phone number ends in 417. She prefers
text messages to calls. Her sister Clara coaches the beginners.
""",
    "Regatta.md": """---
date: 2026-01-20
---
# Regatta

This year's regatta is on Sunday 14 June at Lake Mira; last year's was on the river. Races start at
nine in the morning and are 1000 metres long. Entry closes on 30 May. Each club may enter at most five
boats. In 2025 the club came third, behind Seeburg and Altdorf. Dogs are not allowed on the jetty.
The juniors row before the adults. Parking is free, camping costs 12 euros a night.
""",
    "Sourdough.md": """# Sourdough

Feed the starter every morning with 50 g of rye flour and 50 g of water. It lives in the fridge when I
travel and on the kitchen shelf otherwise. The dough rests for twelve hours at room temperature. Bake
it at 240 degrees for 20 minutes, then at 200 degrees for 30 minutes. Salt goes in last. Never use
chlorinated water: it kills the yeast.

A loaf of rye keeps a week, one of wheat three days.
""",
    "Server.md": """# Server

The home server runs Debian 12 on a fanless board with 16 GB of memory and two disks of 4 TB each.
Backups run every night at 02:30 with restic, to the disk in the shed; a copy goes to Oda's house once
a month. The router's address is 192.168.7.1. Remote access is by WireGuard only; SSH is disabled from
outside. Photos are served by Immich, music by Navidrome. Automatic updates are switched on for
security fixes and off for everything else.

> [!warning] Power
> After a power cut the second disk has to be mounted by hand.
""",
    "Move to the new flat.md": """---
date: 2026-04-02
---
# Move to the new flat

We move on Friday 29 May. The new flat is on the third floor, has four rooms and costs 1,150 euros a
month, heating included. The deposit is two months' rent. The landlord is Mr Okafor; the caretaker is
Mrs Lindqvist. The lease runs for three years. Cats are allowed, dogs are not.

We hired Brightvan instead of Hansen Removals, since Hansen is booked until July. The piano goes by
crane through the balcony door. Oda takes the plants; Ravi takes the books to the flat.
""",
    "Ravi.md": """# Ravi

Ravi Menon is my brother-in-law. He lives in Leeds, works as a structural engineer and is allergic to
hazelnuts. His birthday is on 9 November. He speaks Malayalam, English and some German. He gave up
smoking in 2019. He likes tea better than coffee.
""",
    "Garden plan.md": """# Garden plan

Tomatoes go into the greenhouse, beans along the south fence, garlic into the round bed. Garlic is
planted in October and lifted in July. Water the beans in the evening, never at noon. The compost is
turned twice a year. Because the soil is sandy, it needs lime every third year. The greenhouse is
heated only in March and April. The pear tree is older than the apple tree.
""",
}

# The claim, and the note that says otherwise.
WRONG = [
    ("The rowing club was founded in 1978.", "Rowing club.md"),
    ("The club has 46 members.", "Rowing club.md"),
    ("The boathouse is on the south bank.", "Rowing club.md"),
    ("Training takes place on Monday and Thursday evenings.", "Rowing club.md"),
    ("Beginners train on Sunday mornings.", "Rowing club.md"),
    ("Marek Novotny is the treasurer of the rowing club.", "Rowing club.md"),
    ("The rowing club's chair is Tom Adeyemi.", "Rowing club.md"),
    ("Adults pay 60 euros a year to the rowing club.", "Rowing club.md"),
    ("Guests may row five times before they have to join.", "Rowing club.md"),
    ("Life jackets are optional for beginners.", "Rowing club.md"),
    ("The Kingfisher has four seats.", "Boats.md"),
    ("The Teal was built in 2017.", "Boats.md"),
    ("The Heron weighs 96 kg.", "Boats.md"),
    ("The Otter is in use.", "Boats.md"),
    ("The Teal is made of wood.", "Boats.md"),
    (
        "Only the Teal and the Heron may go out on the lake in strong wind above force 4.",
        "Boats.md",
    ),
    ("The oars of the Kingfisher are kept in the lower rack.", "Boats.md"),
    ("The Kingfisher is heavier than the Heron.", "Boats.md"),
    ("The Otter is repaired with polyester resin.", "Otter repair.md"),
    ("Repairing the Otter takes two weeks.", "Otter repair.md"),
    ("The insurance pays all of the Otter's repair.", "Otter repair.md"),
    ("The Otter's hull cracked on 4 February.", "Otter repair.md"),
    ("Lena Brandt is a dentist in Hallstedt.", "Lena Brandt.md"),
    ("Lena has chaired the club since 2019.", "Lena Brandt.md"),
    ("Lena cannot come on Tuesdays.", "Lena Brandt.md"),
    ("Lena prefers calls to text messages.", "Lena Brandt.md"),
    ("The regatta is on Saturday 13 June.", "Regatta.md"),
    ("The regatta's races are 2000 metres long.", "Regatta.md"),
    ("Dogs are allowed on the jetty at the regatta.", "Regatta.md"),
    ("In 2025 the club came second at the regatta.", "Regatta.md"),
    ("The adults row before the juniors.", "Regatta.md"),
    ("Parking at the regatta costs 12 euros.", "Regatta.md"),
    ("The starter is fed with wheat flour.", "Sourdough.md"),
    ("The dough rests for six hours.", "Sourdough.md"),
    ("Salt goes into the dough first.", "Sourdough.md"),
    ("A rye loaf keeps for three days.", "Sourdough.md"),
    ("The home server runs Ubuntu.", "Server.md"),
    ("The server has 32 GB of memory.", "Server.md"),
    ("Backups run every week.", "Server.md"),
    ("SSH is enabled from outside.", "Server.md"),
    ("Music is served by Immich.", "Server.md"),
    ("Automatic updates are switched off for security fixes.", "Server.md"),
    ("We move on Friday 22 May.", "Move to the new flat.md"),
    ("The new flat is on the second floor.", "Move to the new flat.md"),
    ("Heating is not included in the rent of the new flat.", "Move to the new flat.md"),
    ("The landlord of the new flat is Mrs Lindqvist.", "Move to the new flat.md"),
    ("Dogs are allowed in the new flat.", "Move to the new flat.md"),
    ("We hired Hansen Removals for the move.", "Move to the new flat.md"),
    ("Ravi lives in Manchester.", "Ravi.md"),
    ("Ravi is allergic to peanuts.", "Ravi.md"),
    ("Ravi's birthday is on 9 December.", "Ravi.md"),
    ("Ravi smokes cigarettes.", "Ravi.md"),
    ("Ravi likes coffee better than tea.", "Ravi.md"),
    ("Garlic is planted in April.", "Garden plan.md"),
    ("The beans should be watered at noon.", "Garden plan.md"),
    ("The compost is turned once a year.", "Garden plan.md"),
    ("The soil in our garden is clayey.", "Garden plan.md"),
    ("The apple tree is older than the pear tree.", "Garden plan.md"),
    ("Beans grow along the north fence.", "Garden plan.md"),
]

RIGHT = [
    "The rowing club was founded in 1987.",
    "The club has 64 members.",
    "The boathouse is on the north bank.",
    "Training is on Tuesdays and Thursdays.",
    "Beginners train on Saturday mornings.",
    "Tom Adeyemi is the treasurer of the rowing club.",
    "The rowing club's chair is Lena Brandt.",
    "Members under 18 pay 60 euros a year.",
    "After three times, guests have to join the club.",
    "Life jackets are not compulsory for experienced rowers.",
    "Ines Farrow is a founder of the rowing club.",
    "The Kingfisher has two seats.",
    "The Teal was built in 2021.",
    "The Otter weighs 96 kg.",
    "The Otter is under repair.",
    "The Heron is made of wood.",
    "The Kingfisher may not go out on the lake when the wind is above force 4.",
    "The Heron is heavier than the Kingfisher.",
    "Marek repairs the Otter with epoxy.",
    "The insurance pays 390 euros for the Otter.",
    "The Otter will be back on the water in April.",
    "The ribs of the Otter are not glued yet.",
    "Lena Brandt is a vet.",
    "Ines Farrow chaired the club before Lena.",
    "Lena can come on Tuesdays.",
    "Clara coaches the beginners.",
    "The regatta is on 14 June.",
    "Last year's regatta was on the river.",
    "Races at the regatta start at nine.",
    "Seeburg was ahead of the club in 2025.",
    "Camping at the regatta costs 12 euros a night.",
    "Parking at the regatta costs nothing.",
    "The starter is fed every morning.",
    "Bake the bread at 240 degrees for the first 20 minutes.",
    "A wheat loaf keeps for three days.",
    "The starter is in the fridge while I am away.",
    "The server has two disks.",
    "Backups run at half past two at night.",
    "A copy of the backup goes to Oda's house every month.",
    "WireGuard is the only way to reach the server from outside.",
    "Immich serves the photos.",
    "After a power cut, one disk must be mounted manually.",
    "We move house on 29 May.",
    "The rent of the new flat is 1150 euros including heating.",
    "The deposit of the new flat is 2,300 euros.",
    "Mrs Lindqvist is the caretaker.",
    "We may keep a cat in the new flat.",
    "Brightvan is hired for the move.",
    "Ravi takes the books to the flat.",
    "Ravi works as an engineer in Leeds.",
    "Ravi stopped smoking in 2019.",
    "Ravi prefers tea to coffee.",
    "Garlic is lifted in July.",
    "The beans are watered in the evening.",
    "The greenhouse is not heated in May.",
    "The soil in our garden is sandy.",
    "We should buy a new greenhouse.",
    "The Swan is a coxed pair.",
    "Anna wants to learn rowing next summer.",
]
