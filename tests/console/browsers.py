"""A real browser before the console: Debian's Chromium, driven by Playwright. Without one the tests skip visibly."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import async_playwright

from tests.console.shop import TOKENS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, BrowserContext, Page

    from tests.e2e.harness import Desk

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (apt-get install chromium)")
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
# A browser that is told of a breach of its policy keeps it for the test.
_WATCH = "window.breaches = []; document.addEventListener('securitypolicyviolation', e => breaches.push(e.blockedURI))"


@dataclass(slots=True)
class Seat:
    """A person before a browser of their own. `troubles` are errors of its console, dialogs and foreign requests."""

    desk: Desk
    context: BrowserContext
    page: Page
    troubles: list[str] = field(default_factory=list)

    async def go(self, path: str) -> int:
        response = await self.page.goto(self.desk.admin + path)
        assert response is not None
        return response.status

    async def log_in(self, name: str) -> None:
        await self.go("/console/login")
        await self.page.fill("#token", TOKENS[name])
        await self.page.click("button[type=submit]")
        assert self.page.url.endswith("/console/"), self.page.url

    async def text(self, selector: str = "main") -> str:
        return await self.page.inner_text(selector)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The browser while the block lasts."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            await browser.close()


async def sit(browser: Browser, desk: Desk, name: str = "", **options: Any) -> Seat:
    """A new profile; with a name, one that is logged in."""
    context = await browser.new_context(**{"viewport": WIDE, **options})
    page = await context.new_page()
    seat = Seat(desk, context, page)
    if options.get("java_script_enabled", True):
        await page.add_init_script(_WATCH)
    page.on("pageerror", lambda error: seat.troubles.append(str(error)))
    page.on("console", lambda said: seat.troubles.append(said.text) if said.type == "error" else None)
    page.on("request", lambda asked: None if asked.url.startswith(desk.admin) else seat.troubles.append(asked.url))

    async def dismiss(dialog: Any) -> None:
        seat.troubles.append(dialog.message)
        await dialog.dismiss()

    page.on("dialog", dismiss)
    if name:
        await seat.log_in(name)
    return seat
