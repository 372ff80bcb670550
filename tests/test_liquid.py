"""Code between tags of Liquid and shortcodes of Hugo."""

from __future__ import annotations

import pytest

from chunkast import Chunker
from tests.test_blocks import shape


@pytest.mark.parametrize("quoted", ["", "> "])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("{% highlight text %}", "{% endhighlight %}"),
        ("{{< highlight text >}}", "{{< /highlight >}}"),
    ],
)
def test_parts_repeat_the_tags(opening: str, closing: str, quoted: str) -> None:
    code = "\n".join(f"{quoted}# line {number} of the code" for number in range(20))
    text = f"{quoted}{opening}\n{code}\n{quoted}{closing}\n"
    chunks = Chunker(max_tokens=64, overlap=0).chunk(text, "a.md")
    assert len(chunks) > 2
    for chunk in chunks:
        lines = chunk.embed_text.split("\n")
        assert any(line.endswith(opening) for line in lines)
        assert lines[-1].endswith(closing)
        assert not any(chunk.sections)


@pytest.mark.parametrize(
    "opener",
    [
        '{{< code file="a" >}}\n\n',
        "<<<<<<< a\n>>>>>>> b\n\n",
        "```md\n```py\n```\n\n",
        "> {% highlight a %}\n\n",
        "$$ a\n",
        "\\begin{a}\n",
    ],
)
def test_openers_that_are_never_closed_hide_no_later_block(opener: str) -> None:
    blocks = "$$\nb\n$$\n\n<<<<<<< a\n=======\n>>>>>>> b\n\n"
    code = "{% highlight a %}\nb\n{% endhighlight %}\n"
    assert shape(f"{opener * 100}\n{blocks}{code}").endswith("math conflict fence")
