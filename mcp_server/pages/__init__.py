"""All pages, as one application to mount at ``/``."""

from __future__ import annotations

from starlette.applications import Starlette

from mcp_server.engine.startup import Startup
from mcp_server.pages.activity import ActivityPage
from mcp_server.pages.ask import AskPage
from mcp_server.pages.concepts import CompressPage, ConceptsPage, MergePage
from mcp_server.pages.curate import CuratePage
from mcp_server.pages.memory import MemoriesPage, MemoryPage
from mcp_server.pages.memory_buttons import MemoryButtons
from mcp_server.pages.move import MovePage
from mcp_server.pages.site import Events, Site
from mcp_server.pages.timeline import TimelinePage
from mcp_server.pages.today import TodayPage
from mcp_server.tools.toolbox import Toolbox


def pages_app(box: Toolbox, startup: Startup) -> Starlette:
    """The pages over one vault."""
    site = Site(box, startup)
    pages = (
        TodayPage(site),
        AskPage(site),
        CuratePage(site),
        TimelinePage(site),
        MemoriesPage(site),
        MemoryPage(site),
        MemoryButtons(site),
        MovePage(site),
        MergePage(site),
        ConceptsPage(site),
        CompressPage(site),
        ActivityPage(site),
        Events(site),
    )
    return site.app([route for page in pages for route in page.routes])
