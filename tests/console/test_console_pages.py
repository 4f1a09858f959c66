"""The console over HTTP, without a browser: who may see and do what, and that forms of others do nothing."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import aiohttp
import pytest

from interceptors.kinds import MoneyState
from proxy.clock import utc_now
from proxy.console.doorkeeper import COOKIE
from proxy.settings import Role
from proxy.store import Entry
from tests.console.shop import ROLES, TOKENS, propose, shop
from tests.console.visitor import visitor
from tests.proxy.store.samples import decided

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Desk

PAGES = {
    "/console/": "Queue",
    "/console/receipts": "Receipts",
    "/console/chain": "Every chain is intact",
    "/console/money": "Money",
    "/console/reviews": "review",
    "/console/charts": "Charts",
    "/console/policy": "refund-desk",
}
FORMS = {
    "/console/money/rs_none/resolve": (Role.OWNER, {"state": "executed", "reason": "seen"}),
    "/console/reviews/rc_none": (Role.REVIEWER, {"answer": "agree", "note": ""}),
    "/console/cases/esc_none": (Role.REVIEWER, {"answer": "approve", "reason": "fine"}),
    "/console/halt": (Role.OWNER, {"reason": "odd"}),
    "/console/resume": (Role.OWNER, {}),
}


async def _first_case(desk: Desk) -> str:
    return (await desk.store.read(lambda reader: reader.escalations()))[0].id


async def test_every_page_needs_a_session(tmp_path: Path) -> None:
    """Who is not logged in is sent to the door from each page and by each form, and comes back to where they wanted."""
    async with shop(tmp_path / "gate") as desk, visitor(desk) as nobody:
        for path in (*PAGES, "/console/cases/esc_1", "/console/receipts/rc_1?", "/console/money/rs_1"):
            page = await nobody.get(path)
            assert (page.status, page.headers["Location"].partition("?")[0]) == (303, "/console/login"), path
        for path, (_, form) in FORMS.items():
            page = await nobody.post(path, form)
            assert (page.status, page.headers["Location"]) == (303, "/console/login"), path

        bounced = await nobody.get("/console/receipts?ruling=allow")
        form = {"token": TOKENS["ben"], "next": "/console/receipts?ruling=allow"}

        assert bounced.headers["Location"] == "/console/login?next=%2Fconsole%2Freceipts%3Fruling%3Dallow"
        assert (await nobody.post("/console/login", form)).headers["Location"] == "/console/receipts?ruling=allow"
        assert not await desk.store.read(lambda reader: reader.halt())


@pytest.mark.parametrize("place", ["https://evil.example/", "//evil.example/console/", "/console/../x", "/console/\\x"])
async def test_logging_in_leads_nowhere_else(tmp_path: Path, place: str) -> None:
    """A link to the door cannot name another site as the place to go."""
    async with shop(tmp_path / "gate") as desk, visitor(desk) as nobody:
        page = await nobody.post("/console/login", {"token": TOKENS["ben"], "next": place})

        assert page.headers["Location"] == "/console/"


async def test_what_each_role_sees_and_does(tmp_path: Path) -> None:
    """Each page for each role; each form does for whom it is meant, and for nobody below."""
    async with shop(tmp_path / "gate") as desk:
        await propose(desk, "A1001 847.00 damaged")
        case = await _first_case(desk)
        for name in ("ben", "ana", "kim"):
            async with visitor(desk, name) as person:
                for path, text in {**PAGES, f"/console/cases/{case}": "847.00 USD"}.items():
                    page = await person.get(path)
                    assert (page.status, text in page.html) == (200, True), (name, path)
                csrf = (await person.get("/console/")).csrf
                for path, (least, form) in FORMS.items():
                    page = await person.post(path, {**form, "csrf": csrf})
                    is_let = Role(ROLES[name]).includes(least)
                    assert (page.status == 403) is not is_let, (name, path, page.status)


async def test_a_form_that_is_not_of_the_session_does_nothing(tmp_path: Path) -> None:
    """Without its token, with another session's, from another site by either header, or of another type: nothing."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "kim") as kim, visitor(desk, "kim") as other:
        own, foreign = (await kim.get("/console/policy")).csrf, (await other.get("/console/policy")).csrf
        form = {"reason": "odd", "csrf": own}
        refused = [
            await kim.post("/console/halt", {"reason": "odd"}),
            await kim.post("/console/halt", {"reason": "odd", "csrf": foreign}),
            await kim.post("/console/halt", form, headers={"Origin": "https://evil.example"}),
            await kim.post("/console/halt", form, headers={"Origin": "null"}),
            await kim.post("/console/halt", form, headers={"Sec-Fetch-Site": "cross-site"}),
            await kim.post("/console/halt", form, headers={"Sec-Fetch-Site": "same-site"}),
        ]
        multipart = aiohttp.FormData(form, default_to_multipart=True)
        as_json = await kim._ask("POST", "/console/halt", json=form)
        twice = await kim._ask("POST", "/console/halt", data=[("csrf", own), ("reason", "a"), ("reason", "b")])

        assert [page.status for page in refused] == [403] * 6
        assert (await kim._ask("POST", "/console/halt", data=multipart)).status == 415
        assert (as_json.status, twice.status) == (415, 400)
        assert await desk.store.read(lambda reader: reader.halt()) is None
        same = await kim.post("/console/halt", form, headers={"Origin": desk.admin, "Sec-Fetch-Site": "same-origin"})
        assert same.status == 303
        assert (await desk.store.read(lambda reader: reader.halt())).by == "kim"


