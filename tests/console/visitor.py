"""A person with a browser that knows no JavaScript and checks nothing: what it sends is what a test wants sent."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.console.shop import TOKENS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from tests.e2e.harness import Desk

_CSRF = re.compile(r'name="csrf" value="([^"]+)"')
_TAG = re.compile(r"<[^>]*>")


@dataclass(slots=True)
class Page:
    status: int
    html: str
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """What a reader sees, roughly."""
        return re.sub(r"\s+", " ", unescape(_TAG.sub(" ", self.html.partition("<body>")[2])))

    @property
    def csrf(self) -> str:
        found = _CSRF.search(self.html)
        assert found is not None, self.html
        return found.group(1)


@dataclass(slots=True)
class Visitor:
    url: str
    session: aiohttp.ClientSession

    async def get(self, path: str, **options: Any) -> Page:
        return await self._ask("GET", path, **options)

    async def post(self, path: str, form: Mapping[str, str], **options: Any) -> Page:
        return await self._ask("POST", path, data=form, **options)

    async def send(self, page: str, path: str, form: Mapping[str, str]) -> Page:
        """Load a page, and send one of its forms."""
        loaded = await self.get(page)
        return await self.post(path, {**form, "csrf": loaded.csrf})

    async def log_in(self, name: str) -> Page:
        return await self.post("/console/login", {"token": TOKENS[name], "next": ""})

    async def _ask(self, method: str, path: str, **options: Any) -> Page:
        options.setdefault("allow_redirects", False)
        async with self.session.request(method, self.url + path, **options) as response:
            return Page(response.status, await response.text(), response.headers)


@asynccontextmanager
async def visitor(desk: Desk, name: str = "") -> AsyncIterator[Visitor]:
    """Somebody; with a name, one who is logged in."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        made = Visitor(desk.admin, session)
        if name:
            assert (await made.log_in(name)).status == 303
        yield made
