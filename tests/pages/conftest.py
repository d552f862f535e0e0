"""One browser for the run, one served vault for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pages import browser as browsers
from tests.pages.browser import Browser, Do
from tests.pages.notes import NOTES
from tests.pages.served import Served, served


@pytest.fixture(scope="session")
def window() -> Iterator[Browser]:
    problem = browsers.missing()
    if problem is not None:
        pytest.skip(problem)
    browser = browsers.start()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("pages"), NOTES) as running:
        yield running


@pytest.fixture
def browser(window: Browser) -> Browser:
    """The window, on a desk and in the light, with nothing logged so far."""
    window.open("about:blank")
    window.size(1280, 860)
    window.dark(False)
    window.complaints()
    window.requests()
    return window


@pytest.fixture
def do(browser: Browser) -> Do:
    """Act as a person would, by the button's text; its key leads to the same button."""

    def act(text: str, key: str) -> None:
        browser.leads_to(key, text)
        browser.click(text)

    return act
