"""A headless Chromium, and a command with a page for it, each a process of its own.

Where the browser is missing its tests are skipped, unless EDGESVM_BROWSER=required.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE_S = 60.0
SWITCHES = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars"),
)
NEEDED = ("chromium", "chromedriver")


def require():
    """Skip the test but by ``make browser`` and ``make conformance``, which need a browser."""
    if os.environ.get("EDGESVM_BROWSER") != "required":
        pytest.skip("a browser: make browser")
    missing = [name for name in NEEDED if shutil.which(name) is None]
    try:
        import selenium  # noqa: F401
    except ImportError:
        missing.append("selenium")
    assert not missing, f"no {', '.join(missing)}: apt-get install chromium chromium-driver"


class Browser:
    """A page in a browser."""

    def __init__(self, folder):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        for switch in (*SWITCHES, f"--user-data-dir={folder}"):
            options.add_argument(switch)
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)

    def open(self, url):
        self.driver.get("about:blank")  # a change of the fragment alone loads nothing
        self.driver.execute_cdp_cmd(
            "Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"}
        )
        self.requests(), self.errors()  # those of the browser's own first page
        self.driver.get(url)

    def text(self, selector):
        """The text of an element, as it is shown."""
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def fill(self, selector, text):
        self.run("document.querySelector(arguments[0]).value = arguments[1]", selector, str(text))

    def size(self, width, height, scheme="light"):
        """Show it as on a screen of this size."""
        shape = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def errors(self):
        """Lines of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for since the last call."""
        logs = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        sent = [
            log["params"]["request"] for log in logs if log["method"] == "Network.requestWillBeSent"
        ]
        return [request["url"] for request in sent]

    def close(self):
        self.driver.quit()


def until(condition, what=""):
    """Wait for a condition; its value."""
    deadline = time.monotonic() + PATIENCE_S
    while not (held := condition()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.1)
    return held


@contextlib.contextmanager
def command(folder, *argv):
    """An `edgesvm` command with a page on a free port; the page's address with its token."""
    log = Path(folder) / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "edgesvm.cli", *argv, "--http", "0"],
            stdout=file,
            stderr=file,
        )
        with process:
            try:
                yield until(lambda: address(log, process), log.read_text)
            finally:
                process.terminate()


def address(log, process):
    """The page's address, once it is there."""
    assert process.poll() is None, log.read_text()
    said = [line for line in log.read_text().splitlines() if line.startswith("page: ")]
    return said[0].split()[1] if said else None
