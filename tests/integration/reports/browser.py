"""A headless Chromium, driven by the DevTools protocol through two pipes, with the standard library alone."""

import json
import os
import select
import shutil
import subprocess
import time

PATIENCE = 60.0  # seconds for an answer; a busy machine takes its time


def find():
    """The path of a Chromium, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Failed(Exception):
    """The browser refuses a command, or does not answer."""


class Browser:
    """One window. Messages in both directions are JSON that ends in a zero byte."""

    def __init__(self, path, folder):
        to_child, self.output = os.pipe()
        self.input, from_child = os.pipe()
        # The browser reads from descriptor 3 and writes to 4. A shell puts the pipes there, whatever their numbers are.
        words = [path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                 "--no-first-run", "--disable-background-networking", "--disable-extensions", "--hide-scrollbars",
                 "--user-data-dir=" + os.path.join(folder, "profile"), "about:blank"]
        with open(os.path.join(folder, "browser.log"), "w", encoding="utf-8") as log:
            # A shell moves the pipes to 3 and 4 (through numbers that neither has) and becomes the browser.
            self.process = subprocess.Popen(
                ["bash", "-c", 'exec 10<&"$1" 11>&"$2" && exec 3<&10 4>&11 10<&- 11>&- && shift 2 && exec "$@"', "-",
                 str(to_child), str(from_child)] + words,
                pass_fds=(to_child, from_child), stdout=log, stderr=log, env=dict(os.environ, HOME=folder))
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.number, self.session = b"", 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def receive(self, until):
        """The next message; None where there is none in time."""
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            ready = left > 0 and select.select([self.input], [], [], left)[0]
            if not ready:
                return None
            data = os.read(self.input, 1 << 20)
            if not data:
                raise Failed("the browser has ended with status %s" % self.process.wait())
            self.buffer += data
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        """The result of a command; events that come meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(until)
            if answer is None:
                raise Failed("no answer to %s in %g s" % (method, PATIENCE))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed("%s: %s" % (method, answer["error"].get("message")))
                return answer["result"]
            self.events.append(answer)

    def show(self, address, width, height, scheme, medium):
        """Opens a page in a window of this size, and waits until it is complete. Returns what went wrong meanwhile."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=medium, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        answer = self.call("Page.navigate", url=address)
        if answer.get("errorText"):
            return [answer["errorText"]]
        until = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            event = self.receive(until)
            if event is None:
                return ["the page is not complete after %g s" % PATIENCE]
            self.events.append(event)
        return []

    def evaluate(self, text):
        """The value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def complaints(self):
        """Errors and warnings that the page has written to the console since it was opened."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("text", "an exception"))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append("%s %s" % (params["entry"]["text"], params["entry"].get("url", "")))
        return found

    def close(self):
        """Ends the browser."""
        try:
            self.session = None
            self.call("Browser.close")
        except (Failed, OSError):
            self.process.kill()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.input)
        os.close(self.output)
