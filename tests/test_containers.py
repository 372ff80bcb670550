"""Containers as their writers open and close them, by the shape of the block tree."""

from __future__ import annotations

import pytest

from chunkast import Chunker
from chunkast.model import Block


def shape(text: str) -> str:
    """The kinds of all blocks but blank lines, with a container's info and what it contains."""

    def of(block: Block) -> str:
        if not block.children:
            return block.kind
        inside = " ".join(of(child) for child in block.children if child.kind != "blank")
        return f"{block.kind}[{block.info}]({inside})"

    tree = Chunker().analyze(text).blocks
    return " ".join(of(child) for child in tree.children if child.kind != "blank")


M = "marker"
CASES = [
    # Microsoft Learn.
    (
        '::: zone pivot="a"\n\nb\n\n::: zone-end\n\nc\n',
        f'container[zone pivot="a"]({M} paragraph {M}) paragraph',
    ),
    (":::zone a\n## b\n:::zone-end:::\n", f"container[zone a]({M} heading {M})"),
    (
        "::: zone a\n::: moniker b\nc\n::: moniker-end\n::: zone-end\n",
        f"container[zone a]({M} container[moniker b]({M} paragraph {M}) {M})",
    ),
    # Marks without a name close no container with a name; a name closes no other container.
    (
        "::: zone a\n::: tip\nb\n:::\nc\n::: zone-end\n",
        f"container[zone a]({M} admonition[tip]({M} paragraph {M}) paragraph {M})",
    ),
    (
        "::: zone a\n::: moniker b\nc\n::: zone-end\n\n::: moniker-end\n",
        f"container[zone a]({M} paragraph {M}) directive",
    ),
    (
        (
            ':::row:::\n:::column span="2":::\na\n:::column-end:::\n:::column:::\nb\n'
            ":::column-end:::\n:::row-end:::\n"
        ),
        (
            f'container[row]({M} container[column span="2"]({M} paragraph {M})'
            f" container[column]({M} paragraph {M}) {M})"
        ),
    ),
    (
        (
            ":::row:::\n    :::column:::\n        a\n\n        - b\n    :::column-end:::\n"
            ":::row-end:::\nc\n"
        ),
        (
            f"container[row]({M} container[column]({M} paragraph list[](item[](paragraph)) {M}) {M})"
            " paragraph"
        ),
    ),
    (':::image a="b":::\n\nc\n:::code d="e" :::\nf\n', "directive paragraph directive paragraph"),
    (
        ":::image a:::\n\n:::image b:::\nc\n:::image-end:::\n",
        f"directive container[image b]({M} paragraph {M})",
    ),
    ("::: tip\n:::image a:::\n:::\nb\n", f"admonition[tip]({M} directive {M}) paragraph"),
    (':::no-loc text="a"::: is text, and so is :::no-loc text="b":::\n', "paragraph"),
    ("::: zone-end\n\n:::row-end:::\n", "directive directive"),
    ("- a\n\n  :::image b:::\n\n  c\n", "list[](item[](paragraph directive paragraph))"),
    # Containers that are never closed open nothing.
    ("::: zone a\n\n# b\n\n::: zone c\n\n# d\n", "paragraph heading paragraph heading"),
    (
        "::: note\n\n# b\n\n::: tip\nc\n:::\n",
        f"paragraph heading admonition[tip]({M} paragraph {M})",
    ),
    ("/// note\n\n# b\n", "paragraph heading"),
    ("- ::: a\n\n  b\n\n# c\n\n:::\n", "list[](item[](paragraph paragraph)) heading paragraph"),
    # Docusaurus, VitePress.
    (":::note[A b]\nc\n:::\n", f"admonition[note[A b]]({M} paragraph {M})"),
    (":::tip My tip\n\nc\n\n:::\n", f"admonition[tip My tip]({M} paragraph {M})"),
    ("::: code-group\n```a\n```\n:::\n", f"container[code-group]({M} fence {M})"),
    (
        ":::: a\n::: b\nc\n:::\nd\n::::\ne\n",
        f"container[a]({M} container[b]({M} paragraph {M}) paragraph {M}) paragraph",
    ),
    # MyST.
    (":::{note}\na\n:::\n", f"admonition[{{note}}]({M} paragraph {M})"),
    (
        "::::{grid} 2\n:::{card}\na\n:::\n::::\n",
        f"container[{{grid}} 2]({M} container[{{card}}]({M} paragraph {M}) {M})",
    ),
    # Pandoc, Quarto.
    (
        "::: {.a}\n::: {.b}\nc\n:::\nd\n:::\ne\n",
        f"container[{{.a}}]({M} container[{{.b}}]({M} paragraph {M}) paragraph {M}) paragraph",
    ),
    (
        "::: warning ::::::\na\n\n::: b\nc\n:::\n::::::::::::::\n",
        f"admonition[warning]({M} paragraph container[b]({M} paragraph {M}) {M})",
    ),
    ("::::: {#a .b} ::::\nc\n::::::::::\n", f"container[{{#a .b}}]({M} paragraph {M})"),
    ("::: toc :::\na\n", "directive paragraph"),
    # Items and quotes close only their own.
    (
        "::: a\n- ::: b\n  c\n  :::\n\n> ::: d\n> e\n> :::\n:::\n",
        (
            f"container[a]({M} list[](item[](container[b]({M} paragraph {M})))"
            f" quote[](container[d]({M} paragraph {M})) {M})"
        ),
    ),
    # PyMdown Extensions, MkDocs.
    ("/// note | a\nb\n///\n", f"admonition[note | a]({M} paragraph {M})"),
    (
        '!!! a "b"\n    # c\n\n??? d\n    e\n',
        f'admonition[a "b"]({M} heading) admonition[d]({M} paragraph)',
    ),
    ('=== "tip"\n    ## a\n', f'container[tab "tip"]({M} heading)'),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_containers_end_where_their_writers_end_them(text: str, expected: str) -> None:
    assert shape(text) == expected
    assert shape("".join(f"> {line}\n" for line in text.splitlines())) == f"quote[]({expected})"
    assert shape(text.replace("\n", "\r\n")) == expected


def test_a_container_that_is_never_closed_leaves_the_sections_after_it() -> None:
    text = "# A\n\n::: zone b\n\nc\n\n## D\n\ne\n\n::: tip\nf\n:::\n\n## G\n"
    assert [heading.path for heading in Chunker().outline(text) if heading.path] == [
        ("A",),
        ("A", "D"),
        ("A", "G"),
    ]


@pytest.mark.parametrize("run", ["```", "~~~"])
@pytest.mark.parametrize(
    "inner",
    [
        "<!--\n{}\n-->",
        "<pre>\n{}\n</pre>",
        "<script>\n{}\n</script>",
        "- {}\n  code\n\nText.",
        "> {}\n> code\n\nText.",
        "    {}\n\nText.",
        "$$\n{}\n$$",
    ],
)
def test_what_is_no_fence_does_not_hide_a_closing_line(inner: str, run: str) -> None:
    text = f"# A\n\n::: note\n\n{inner.format(run)}\n\n:::\n\n# After\n\nText.\n"
    assert [s.path for s in Chunker().outline(text) if s.path] == [("A",), ("After",)]