async def test_the_cookie_is_a_name_and_nothing_else(tmp_path: Path) -> None:
    """It is HttpOnly, SameSite=Strict, for the console only, secure behind TLS; it is no token for the rest of the
    listener, a token is no cookie, and logging out ends it."""
    async with shop(tmp_path / "gate") as desk, visitor(desk) as person:
        page = await person.post("/console/login", {"token": TOKENS["kim"], "next": ""})
        cookie = page.headers["Set-Cookie"]
        behind_tls = await person.post(
            "/console/login", {"token": TOKENS["kim"]}, headers={"X-Forwarded-Proto": "https"}
        )
        value = cookie.partition("=")[2].partition(";")[0]

        assert {"HttpOnly", "SameSite=Strict", "Path=/console"} <= set(cookie.split("; "))
        assert "Secure" not in cookie
        assert "Secure" in behind_tls.headers["Set-Cookie"].split("; ")
        assert TOKENS["kim"] not in cookie
        async with aiohttp.ClientSession() as bare:
            for headers in ({"Cookie": f"{COOKIE}={value}"}, {"Authorization": f"Bearer {value}"}):
                async with bare.get(f"{desk.admin}/escalations", headers=headers) as response:
                    assert response.status == 401
            headers = {"Cookie": f"{COOKIE}={TOKENS['kim']}"}
            async with bare.get(f"{desk.admin}/console/", headers=headers, allow_redirects=False) as response:
                assert response.status == 303
        await person.log_in("kim")
        assert (await person.send("/console/", "/console/logout", {})).status == 303
        assert (await person.get("/console/")).status == 303


async def test_too_many_wrong_tokens_close_the_door(tmp_path: Path) -> None:
    """Five in a minute from one address; then the right token does not open it either, and the log tells."""
    async with shop(tmp_path / "gate") as desk, visitor(desk) as person:
        wrong = [await person.post("/console/login", {"token": f"guess-number-{n}"}) for n in range(5)]
        right = await person.log_in("kim")

        assert [page.status for page in wrong] == [401] * 5
        assert right.status == 429
        assert 1 <= int(right.headers["Retry-After"]) <= 60
        assert "guess-number" not in "".join(page.html for page in wrong)
        assert desk.log.getvalue().count(b'"login_failed"') == 5
        assert b"guess-number" not in desk.log.getvalue()


async def test_every_answer_forbids_what_a_page_does_not_need(tmp_path: Path) -> None:
    """Pages, files, redirects and refusals: one strict policy, no inline script or style, kept by nobody."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ben") as ben:
        await propose(desk, "A1001 847.00 damaged")
        paths = [
            *PAGES,
            f"/console/cases/{await _first_case(desk)}",
            "/console/none",
            "/console/login",
            "/",
            "/console",
        ]
        paths += ["/console/static/console.css", "/console/static/none.css"]
        for path in paths:
            page = await ben.get(path)
            policy = page.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';"), path
            assert "unsafe" not in policy
            assert page.headers["Cache-Control"] == "no-store", path
            assert page.headers["X-Content-Type-Options"] == "nosniff"
            assert " style=" not in page.html, path
            assert "<style" not in page.html
            assert page.html.count("<script") == page.html.count("<script src="), path
            assert not any(f" on{event}=" in page.html for event in ("click", "load", "error", "submit"))


async def test_files_are_kept_by_browsers_under_their_digest_only(tmp_path: Path) -> None:
    """What a page names may be kept for ever; the same file without its digest may not."""
    async with shop(tmp_path / "gate") as desk, visitor(desk) as nobody:
        door = await nobody.get("/console/login")
        named = door.html.partition('stylesheet" href="')[2].partition('"')[0]

        assert "immutable" in (await nobody.get(named)).headers["Cache-Control"]
        assert (await nobody.get("/console/static/console.css?v=0")).headers["Cache-Control"] == "no-store"
        assert (await nobody.get(named)).headers["Content-Type"] == "text/css; charset=utf-8"


async def test_the_queue_by_age_and_by_money(tmp_path: Path) -> None:
    """Oldest first, or most money first; the sum at stake stands above."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ana") as ana:
        for text in ("A1001 640.50 damaged", "A1002 847.00 damaged", "A1003 700.00 damaged"):
            await propose(desk, text)

        by_age, by_money = await ana.get("/console/"), await ana.get("/console/?by=money")

        assert _order(by_age.text, "640.50", "847.00", "700.00")
        assert _order(by_money.text, "847.00", "700.00", "640.50")
        assert "2,187.50 USD at stake" in by_age.text
        assert "3 waiting" in by_age.text
        assert (await ana.get("/console/?by=name")).status == 400


