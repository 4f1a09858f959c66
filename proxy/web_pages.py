"""Whether a request may come from a page in somebody's browser.

A gate on the loopback that holds the provider's key asks nobody who they are: what can reach it may use the key. A page
of any site can, by a plain form or, with a name that it points to 127.0.0.1, as its own site.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proxy.headers import RequestHeaders


def is_of_foreign_page(headers: RequestHeaders) -> bool:
    """Whether the request's host or origin is another than this machine's own."""
    host, origin = headers.get("host"), headers.get("origin")
    if host is not None and not _is_local(host):
        return True
    return origin is not None and not _is_local(origin.partition("://")[2])


def _is_local(authority: str) -> bool:
    host = authority.strip().lower()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
