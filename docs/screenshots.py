"""Take the screenshots of the view in docs/images: `python docs/screenshots.py`.

Needs `pip install . --group browser`, Chromium and its driver.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver

DOCS = Path(__file__).parent
WIDTH, HEIGHT = 1200, 820
GUIDE = """\
# Mountain huts

Huts are open from June to September. Book early for August.

## Equipment

Carry two litres of water. Every hut sells soup:

| hut     | altitude | beds |
| ------- | -------: | ---: |
| Ridge   |  1,840 m |   24 |
| Glacier |  2,410 m |   12 |

## Weather

Storms come in the afternoon. Check the forecast:

```sh
forecast --hut ridge --days 2
```
"""


def main() -> None:
    """Write view-light.png and view-dark.png."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(argument)
    with TemporaryDirectory() as folder, webdriver.Chrome(options=options) as browser:
        page = Path(folder) / "view.html"
        Path(folder, "guide.md").write_text(GUIDE, "utf-8")
        view = ("view", "guide.md", "--max-tokens", "64", "--overlap", "0", "-o", str(page))
        command = [sys.executable, "-m", "chunkast", *view]
        subprocess.run(command, cwd=folder, check=True)
        for scheme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            browser.get(page.as_uri())
            browser.set_window_size(WIDTH, HEIGHT)
            browser.save_screenshot(str(DOCS / "images" / f"view-{scheme}.png"))


if __name__ == "__main__":
    main()