async def test_receipts_are_filtered_and_shown(tmp_path: Path) -> None:
    """By answer, tool, kind, customer and day; one shows its rules, facts, arguments, records and money."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ben") as ben:
        await propose(desk, "A1001 847.00 damaged")
        await propose(desk, "A1002 120.00 damaged")
        await desk.settled(2)
        today = utc_now().date()
        rows = {
            "": 3,
            "?ruling=allow": 1,
            "?ruling=escalate": 1,
            "?tool=process_refund": 2,
            "?kind=policy": 1,
            "?customer=cus_ada": 2,
            "?customer=cus_bob": 0,
            f"?since={today}&until={today}": 3,
            f"?since={today + timedelta(days=1)}": 0,
            "?tool=&ruling=&kind=&customer=&since=&until=": 3,
        }
        for query, count in rows.items():
            page = await ben.get(f"/console/receipts{query}")
            assert page.html.count('<a href="/console/receipts/rc_') == count, query
        for query in ("?ruling=maybe", "?since=yesterday", "?colour=red", "?before=x", "?kind=none"):
            assert (await ben.get(f"/console/receipts{query}")).status == 400, query
        line = (await desk.store.read(lambda reader: reader.receipts()))[0]
        page = await ben.get(f"/console/receipts/{line.receipt}")

        assert "It fits its hash and its commitment" in page.text
        assert "process_refund.rules[3]" in page.text
        assert "order.paid" in page.text
        assert "held" in page.text
        assert (await ben.get("/console/receipts/rc_none")).status == 404


async def test_an_owner_resolves_unknown_money_once(tmp_path: Path) -> None:
    """The page lists what is unknown; of two owners one word counts, the other is told, and the reason is recorded."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "kim") as kim, visitor(desk, "kim") as again:
        await propose(desk, "A1002 120.00 damaged")
        await desk.settled()
        await desk.store.expire(at=utc_now() + timedelta(hours=1))
        (held,) = await desk.store.read(lambda reader: reader.reservations())
        path = f"/console/money/{held.id}"
        listed = await kim.get("/console/money")
        kims, others = await kim.get(path), await again.get(path)
        first = await kim.post(
            f"{path}/resolve", {"state": "not_executed", "reason": "not in the bank", "csrf": kims.csrf}
        )
        second = await again.post(f"{path}/resolve", {"state": "executed", "reason": "seen", "csrf": others.csrf})
        settled = [one for one in await desk.records() if one["kind"] == "settled"][-1]

        assert path in listed.html
        assert (first.status, second.status) == (303, 409)
        assert "settled already" in second.text
        assert (settled["state"], settled["by"], settled["reason"]) == ("not_executed", "kim", "not in the bank")
        (after,) = await desk.store.read(lambda reader: reader.reservations())
        assert after.state is MoneyState.NOT_EXECUTED
        for form in ({"state": "held", "reason": "x"}, {"state": "executed", "reason": " "}):
            assert (await kim.send(path, f"{path}/resolve", form)).status == 400


