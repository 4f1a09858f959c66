"""Logging in and out: a person's token is shown once and becomes the cookie of a session."""

from __future__ import annotations

from typing import Final

from aiohttp import hdrs, web

from proxy.admin.answers import RefusedError
from proxy.console.doorkeeper import COOKIE, Doorkeeper, Visit, form_of, go, only, same_origin
from proxy.console.sessions import LIFE_MAX
from proxy.logs import Event

_HOME: Final = "/console/"


class Door:
    """The pages before any session, and the way out."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper

    async def show(self, request: web.Request) -> web.Response:
        only(request.query, "next")
        return self._page(request.query.get("next", ""))

    async def enter(self, request: web.Request) -> web.StreamResponse:
        """The right token opens a session. Too many wrong ones close the door of their address for a while."""
        same_origin(request)
        keeper, address = self._keeper, request.remote or ""
        wait = keeper.attempts.wait_seconds(address)
        if wait:
            response = self._page("", f"Too many attempts. Try again in {wait} seconds.", status=429)
            response.headers[hdrs.RETRY_AFTER] = str(wait)
            return response
        form = await form_of(request)
        person = keeper.collaborators.persons.find(form.get("token", "").strip())
        if person is None:
            keeper.attempts.failed(address)
            keeper.collaborators.logs.event(Event.LOGIN_FAILED, listener="admin")
            return self._page(form.get("next", ""), "No person has this token.", status=401)
        keeper.sessions.end(request.cookies.get(COOKIE, ""))
        keeper.collaborators.logs.event(Event.LOGGED_IN, listener="admin", by=person.name)
        response = go(_inside(form.get("next", "")))
        response.set_cookie(
            COOKIE,
            keeper.sessions.begin(person),
            max_age=int(LIFE_MAX.total_seconds()),
            path="/console",
            httponly=True,
            samesite="Strict",
            secure=request.secure or request.headers.get("X-Forwarded-Proto") == "https",
        )
        return response

    async def leave(self, visit: Visit) -> web.StreamResponse:
        self._keeper.sessions.end(visit.request.cookies.get(COOKIE, ""))
        response = go("/console/login")
        response.del_cookie(COOKIE, path="/console")
        return response

    async def home(self, _: web.Request) -> web.StreamResponse:
        return go(_HOME)

    async def nothing(self, _: web.Request) -> web.StreamResponse:
        raise RefusedError(404, "not_found", "there is no such page")

    async def file(self, request: web.Request) -> web.StreamResponse:
        assets = self._keeper.assets
        found = assets.files.get(request.match_info["name"]) if assets is not None else None
        if found is None:
            raise RefusedError(404, "not_found", "there is no such file")
        response = web.Response(body=found.body, content_type=found.content_type, charset="utf-8")
        if request.query.get("v") == found.digest:
            response.headers[hdrs.CACHE_CONTROL] = "public, max-age=31536000, immutable"
        return response

    def _page(self, back: str, problem: str = "", *, status: int = 200) -> web.Response:
        return self._keeper.render("login.html", {"back": _inside(back), "problem": problem}, status=status)


def _inside(place: str) -> str:
    """Where to go after logging in: a page of the console, and nothing that a link could name elsewhere."""
    is_ours = place.startswith(_HOME) and place.isascii() and place.isprintable() and "\\" not in place
    return place if is_ours and "/../" not in place else _HOME
