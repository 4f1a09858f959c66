"""The routes of the console, put beside those of the admin listener."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from proxy.console.assets import load_assets
from proxy.console.cases import Cases
from proxy.console.charts import Charts
from proxy.console.door import Door
from proxy.console.doorkeeper import Doorkeeper
from proxy.console.money import MoneyPages
from proxy.console.policy import PolicyPages
from proxy.console.proposals import Proposals
from proxy.console.receipts import Receipts
from proxy.console.reviews import Reviews
from proxy.settings import Role

if TYPE_CHECKING:
    from aiohttp import web

    from proxy.admin.app import Collaborators


def add_console(app: web.Application, collaborators: Collaborators) -> None:
    """Serve the pages under `/console/`; templates and files are read when the application starts."""
    keeper = Doorkeeper(collaborators)
    door, proposals, receipts, money = Door(keeper), Proposals(keeper), Receipts(keeper), MoneyPages(keeper)
    cases = Cases(keeper, proposals)
    charts, policy, reviews = Charts(keeper), PolicyPages(keeper), Reviews(keeper)

    async def read_assets(_: web.Application) -> None:
        keeper.assets = await asyncio.to_thread(load_assets)

    app.on_startup.append(read_assets)
    guarded, router = keeper.guarded, app.router
    router.add_get("/", keeper.shielded(door.home))
    router.add_get("/console", keeper.shielded(door.home))
    router.add_get("/console/login", keeper.shielded(door.show))
    router.add_post("/console/login", keeper.shielded(door.enter))
    router.add_get("/console/static/{name}", keeper.shielded(door.file))
    router.add_post("/console/logout", guarded(Role.VIEWER, door.leave))
    router.add_get("/console/", guarded(Role.VIEWER, cases.queue))
    router.add_get("/console/cases/{id}", guarded(Role.VIEWER, cases.show))
    router.add_post("/console/cases/{id}", guarded(Role.REVIEWER, cases.decide))
    router.add_get("/console/proposals/{id}", guarded(Role.VIEWER, proposals.show))
    router.add_get("/console/proposals/{id}/diff", guarded(Role.VIEWER, proposals.download))
    router.add_get("/console/receipts", guarded(Role.VIEWER, receipts.listed))
    router.add_get("/console/receipts/{id}", guarded(Role.VIEWER, receipts.show))
    router.add_get("/console/chain", guarded(Role.VIEWER, receipts.chain))
    router.add_get("/console/money", guarded(Role.VIEWER, money.listed))
    router.add_get("/console/money/{id}", guarded(Role.VIEWER, money.show))
    router.add_post("/console/money/{id}/resolve", guarded(Role.OWNER, money.resolve))
    router.add_get("/console/reviews", guarded(Role.VIEWER, reviews.show))
    router.add_post("/console/reviews/{id}", guarded(Role.REVIEWER, reviews.say))
    router.add_get("/console/charts", guarded(Role.VIEWER, charts.show))
    router.add_get("/console/policy", guarded(Role.VIEWER, policy.show))
    router.add_post("/console/halt", guarded(Role.OWNER, policy.halt))
    router.add_post("/console/resume", guarded(Role.OWNER, policy.resume))
    router.add_route("*", "/console/{rest:.*}", keeper.shielded(door.nothing))
