"""One headless Chromium for all browser tests of a run (Playwright allows one synchronous driver a process)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = os.environ.get("VISION_REFEREE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    if CHROMIUM is None:
        pytest.skip("needs Debian's chromium (apt-get install chromium)")
    playwright.expect.set_options(timeout=20_000)
    with playwright.sync_playwright() as player:
        opened = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()
