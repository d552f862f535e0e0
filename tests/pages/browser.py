"""A headless Chromium, and looking at and acting on pages as a person does."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

SECONDS = 8.0
Do = Callable[[str, str], None]  # presses the button of this text, as this key would
_FIND_BUTTON = """
const all = ["#bar button", "main button, main a, main summary"].flatMap(
  (css) => [...document.querySelectorAll(css)]);
return all.find((e) => e.getClientRects().length && (e.innerText ?? e.textContent).trim().startsWith(arguments[0]));
"""
# The element that a key clicks, without what the click would do.
_CLICKED_BY_KEY = """
let clicked = null;
const notice = (click) => {
  clicked = click.target;
  click.preventDefault();
  click.stopImmediatePropagation();
};
const pressed = { key: arguments[0], bubbles: true, cancelable: true };
document.addEventListener("click", notice, true);
document.activeElement.dispatchEvent(new KeyboardEvent("keydown", pressed));
document.removeEventListener("click", notice, true);
return clicked;
"""


def program() -> str | None:
    """Chromium without windows, which takes two thirds of the processor time, or else with them."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def missing() -> str | None:
    """Why there can be no browser here."""
    if shutil.which("chromedriver") is None or program() is None:
        return (
            "chromium and chromedriver are not installed (apt-get install chromium chromium-driver)"
        )
    return None


def start() -> Browser:
    options = webdriver.ChromeOptions()
    options.binary_location = program() or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-background-networking",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return Browser(webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver"))))


class Browser:
    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def close(self) -> None:
        """Quit, and end the processes that a Chromium without windows leaves running."""
        processes = psutil.Process(self.driver.service.process.pid).children(recursive=True)
        self.driver.quit()
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def open(self, address: str) -> None:
        self.driver.get(address)

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        found: list[WebElement] = []
        wait_until(lambda: bool(found.extend(self.all(css)) or found), f"nothing is {css}")
        return found[0]

    def button(self, text: str) -> WebElement:
        """The first visible button or link whose words begin so."""
        found: list[WebElement] = []

        def look() -> bool:
            found[:] = [self.driver.execute_script(_FIND_BUTTON, text)]
            return found[0] is not None

        wait_until(look, f"no button says {text}")
        return found[0]

    def click(self, text: str) -> None:
        """Click the button of this text, and wait for the page that follows. What changes
        elsewhere may replace the button while it is looked for: then the new one is."""

        def clicked() -> bool:
            button = self.button(text)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
            button.click()
            return True

        self._then_loaded(lambda: wait_until(clicked, f"{text} cannot be clicked"))

    def leads_to(self, key: str, text: str) -> None:
        """The key clicks the button of this text."""

        def is_clicked() -> bool:
            clicked = self.driver.execute_script(_CLICKED_BY_KEY, key)
            return bool(clicked == self.button(text))

        wait_until(is_clicked, f"{key} does not press {text}")

    def press(self, *keys: str) -> None:
        """Press keys wherever the focus is, and wait for the page that follows."""
        self._then_loaded(ActionChains(self.driver).send_keys(*keys).perform)

    def drag(self, element: WebElement, across: int, down: int) -> None:
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver).drag_and_drop_by_offset(element, across, down).perform()

    def type(self, css: str, text: str) -> None:
        """Replace a field's text, once the page that has it is there."""

        def typed() -> bool:
            field = self.one(css)
            field.clear()
            field.send_keys(text)
            return True

        wait_until(typed, f"nothing can be typed into {css}")

    def send(self, css: str) -> None:
        """Ctrl and Enter in a field: its form goes."""
        field = self.one(css)
        self._then_loaded(lambda: field.send_keys(Keys.CONTROL, Keys.ENTER))

    def text(self) -> str:
        return self.driver.find_element(By.TAG_NAME, "body").text

    def sees(self, text: str) -> None:
        wait_until(lambda: text in self.text(), f"the page does not say {text!r}")

    def size(self, width: int, height: int, *, mobile: bool = False) -> None:
        """The window's, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def dark(self, on: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def requests(self) -> list[str]:
        """The addresses asked for since the last look."""
        import json

        found = []
        for entry in self.driver.get_log("performance"):
            message: dict[str, Any] = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def complaints(self) -> list[str]:
        """What the console was told since the last look, by the page or about it."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def _then_loaded(self, act: Callable[[], object]) -> None:
        """A form's answer is another document: wait for it if one is on its way."""
        self.driver.execute_script("window.__before = true")
        act()
        time.sleep(0.05)
        wait_until(
            lambda: self.driver.execute_script("return document.readyState") == "complete",
            "the page does not load",
        )


def wait_until(holds: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return
        except Exception:
            if time.monotonic() > deadline:
                raise
        if time.monotonic() > deadline:
            raise AssertionError(what)
        time.sleep(0.03)