async def test_the_halt_is_thrown_and_lifted_from_the_page(tmp_path: Path) -> None:
    """With reason and name: every page says so, a write is refused meanwhile, and runs again after."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "kim") as kim, visitor(desk, "ben") as ben:
        await kim.send("/console/policy", "/console/halt", {"reason": "refunds look <b>odd</b>"})
        refused = await propose(desk, "A1002 120.00 damaged")
        seen = await ben.get("/console/receipts")
        await kim.send("/console/policy", "/console/resume", {})
        let = await propose(desk, "A1003 120.00 damaged")

        assert refused.calls == []
        assert "Every write is refused since" in seen.text
        assert "by kim : refunds look <b>odd</b>" in seen.text.replace("kim:", "kim :")
        assert "<b>odd</b>" not in seen.html
        assert [call.name for call in let.calls] == ["process_refund"]
        assert "Every write is refused" not in (await ben.get("/console/")).text


async def test_the_policy_page_says_what_changed(tmp_path: Path) -> None:
    """In sentences and line by line, also after a restart; what lint finds; and an edit that is not in force."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ben") as ben:
        first = await ben.get("/console/policy")
        text = await asyncio.to_thread(desk.policy.read_text)
        await asyncio.to_thread(desk.policy.write_text, text.replace("500.00 USD", "600.00 USD"))
        changed = await ben.get("/console/policy")
        await asyncio.to_thread(desk.policy.write_text, text.replace("language: 1", "language: 9"))
        broken = await ben.get("/console/policy")
        await asyncio.to_thread(desk.policy.write_text, text.replace("500.00 USD", "600.00 USD"))

        assert "No earlier revision" in first.text
        assert "The constant self_service rises from 500.00 USD to 600.00 USD." in changed.text
        assert '<span class="add">+  self_service: 600.00 USD' in changed.html
        assert "An edit is not in force" in broken.text
    later = text.replace("500.00 USD", "600.00 USD")
    async with shop(tmp_path / "gate", policy=later) as desk, visitor(desk, "ben") as ben:
        assert "rises from 500.00 USD to 600.00 USD" in (await ben.get("/console/policy")).text


async def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    """Unknown pages, cases, receipts and reservations are a 404 page, and not an error of the server."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ben") as ben, visitor(desk) as nobody:
        for path in ("cases/esc_none", "receipts/rc_none", "money/rs_none", "none", "cases/", "static/../assets.py"):
            assert (await ben.get(f"/console/{path}")).status == 404, path
        assert (await nobody.get("/console/none")).status == 404
        assert (await ben.get("/console/charts?span=1y")).status == 400
        assert (await ben.get("/console/money?state=lost")).status == 400


async def test_a_sampled_write_gets_one_word(tmp_path: Path) -> None:
    """A reviewer sees what was decided, agrees or says why not; a viewer has no form; the share stands on the page."""
    async with shop(tmp_path / "gate") as desk:
        for end in ("000", "001"):
            record = decided(f"rc_{'0' * 23}{end}")
            await desk.store.commit([Entry(record)])
        async with visitor(desk, "ana") as ana, visitor(desk, "ben") as ben:
            seen, first = await ben.get("/console/reviews"), await ana.get("/console/reviews")
            path = f"/console/reviews/rc_{'0' * 23}001"
            without_why = await ana.send("/console/reviews", path, {"answer": "disagree", "note": ""})
            said = await ana.send("/console/reviews", path, {"answer": "disagree", "note": "the wrong order"})
            again = await ana.send("/console/reviews", path, {"answer": "agree", "note": ""})
            next_one = await ana.get("/console/reviews")
            other = f"/console/reviews/rc_{'0' * 23}000"
            await ana.send("/console/reviews", other, {"answer": "agree", "note": ""})
            last = await ana.get("/console/reviews")

    assert "847.00 USD" in first.text
    assert "2 to review" in first.text
    assert ('action="/console/reviews/' in seen.html, 'action="/console/reviews/' in first.html) == (False, True)
    assert (without_why.status, said.status, again.status) == (400, 303, 409)
    assert "People agreed with 0.0 % of 1" in next_one.text
    assert "People agreed with 50.0 % of 2" in last.text
    assert "Nothing to review" in last.text


async def test_a_live_fragment_without_a_session_loads_the_door(tmp_path: Path) -> None:
    """What the queue asks for by itself after a session has ended makes the browser load the page anew, not a piece."""
    async with shop(tmp_path / "gate") as desk, visitor(desk) as nobody:
        page = await nobody.get("/console/?by=age", headers={"HX-Request": "true"})

        assert (page.status, page.headers["HX-Refresh"], page.html) == (401, "true", "")


async def test_a_store_that_cannot_be_read_is_a_page_that_says_so(tmp_path: Path) -> None:
    """Not an error of the server without the headers that guard a page."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ben") as ben:
        database = desk.state / "callgate.db"
        await asyncio.to_thread(database.rename, desk.state / "away.db")
        page = await ben.get("/console/receipts")
        await asyncio.to_thread((desk.state / "away.db").rename, database)

    assert page.status == 503
    assert "the store could not do it" in page.text
    assert "Content-Security-Policy" in page.headers


def _order(text: str, *words: str) -> bool:
    places = [text.index(word) for word in words]
    return places == sorted(places)
