"""Code between tags of Liquid and shortcodes of Hugo."""

from __future__ import annotations

import pytest

from chunkast import Chunker

CODE = "# a\n\nb\n---\n"


def kinds(text: str) -> str:
    leaves = Chunker().analyze(text).blocks.leaves()
    return " ".join(leaf.kind for leaf in leaves if leaf.kind not in {"blank", "marker"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{% highlight bash %}\n" + CODE + "{% endhighlight %}\n", "fence"),
        (
            "{%- highlight bash linenos -%}\n" + CODE + "{%- endhighlight -%}\nc\n",
            "fence paragraph",
        ),
        ("{% codeblock %}\n" + CODE + "{% endcodeblock %}\n", "fence"),
        ('c\n{{< highlight go "a=1" >}}\n' + CODE + "{{< /highlight >}}\n", "paragraph fence"),
        ("{{<highlight go>}}\n" + CODE + "{{</ highlight >}}\n", "fence"),
        ("{{% highlight go %}}\n" + CODE + "{{% /highlight %}}\n", "fence"),
        ("{{< code-toggle file=x >}}\n" + CODE + "{{< /code-toggle >}}\n", "fence"),
        ("- c\n\n  {% highlight a %}\n  # b\n  {% endhighlight %}\n", "paragraph fence"),
        ("> {% highlight a %}\n> # b\n> {% endhighlight %}\n\nc\n", "fence paragraph"),
        # Other tags, and Markdown in them.
        ("{% raw %}\n\n# a\n\n{% endraw %}\n", "paragraph heading paragraph"),
        ("{% highlighted %}\n# a\n{% endhighlighted %}\n", "paragraph heading paragraph"),
        ('{% code title="a" %}\n```js\n# b\n```\n{% endcode %}\n', "paragraph fence paragraph"),
        # Not alone on the line, escaped, or not closed in the same container by the same tag.
        ("{% highlight a %} b {% endhighlight %}\n\n# c\n", "paragraph heading"),
        ("Use {% highlight a %}\n# b\n{% endhighlight %}\n", "paragraph heading paragraph"),
        ("{{</* highlight a */>}}\n# b\n{{</* /highlight */>}}\n", "paragraph heading paragraph"),
        ("{{< highlight a />}}\n# b\n{{< /highlight >}}\n", "paragraph heading paragraph"),
        ("{% highlight a %}\n\n# b\n", "paragraph heading"),
        ("{% highlight a %}\n\n# b\n{{< /highlight >}}\n", "paragraph heading paragraph"),
        ("- {% highlight a %}\n\n# b\n\n{% endhighlight %}\n", "paragraph heading paragraph"),
        ("```\n{% highlight a %}\n```\n# b\n{% endhighlight %}\n", "fence heading paragraph"),
        ("    {% highlight a %}\n# b\n{% endhighlight %}\n", "code heading paragraph"),
    ],
)
def test_tags_enclose_code(text: str, expected: str) -> None:
    assert kinds(text) == kinds(text.replace("\n", "\r\n")) == expected


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
    assert kinds(f"{opener * 100}\n{blocks}{code}").endswith("math conflict fence")
