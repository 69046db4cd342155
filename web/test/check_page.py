#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page and the formats of other tools, tried on a run of an example.

    check_page.py --reconverge TOOL --example app.cu --decisions FILE

Profiles the example, writes its formats and its page, and has Node check them:
test/formats.mjs by the formats' own schemas, test/page.mjs in Chromium, and
test/large.mjs how long a large page takes. Exits with 77, saying why, if the
machine lacks what that takes.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

WEB = pathlib.Path(__file__).resolve().parent.parent
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser",
            "google-chrome")
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}; utils/setup.sh web-test says what to install")
    sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    for name in ("reconverge", "example", "decisions"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    args = parser.parse_args()
    node = shutil.which("node")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not node:
        skip("there is no node")
    if not (WEB / "node_modules/playwright-core").is_dir():
        skip("npm's packages are not installed in web/")
    if not browser:
        skip("there is no Chromium")
    run = lambda *words: subprocess.run([str(w) for w in words], check=True)
    run(node, WEB / "node_modules/typescript/bin/tsc", "--noEmit", "-p", WEB)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        report = folder / "run.json"
        with open(folder / "log", "w+") as log:
            if subprocess.run([args.reconverge, "profile", "--device", "cpu",
                               "--raw", args.example, "-o", report],
                              stdout=log, stderr=log).returncode:
                log.seek(0)
                sys.exit(log.read())
        shutil.copy(args.decisions, folder / "decisions.json")
        run(node, WEB / "test/formats.mjs", args.reconverge, report)
        run(node, WEB / "test/page.mjs", args.reconverge, browser, folder)
        run(node, WEB / "test/large.mjs", args.reconverge, browser, folder)


if __name__ == "__main__":
    sys.exit(main())
