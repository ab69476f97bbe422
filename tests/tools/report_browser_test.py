#!/usr/bin/env python3
"""Opens pages of `rondo report` in a headless Chromium, in wide and narrow windows, light and dark.

usage: report_browser_test.py RONDO [--pictures FOLDER] [--more PAGE.html ...]

Each page must load without an error or a message on the console and without asking for anything else; every picture's
texts must lie within it and not on each other, and nothing may be wider than the window. --pictures keeps a picture of
each. The exit status is 77 where there is no Chromium (`tools/setup browser` installs one), or 1 with RONDO_TEST_BROWSER set.
"""
import argparse
import base64
import itertools
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SOURCE = pathlib.Path(__file__).resolve().parents[2]
WINDOWS = (1280, 400)
SECONDS = 60  # for the browser to start and to answer

# What the page is asked: texts of pictures that stick out or lie on each other, and what is wider than the window.
LOOK = """(() => {
  const faults = [];
  const seen = (e) => e.getClientRects().length > 0;
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) faults.push(`the page is ${wide} pixels wider than the window`);
  for (const svg of document.querySelectorAll("figure svg")) {
    if (!seen(svg)) continue;
    const frame = svg.getBoundingClientRect();
    const title = svg.querySelector("title").textContent;
    const boxes = [...svg.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
    boxes.forEach(([text, b], i) => {
      if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1)
        faults.push(`${title}: "${text}" sticks out`);
      for (const [other, c] of boxes.slice(0, i)) {
        const x = Math.min(b.right, c.right) - Math.max(b.left, c.left);
        const y = Math.min(b.bottom, c.bottom) - Math.max(b.top, c.top);
        if (x > 1 && y > 3) faults.push(`${title}: "${text}" lies on "${other}"`);
      }
    });
  }
  return {
    faults,
    figures: document.querySelectorAll("figure").length,
    pictures: [...document.querySelectorAll("figure svg")].filter(seen).length,
    silent: [...document.querySelectorAll("figure")].filter((f) => !f.querySelector("h3").textContent.trim() ||
      !f.querySelector("figcaption p").textContent.trim() || !f.querySelector("table, svg")).length,
    ground: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    loaded: performance.getEntriesByType("resource").map((e) => e.name),
  };
})()"""


class Browser:
    """A Chromium that is driven over its pipe (Chrome DevTools Protocol): messages end with a zero byte."""

    def __init__(self, program, folder):
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()

        def give_pipes():  # the browser reads from 3 and writes to 4
            read, write = os.dup(to_read), os.dup(to_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             "--no-first-run", "--disable-dev-shm-usage", f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=give_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.received, self.events, self.ids, self.session = b"", [], itertools.count(1), None
        os.set_blocking(self.read_end, True)
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.received:
            if not select.select([self.read_end], [], [], SECONDS)[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.read_end, 1 << 20)
            if not got:
                raise EOFError("the browser ended")
            self.received += got
        text, self.received = self.received.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        number = next(self.ids)
        request = {"id": number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address):
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def complaints(self):
        """What the console and the network tell beside the page itself."""
        told = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                told.append(f"{method}: {json.dumps(params)[:300]}")
            if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:")):
                told.append(f"asked for {params['request']['url']}")
        return told

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (EOFError, OSError, TimeoutError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)


def look(browser, page, width, scheme, pictures):
    """Faults of a page in a window of that width."""
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.open(page.as_uri())
    browser.evaluate("document.querySelectorAll('details.problem').forEach((d) => { d.open = true; })")
    seen = browser.evaluate(LOOK)
    faults = seen["faults"] + browser.complaints()
    light = sum(int(c) for c in seen["ground"].split("(")[1].rstrip(")").split(",")[:3]) > 3 * 128
    if light != (scheme == "light"):
        faults.append(f"the ground is {seen['ground']} though the system is {scheme}")
    if seen["loaded"]:
        faults.append(f"it loads {seen['loaded']}")
    if seen["silent"] or (seen["figures"] and not seen["pictures"]):
        faults.append(f"{seen['silent']} of {seen['figures']} figures say nothing; {seen['pictures']} pictures are seen")
    browser.evaluate("document.getElementById('theme').click()")
    if browser.evaluate("getComputedStyle(document.body).backgroundColor") == seen["ground"]:
        faults.append("the switch changes nothing")
    browser.evaluate("document.getElementById('theme').click()")
    if pictures:
        height = min(browser.evaluate("document.documentElement.scrollHeight"), 12000)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        (pictures / f"{page.stem}-{width}-{scheme}.png").write_bytes(base64.b64decode(shot["data"]))
    return [f"{page.name}, {width} pixels, {scheme}: {fault}" for fault in faults]


def searched(rondo, folder):
    """A database with a search of 30 trials, whose texts would be markup if they were not escaped."""
    export = json.loads((SOURCE / "tuning_db" / "shipped" / "h200.json").read_text())
    names = {cell["hash"]: cell["name"] for cell in export["cells"]}
    problem = next(p for p in export["problems"] if names[p["cell"]] == "lstm" and p["pass"] == "bw")
    export["problems"] = [problem]
    export["cells"] = [cell for cell in export["cells"] if cell["hash"] == problem["cell"]]
    export["cells"][0]["name"] = "</title><script>document.body.remove()</script>"
    best = problem["trials"][0]
    for i in range(30):
        other = dict(best, best=False, parameters=dict(best["parameters"], stages=2 + i % 3, steps=4 << i // 3 % 2),
                     median_ms=best["median_ms"] * (1.1 + 0.1 * (i * 7 % 11)), created_at=i + 1)
        problem["trials"].append(dict(other, strategy="<svg onload='alert(1)'>") if i % 10 == 9 else other)
    (folder / "export.json").write_text(json.dumps(export))
    subprocess.run([rondo, "db", "import", folder / "export.json", "--db", folder / "tuning.db"], check=True,
                   stdout=subprocess.DEVNULL)
    return ["--db", folder / "tuning.db"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    parser.add_argument("rondo")
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--more", type=pathlib.Path, nargs="*", default=[])
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        needed = bool(os.environ.get("RONDO_TEST_BROWSER"))
        print(f"{'failed' if needed else 'skipped'}: there is no Chromium here; `tools/setup browser` installs one")
        return 1 if needed else 77
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    faults = []
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        pages = []
        for name, words in (("shipped", ["--shipped"]),
                            ("lstm", ["lstm", "--shape", "B=16,T=1024,H=1,D=768", "--arch", "h200", "--no-db"]),
                            ("backward", ["gru", "--pass", "bw", "--arch", "h200", "--no-db"]),
                            ("searched", searched(options.rondo, folder)), ("empty", ["--no-db"])):
            pages.append(folder / f"{name}.html")
            subprocess.run([options.rondo, "report", *words, "-o", pages[-1]], check=True)
        for page in pages:
            xml.etree.ElementTree.parse(page)
        browser = Browser(program, folder / "profile")
        try:
            for page in pages + [p.resolve() for p in options.more]:
                for width, scheme in itertools.product(WINDOWS, ("light", "dark")):
                    faults += look(browser, page, width, scheme, options.pictures)
        finally:
            browser.close()
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
