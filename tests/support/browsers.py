"""A real browser without a window, and what pages say in it."""

import shutil
from contextlib import contextmanager


@contextmanager
def chromium():
    """Starts Chromium, and ends it."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "Chromium is not installed; make test installs it on Debian"
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


def listened(window):
    """Returns what a page will say from now on (on its console, in errors and dialogs), and the addresses that it asks for."""
    said, asked = [], []
    window.on("console", lambda message: said.append(message.text))
    window.on("pageerror", lambda error: said.append(str(error)))
    window.on("dialog", lambda dialog: said.append(dialog.message))
    window.on("request", lambda request: asked.append(request.url))
    return said, asked
