"""Pictures of every page in light, dark and at a phone's width, for the documentation.

``python -m tests.pages.screenshots [FOLDER]`` writes them to ``docs/pages/``. The vault is the
template's, with what an AI client stored in it; its entropy and coherence are measured as it
grows, as if a day had passed after each step.
"""

from __future__ import annotations

import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memvault.cognition.pulse_log import PulseLog
from memvault.model.state import CognitivePulse
from tests.pages import browser as browsers
from tests.pages.browser import Browser
from tests.pages.served import Served, served

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "vault_template"
DESK, PHONE = (1280, 860), (390, 844)
TOLD = {
    "Labels for the jars": "The labels for the seed jars are printed at the school, forty for "
    "three euros.",
    "Scale for the swap": "Pilar brings her kitchen scale to the spring swap on the green.",
    "Phone box lock": "The phone box has a new lock. Rowan and Pilar have a key each.",
    "Beans of last year": "A third of the bean seeds in paper envelopes went mouldy last winter.",
}
MORE = {
    "permanent/Rent of the green.md": "---\ntype: fact\ncreated: 2025-08-01\n---\n"
    "The rent of the green for a swap day is 15 euros, paid to the parish office.\n",
    "permanent/Drying beans.md": "# Drying beans\n\nBeans are dried on a cloth in the shade for "
    "two weeks, until a fingernail leaves no mark. Then they go into a jar with a spoon of rice.\n",
    "permanent/How to dry beans.md": "# How to dry beans\n\nBeans are dried on a cloth in the "
    "shade for three weeks, until a fingernail leaves no mark. Then they go into a jar with a "
    "spoon of rice. See [[Keep seeds in glass jars]].\n",
    "sessions/2026-03-21/Call with the school.md": "---\ntype: session\ndate: 2026-03-21\n---\n"
    "The school lends us the bicycle shed if it rains. They want it swept by two o'clock. "
    "The janitor, [[Ilse Holm]], has the key.\n",
}


def notes() -> dict[str, str]:
    found = {
        path.relative_to(TEMPLATE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(TEMPLATE.rglob("*.md"))
    }
    return {**found, **MORE}


def grow(site: Served) -> None:
    """Have a client store memories and read some, measuring after each."""
    course, now = PulseLog(site.container.journal), datetime.now(UTC)
    days = len(TOLD)
    for title, text in TOLD.items():
        site.caller.ok("store_memory", content=text, title=title, project="seed-library",
                       rationale="The person told me while planning the spring swap")  # fmt: skip
        time.sleep(0.5)  # until the vault's pulse is measured anew
        pulse = site.caller.ok("get_memetic_status")["pulse"]
        moment = now - timedelta(days=days)
        course.record(
            CognitivePulse.model_validate(pulse), len(site.container.live.catalogue), moment
        )
        days -= 1
    site.caller.ok("recall_memory", query="How are the seeds kept?")
    site.container.curation.wait(30)


def addresses(site: Served) -> dict[str, str]:
    library = site.id_of("Seed library")
    return {
        "today": "/",
        "ask": "/ask?q=How+are+the+seeds+kept%2C+and+who+decided+it%3F",
        "curate": "/curate?kind=near_duplicates",
        "memory": f"/memory/{library}",
        "timeline": "/timeline",
        "activity": "/activity",
        "concepts": "/concepts",
        "compress": "/compress/brief?"
        + "&".join(
            f"source={site.id_of(title)}"
            for title in ("Planning the spring swap", "Call with the school")
        ),
    }


def take(browser: Browser, site: Served, folder: Path) -> None:
    for name, address in addresses(site).items():
        for look in ("light", "dark", "phone", "phone-dark"):
            browser.dark(look.endswith("dark"))
            browser.size(
                *(PHONE if look.startswith("phone") else DESK), mobile=look.startswith("phone")
            )
            browser.open(site.url + address)
            time.sleep(0.2)
            browser.driver.save_screenshot(str(folder / f"{name}-{look}.png"))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    browser = browsers.start()
    try:
        with tempfile.TemporaryDirectory() as home, served(Path(home), notes()) as site:
            grow(site)
            key = site.id_of("Seed library")
            browser.open(f"{site.url}/memory/{key}")
            browser.press("v")
            take(browser, site, folder)
    finally:
        browser.close()


if __name__ == "__main__":
    main()
