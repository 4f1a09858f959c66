"""Who stands before a page, and whether a form is one of ours: session, role, origin, CSRF; and how pages go out."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import parse_qsl, quote, urlsplit

from aiohttp import hdrs, web

from proxy.admin.answers import REASON_LENGTH_MAX, RefusedError
from proxy.connected import PersonToken
from proxy.console.attempts import Attempts
from proxy.console.sessions import Session, Sessions
from proxy.settings import Role
from proxy.store import StoreError
from proxy.store.glances import waiting_count

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime

    from proxy.admin.app import Collaborators
    from proxy.console.assets import Assets

COOKIE: Final = "callgate_console"
_FIELDS_MAX: Final = 20
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody who is logged in. `form` is empty but for a POST, whose CSRF token was compared."""

    request: web.Request
    session: Session
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def person(self) -> PersonToken:
        """Who this is, without a token: nothing that takes a person needs it."""
        return PersonToken(self.session.name, self.session.role, "")

    def text(self, name: str, *, required: bool = True) -> str:
        """A field of the form that says something. Raises `RefusedError`."""
        value = self.form.get(name, "").strip()
        if (required and not value) or len(value) > REASON_LENGTH_MAX:
            raise RefusedError(400, "invalid", f"{name} must be a text of at most {REASON_LENGTH_MAX} characters")
        return value


Page: TypeAlias = "Callable[[Visit], Awaitable[web.StreamResponse]]"


class Doorkeeper:
    """What all pages share."""

    def __init__(self, collaborators: Collaborators) -> None:
        self.collaborators = collaborators
        self.sessions = Sessions(self._now)
        self.attempts = Attempts(self._now)
        self.assets: Assets | None = None

    def guarded(self, role: Role, page: Page) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """`page` for a person whose role includes `role`; who is not logged in is sent to the door."""

        async def handle(request: web.Request) -> web.StreamResponse:
            session = self.sessions.find(request.cookies.get(COOKIE, ""))
            if session is None:
                return self._to_the_door(request)
            form: dict[str, str] = {}
            if request.method == hdrs.METH_POST:
                same_origin(request)
                form = await form_of(request)
                if not hmac.compare_digest(form.pop("csrf", "").encode(), session.csrf.encode()):
                    raise RefusedError(403, "forbidden", "this form is not of this session: load the page again")
            if not session.role.includes(role):
                raise RefusedError(403, "forbidden", f"this needs the role {role.value}")
            return await page(Visit(request, session, form))

        return self.shielded(handle)

    def shielded(
        self, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """Every answer with the headers that keep a browser from doing harm; what is refused as a page."""

        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                response = await handler(request)
            except RefusedError as error:
                response = await self.refused(request, error)
            except StoreError:
                response = await self.refused(request, RefusedError(503, "store", "the store could not do it"))
            for name, value in _HEADERS.items():
                response.headers[name] = value
            response.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
            return response

        return handle

    async def refused(self, request: web.Request, error: RefusedError) -> web.Response:
        session = self.sessions.find(request.cookies.get(COOKIE, ""))
        if session is None:
            return self.render("refused_outside.html", {"message": str(error)}, status=error.status)
        return await self.page(Visit(request, session), "refused.html", {"message": str(error)}, status=error.status)

    async def page(self, visit: Visit, template: str, values: Mapping[str, Any], *, status: int = 200) -> web.Response:
        """A page in its frame: who is here, what waits, and whether a halt is in force."""
        try:
            halt, waiting = await self.collaborators.store.read(
                lambda reader: (reader.halt(), reader.ask(waiting_count))
            )
        except StoreError:
            if status < 500:
                raise
            halt, waiting = None, 0  # the page that says so needs no store
        frame = {
            "session": visit.session,
            "may_decide": visit.session.role.includes(Role.REVIEWER),
            "is_owner": visit.session.role.includes(Role.OWNER),
            "here": visit.request.path,
            "halt": halt,
            "waiting": waiting,
            "now": self.collaborators.clock(),
        }
        return self.render(template, frame | dict(values), status=status)

    def render(self, template: str, values: Mapping[str, Any], *, status: int = 200) -> web.Response:
        assert self.assets is not None, "the application has started"
        text = self.assets.templates.get_template(template).render(values)
        return web.Response(text=text, content_type="text/html", status=status)

    def _now(self) -> datetime:
        return self.collaborators.clock()

    def _to_the_door(self, request: web.Request) -> web.Response:
        if "HX-Request" in request.headers:
            return web.Response(status=401, headers={"HX-Refresh": "true"})
        back = f"?next={quote(request.path_qs, safe='')}" if request.method == hdrs.METH_GET else ""
        return go(f"/console/login{back}")


def go(place: str) -> web.Response:
    """After a form: what is loaded again does nothing again."""
    return web.Response(status=303, headers={hdrs.LOCATION: place})


def same_origin(request: web.Request) -> None:
    """A form that another site sends is refused, whatever it holds. Raises `RefusedError`."""
    fetched = request.headers.get("Sec-Fetch-Site", "same-origin")
    origin = request.headers.get(hdrs.ORIGIN)
    if fetched not in ("same-origin", "none") or (origin is not None and urlsplit(origin).netloc != request.host):
        raise RefusedError(403, "forbidden", "this form comes from another site")


async def form_of(request: web.Request) -> dict[str, str]:
    """The fields of a form, each once. Raises `RefusedError`."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise RefusedError(415, "invalid", "a form is expected")
    data = await request.read()
    try:
        fields = parse_qsl(data.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_MAX)
    except ValueError:
        raise RefusedError(400, "invalid", "the form cannot be read") from None
    form = dict(fields)
    if len(form) != len(fields):
        raise RefusedError(400, "invalid", "a field of the form stands there twice")
    return form


def only(query: Mapping[str, str], *names: str) -> None:
    """A query holds these names and no others, each once. Raises `RefusedError`."""
    if query.keys() - set(names) or len(set(query)) != len(query):
        raise RefusedError(400, "invalid", f"the query may hold {', '.join(names) or 'nothing'}, each once")
