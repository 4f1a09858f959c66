"""What the console is made of is what was looked at: htmx by its digest, templates that escape, pictures in use."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from proxy.console.assets import load_assets

ROOT = Path(__file__).resolve().parents[2]
STATIC = resources.files("proxy.console") / "static"
HTMX = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
"""Of `dist/htmx.min.js` in the package htmx.org 2.0.11, as its registry gives it out."""
IMAGE_BYTES_MAX = 150_000


def test_htmx_is_the_one_that_was_published() -> None:
    """Byte for byte, with its licence beside it."""
    script = (STATIC / "htmx.min.js").read_bytes()

    assert hashlib.sha256(script).hexdigest() == HTMX
    assert b'version:"2.0.11"' in script
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE.txt").read_text(encoding="utf-8")


def test_templates_escape_and_forgive_nothing() -> None:
    """Markup in a value is text; a value that is missing is an error and no empty place."""
    templates = load_assets().templates
    door = templates.get_template("login.html")

    assert "<b>" not in door.render(back='"><b>', problem="<b>")
    with pytest.raises(UndefinedError):
        door.render(back="")


def test_no_template_marks_anything_as_safe() -> None:
    """No filter, block or function that would let a value through as markup."""
    for one in (resources.files("proxy.console") / "templates").iterdir():
        text = one.read_text(encoding="utf-8")
        assert not any(word in text for word in ("|safe", "| safe", "autoescape", "Markup", "hx-on", "javascript:")), (
            one
        )


def test_each_picture_is_shown_and_small() -> None:
    """The page shows what `make screenshots` makes, and nothing else lies there."""
    pictures = sorted((ROOT / "docs" / "images").glob("*.png"))
    page = (ROOT / "docs" / "console.md").read_text(encoding="utf-8")

    assert pictures
    for path in pictures:
        assert f"](images/{path.name})" in page
        assert path.stat().st_size < IMAGE_BYTES_MAX
    assert page.count("](images/") == len(pictures)


def test_files_have_a_type_and_an_address_of_their_own() -> None:
    """An address changes with its content."""
    assets = load_assets()

    assert {name: one.content_type for name, one in assets.files.items()} == {
        "console.css": "text/css",
        "htmx.LICENSE.txt": "text/plain",
        "htmx.min.js": "text/javascript",
        "mark.svg": "image/svg+xml",
    }
    assert len({one.digest for one in assets.files.values()}) == len(assets.files)
