"""The console as people meet it, in a real browser: a case decided, a race, hostile texts, axe, the keyboard."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.async_playwright import Axe
from msgspec import structs

from interceptors.calls import Proposer
from interceptors.decisions import Decision, Evidence, EvidenceKind, FactRead, Grounded, Verdict
from interceptors.receipts import decided_record
from policies.model import Category, Mode, Ruling
from proxy.store import Entry, EscalationDraft, EscalationStatus, new_escalation_id, new_receipt_id
from tests.console.browsers import NARROW, WIDE, chromium, needs_browser, sit
from tests.console.shop import propose, shop
from tests.console.visitor import visitor

if TYPE_CHECKING:
    from pathlib import Path

    from tests.console.browsers import Seat
    from tests.e2e.harness import Desk

pytestmark = needs_browser
WORDS_MAX = 120
HOSTILE = "\"'><img src=x onerror=alert(1)><script>alert(1)</script><svg/onload=alert(1)>{{7*7}}\u202e</textarea>"


async def _case(desk: Desk) -> str:
    return (await desk.store.read(lambda reader: reader.escalations()))[0].id


@pytest.mark.parametrize("scripted", [True, False], ids=["with JavaScript", "without"])
async def test_a_person_decides_a_case_and_the_agent_continues(tmp_path: Path, scripted: bool) -> None:
    """Refused, seen in the queue, approved with a reason; proposed again it runs, once; the page tells of it."""
    async with shop(tmp_path / "gate") as desk, chromium() as browser:
        refused = await propose(desk, "A1001 847.00 damaged")
        seat = await sit(browser, desk, "ana", java_script_enabled=scripted)
        await seat.page.click("text=Approve the refund of 847.00 USD")
        await seat.page.fill("#reason", "photos show the damage")
        await seat.page.click("button:has-text('Approve')")
        approved = await seat.text()
        again = await propose(desk, "A1001 847.00 damaged")
        once_more = await propose(desk, "A1001 847.00 damaged")
        await seat.page.reload()
        used = await seat.text()
        status = (await desk.store.read(lambda reader: reader.escalations()))[-1].status

    assert refused.calls == []
    assert "Approved\n" in approved
    assert "ana approved: photos show the damage" in approved
    assert [(call.name, call.arguments["amount"]) for call in again.calls] == [("process_refund", 847.0)]
    assert once_more.calls == []
    assert (status, "Used\n" in used) == (EscalationStatus.USED, True)
    assert seat.troubles == []


async def test_a_rejection_reaches_the_agent(tmp_path: Path) -> None:
    """Rejected with a reason, the same call is refused when it is proposed again, and opens no second case."""
    async with shop(tmp_path / "gate") as desk, chromium() as browser:
        await propose(desk, "A1001 847.00 damaged")
        seat = await sit(browser, desk, "ana")
        await seat.go(f"/console/cases/{await _case(desk)}")
        await seat.page.fill("#reason", "photos show another item")
        await seat.page.click("button:has-text('Reject')")
        said = await seat.text()
        again = await propose(desk, "A1001 847.00 damaged")
        cases = await desk.store.read(lambda reader: reader.escalations())

    assert "Rejected\n" in said
    assert again.calls == []
    assert [case.status for case in cases] == [EscalationStatus.REJECTED]


async def test_of_two_who_race_one_decides(tmp_path: Path) -> None:
    """Both have the page open and press at once: one answer stands, the other is told, and no third thing happens."""
    async with shop(tmp_path / "gate") as desk, chromium() as browser:
        await propose(desk, "A1001 847.00 damaged")
        path = f"/console/cases/{await _case(desk)}"
        ana, eva = [await sit(browser, desk, name) for name in ("ana", "eva")]
        for seat, reason in ((ana, "yes from ana"), (eva, "no from eva")):
            await seat.go(path)
            await seat.page.fill("#reason", reason)
        await asyncio.gather(ana.page.click("button:has-text('Approve')"), eva.page.click("button:has-text('Reject')"))
        texts = [await seat.text() for seat in (ana, eva)]
        answers = [one for one in await desk.records() if one["kind"] == "answered"]

    told = [text for text in texts if "Not taken: the case is closed" in text]
    assert len(told) == 1
    assert len(answers) == 1
    assert f"{answers[0]['by']}" in told[0]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280x800", "390x844"])
async def test_what_a_reviewer_needs_is_above_the_fold_in_few_words(tmp_path: Path, size: dict[str, int]) -> None:
    """Amount, rule, facts with their time, evidence, what approving does and both buttons, without a scroll; at most
    120 words on the whole page but its frame."""
    async with shop(tmp_path / "gate") as desk, chromium() as browser:
        await propose(desk, "A1001 847.00 damaged")
        seat = await sit(browser, desk, "ana", viewport=size)
        await seat.go(f"/console/cases/{await _case(desk)}")
        wanted = {
            "amount": "h1 .money",
            "rule": "#rule + p",
            "facts": "#facts + dl",
            "time": "#facts .muted",
            "call": "#call + dl",
            "effect": ".effect",
            "reason": "#reason",
            "approve": "button[value=approve]",
            "reject": "button[value=reject]",
        }
        boxes = {name: await seat.page.locator(selector).bounding_box() for name, selector in wanted.items()}
        text = await seat.text()
        wider = await seat.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        brief, verdict = [await seat.page.locator(each).bounding_box() for each in (".brief", ".verdict")]

    assert brief is not None
    assert verdict is not None
    assert brief["y"] + brief["height"] <= verdict["y"] or brief["x"] + brief["width"] <= verdict["x"], (
        "one hides the other"
    )
    below = [name for name, box in boxes.items() if box is None or box["y"] + box["height"] > size["height"]]
    assert below == []
    assert len(text.split()) <= WORDS_MAX, text
    for words in (
        "847.00 USD",
        "args.amount > constants.self_service",
        "500.00 USD",
        "900.00 USD",
        "chars 0 to 5",
    ):
        assert words in text
    assert not wider


async def _plant(desk: Desk) -> tuple[str, str]:
    """A case and a receipt with a hostile text in every field that a model, a customer or a source of facts fills."""
    now = datetime.now(UTC)
    receipt = new_receipt_id(now)[:-3] + "000"
    decision = Decision(
        ruling=Ruling.ESCALATE,
        tool=HOSTILE,
        is_write=True,
        reason=HOSTILE,
        category=Category.ESCALATED,
        verdicts=(
            Verdict(HOSTILE, Ruling.ESCALATE, HOSTILE, HOSTILE, HOSTILE),
            Grounded("g", Ruling.ALLOW, evidence=(Evidence(HOSTILE, EvidenceKind.RESULT, 1, path=HOSTILE),)),
        ),
        facts=(FactRead(HOSTILE, HOSTILE, now, {HOSTILE: HOSTILE}),),
        arguments={HOSTILE: HOSTILE, "amount": Decimal("1.00"), "list": [HOSTILE, {HOSTILE: HOSTILE}]},
        digest=HOSTILE,
        policy=HOSTILE,
        revision=HOSTILE,
    )
    record = decided_record(
        decision,
        receipt=receipt,
        time=now,
        exchange=HOSTILE,
        turn=0,
        position=0,
        tenant=HOSTILE,
        identity=HOSTILE,
        subject="",
        proposer=Proposer.MODEL,
        dialect=HOSTILE,
        model=HOSTILE,
        call_id=HOSTILE,
        mode=Mode.ENFORCE,
        latencies={"hold": 1},
    )
    draft = EscalationDraft(
        id=new_escalation_id(now),
        tenant=HOSTILE,
        subject=HOSTILE,
        tool=HOSTILE,
        argument_digest=HOSTILE,
        summary={"root_cause": HOSTILE, "recommended_action": HOSTILE, "amount": HOSTILE, HOSTILE: HOSTILE},
        reason=HOSTILE,
        receipt=receipt,
        created=now,
    )
    await desk.store.commit([Entry(record, escalation=draft)])
    allowed = structs.replace(record, receipt=receipt[:-3] + "001", ruling=Ruling.ALLOW)
    await desk.store.commit([Entry(allowed)])
    return draft.id, receipt


async def test_hostile_texts_are_texts_everywhere(tmp_path: Path) -> None:
    """On every page, in every field, by script or not: nothing runs, nothing is loaded, nothing breaks out; people's
    own words (a reason, a note, a halt) are treated alike."""
    async with shop(tmp_path / "gate") as desk, chromium() as browser:
        case, receipt = await _plant(desk)
        seat = await sit(browser, desk, "kim")
        async with visitor(desk, "kim") as kim:
            await kim.send(f"/console/cases/{case}", f"/console/cases/{case}", {"answer": "reject", "reason": HOSTILE})
            await kim.send("/console/policy", "/console/halt", {"reason": HOSTILE})
        again, _ = await _plant(desk)
        pages = [f"cases/{case}", f"cases/{again}", f"receipts/{receipt}", "receipts", "", "?by=money", "reviews"]
        pages += ["charts", "policy", "money", "chain", "login"]
        for name in pages:
            assert await seat.go(f"/console/{name}") == 200, name
            await seat.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            body = await seat.page.content()
            assert await seat.page.evaluate("breaches.length") == 0, name
            assert await seat.page.locator("main img, main script, main svg[onload]").count() == 0, name
            assert "\u202e" not in await seat.text("body"), name
            assert "<img src=x" not in body, name
            assert ">49" not in body, name
        shown = await seat.go(f"/console/cases/{case}")
        text = await seat.text()

    assert shown == 200
    assert "<img src=x onerror=alert(1)>" in text
    assert "kim rejected: \"'><img src=x" in text
    assert seat.troubles == []


@pytest.mark.parametrize(("scheme", "size"), [("light", NARROW), ("dark", WIDE)], ids=["light, narrow", "dark, wide"])
async def test_nothing_serious_for_those_who_see_or_point_otherwise(
    tmp_path: Path, scheme: str, size: dict[str, int]
) -> None:
    """axe-core finds nothing serious or critical on any page, in each colour scheme and at each size."""
    async with shop(tmp_path / "gate") as desk, chromium() as browser:
        for text in ("A1001 847.00 damaged", "A1002 120.00 damaged", "A1003 640.00 wrong_item"):
            await propose(desk, text)
        _, receipt = await _plant(desk)
        (held,) = await desk.store.read(lambda reader: reader.reservations())
        pages = ["", f"cases/{await _case(desk)}", "receipts", f"receipts/{receipt}", "money?state=all"]
        pages += [f"money/{held.id}", "reviews", "charts", "policy", "chain", "none", "login"]
        found = []
        seat = await sit(browser, desk, "kim", viewport=size, color_scheme=scheme)
        for name in pages:
            await seat.go(f"/console/{name}")
            violations = (await Axe().run(seat.page)).response["violations"]
            found += [
                f"{name}: {one['id']} {one['nodes'][0]['html'][:120]}"
                for one in violations
                if one["impact"] in ("serious", "critical")
            ]
            assert not await seat.page.evaluate("document.documentElement.scrollWidth > innerWidth"), name

    assert found == []


async def test_a_case_is_decided_with_the_keyboard_alone(tmp_path: Path) -> None:
    """From the door to the approval with Tab, Enter and letters; what has the focus is seen to have it."""
    async with shop(tmp_path / "gate") as desk, chromium() as browser:
        await propose(desk, "A1001 847.00 damaged")
        seat = await sit(browser, desk)
        await seat.go("/console/")
        await seat.page.keyboard.type("reviewer-token-of-ana")
        await seat.page.keyboard.press("Enter")
        await seat.page.wait_for_url("**/console/")
        await _tab_to(seat, "a.row")
        outline = await seat.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        await seat.page.keyboard.press("Enter")
        await seat.page.wait_for_url("**/cases/*")
        await _tab_to(seat, "#reason")
        await seat.page.keyboard.type("seen")
        await _tab_to(seat, "button[value=approve]")
        await seat.page.keyboard.press("Enter")
        await seat.page.wait_for_selector("text=Approved")

    assert outline == "solid"


async def _tab_to(seat: Seat, selector: str) -> None:
    for _ in range(40):
        await seat.page.keyboard.press("Tab")
        if await seat.page.evaluate(f"document.activeElement.matches({selector!r})"):
            return
    raise AssertionError(f"Tab does not reach {selector}")


async def test_the_queue_renews_itself(tmp_path: Path) -> None:
    """A case that is opened while the page is open appears within ten seconds of the page's own time."""
    async with shop(tmp_path / "gate") as desk, chromium() as browser:
        seat = await sit(browser, desk)
        await seat.page.clock.install()
        await seat.log_in("ana")
        before = await seat.text()
        await propose(desk, "A1001 847.00 damaged")
        await seat.page.clock.run_for(10_500)
        await seat.page.wait_for_selector("a.row", timeout=5_000)

    assert "Nothing waits for you" in before
    assert seat.troubles == []
