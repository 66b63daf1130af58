"""A headless Chromium, driven over a pipe with the standard library only."""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"]


class Failed(Exception):
    pass


class Browser:
    """One page. Warnings and errors that the page writes to its console are in `complaints`."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="rejfilt-browser-")
        read_commands, self.commands = map(self._moved, os.pipe())
        self.replies, write_replies = map(self._moved, os.pipe())

        def wire():  # the browser reads commands from descriptor 3 and writes to 4
            os.dup2(read_commands, 3)
            os.dup2(write_replies, 4)

        self.process = subprocess.Popen([program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"], preexec_fn=wire,
                                        close_fds=False, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_replies)
        self.number, self.answers, self.complaints = 0, {}, []
        self.arrived = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        target = self._wait_for_page()
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    @staticmethod
    def _moved(descriptor):
        """Moves a descriptor to a number other than 3 and 4."""
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(descriptor)
        return moved

    def _read(self):
        left = b""
        while True:
            try:
                some = os.read(self.replies, 1 << 20)
            except OSError:
                some = b""
            if not some:
                with self.arrived:
                    self.answers = None
                    self.arrived.notify_all()
                return
            *messages, left = (left + some).split(b"\0")
            for message in map(json.loads, messages):
                self._take(message)

    def _take(self, message):
        with self.arrived:
            if "id" in message:
                self.answers[message["id"]] = message
                self.arrived.notify_all()
            elif message["method"] == "Runtime.exceptionThrown":
                details = message["params"]["exceptionDetails"]
                self.complaints.append(details.get("exception", {}).get("description", details["text"]))
            elif message["method"] == "Runtime.consoleAPICalled" and message["params"]["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(message["params"]["args"]))
            elif message["method"] == "Log.entryAdded" and message["params"]["entry"]["level"] in ("error", "warning"):
                self.complaints.append(message["params"]["entry"]["text"])

    def _wait_for_page(self):
        for _ in range(200):
            for target in self.call("Target.getTargets")["targetInfos"]:
                if target["type"] == "page":
                    return target["targetId"]
            time.sleep(0.05)
        raise Failed("the browser opened no page")

    def call(self, method, **params):
        with self.arrived:
            self.number += 1
            number = self.number
        message = {"id": number, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        with self.arrived:
            if not self.arrived.wait_for(lambda: self.answers is None or number in self.answers, 30) or self.answers is None:
                raise Failed(f"{method}: no answer from the browser")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def evaluate(self, expression):
        """The value of a JavaScript expression, awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise Failed(result["exceptionDetails"].get("exception", {}).get("description", "exception") + "\nin " + expression[:200])
        return result["result"].get("value")

    def wait(self, expression, seconds=10):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self._holds(expression):
            if time.monotonic() > end:
                raise Failed("never came true: " + expression)
            time.sleep(0.03)

    def _holds(self, expression):
        try:
            return self.evaluate(expression)
        except Failed:  # while a page loads there is nothing to evaluate
            return False

    def go(self, url, width, height, scale=1, scheme="light", motion="no-preference"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": motion}])
        self.call("Page.navigate", url=url)

    def key(self, key):
        code = {" ": "Space"}.get(key, key)
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

    def stroke(self, points):
        """Draws with the mouse through points, in window coordinates."""
        for kind, (x, y) in zip(["mousePressed"] + ["mouseMoved"] * (len(points) - 1), points):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=points[-1][0], y=points[-1][1], button="left", clickCount=1)

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        image = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                          clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))

    def cpu_seconds(self):
        """Processor seconds of all the browser's processes, independent of other load on the machine."""
        ticks = 0
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:  # the process has just ended
                continue
            if int(fields[3]) == self.process.pid:  # the session started by the browser's process
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(5)
        except (Failed, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, 9)  # its own group, made above
            self.process.wait()
        os.close(self.commands)
        shutil.rmtree(self.profile, ignore_errors=True)
