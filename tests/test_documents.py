"""Documents people have: front matter as data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chunkast import ChunkastWarning, ChunkConfig, Chunker, ConfigError
from chunkast.text import front_matter
from chunkast.writers import json_bytes


def matter(text: str, **options: Any) -> Any:
    """What the metadata of a document's every chunk says of its front matter."""
    chunks = Chunker(**options).chunk(f"{text}# A\n\nText.\n\n# B\n\nMore.\n")
    (said,) = {json.dumps(chunk.metadata["front_matter"]) for chunk in chunks}
    assert all(json.loads(json_bytes(chunk.to_dict()))["metadata"] for chunk in chunks)
    return json.loads(said)


# Front matter


def test_front_matter_is_raw_unless_asked_for_as_data() -> None:
    text = "---\ntitle: Tides\ntags: [sea, moon]\n---\n"
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    assert matter(text) == text
    assert matter(text, front_matter="parsed") == {"title": "Tides", "tags": ["sea", "moon"]}
    toml = "+++\r\ntitle = 'Tides'\r\n[author]\r\nname = 'M'\r\n+++\r\n"
    assert matter(toml, front_matter="parsed") == {"title": "Tides", "author": {"name": "M"}}


def test_ids_and_hashes_do_not_depend_on_how_front_matter_is_given() -> None:
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    text = "---\ntitle: Tides\n---\n\n# A\n\nText.\n"
    raw, parsed = (Chunker(front_matter=form).chunk(text, "a.md") for form in ("raw", "parsed"))
    assert [(c.id, c.embed_hash) for c in raw] == [(c.id, c.embed_hash) for c in parsed]


def test_what_json_cannot_hold_becomes_a_string() -> None:
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    text = (
        "---\ndate: 2024-06-05\nat: 2024-06-05T10:00:00Z\nnever: .nan\nbytes: !!binary aGk=\n"
        "set: !!set {a, b}\n1: one\non: yes\nbad: 2024-02-31\nown: !mine 3\n"
        "call: !!python/object/apply:os.getcwd []\nbase: &b {k: 1, l: 2}\nmore: {<<: *b, k: 3}\n---\n"
    )
    assert matter(text, front_matter="parsed") == {
        "date": "2024-06-05",
        "at": "2024-06-05T10:00:00+00:00",
        "never": "nan",
        "bytes": "aGk=",
        "set": ["a", "b"],
        "1": "one",
        "on": True,
        "bad": "2024-02-31",
        "own": "3",
        "call": [],
        "base": {"k": 1, "l": 2},
        "more": {"k": 3, "l": 2},
    }
    toml = "+++\nday = 2024-06-05\ntime = 07:32:00\nsize = inf\n+++\n"
    said = matter(toml, front_matter="parsed")
    assert said == {"day": "2024-06-05", "time": "07:32:00", "size": "inf"}


ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("a: [\n", "line 3"),
        ("a: b\n- c\n", "line 3"),
        (ALIASES, "more than 10,000 values"),
        ("a: &a {b: *a}\n", "deeper than 50"),
        ("a: " + "[" * 20_000 + "\n", "too deep"),
        ("a: " + "x" * 70_000 + "\n", "characters"),
        ("a: \0\n", "not valid YAML"),
    ],
)
def test_front_matter_that_cannot_be_read_stays_as_it_is(body: str, reason: str) -> None:
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    text = f"---\n{body}---\n"
    with pytest.warns(ChunkastWarning, match=reason):
        assert matter(text, front_matter="parsed") == text


def test_a_missing_library_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_matter, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"PyYAML: pip install 'chunkast\[yaml\]'"):
        ChunkConfig(front_matter="parsed")
    assert ChunkConfig().front_matter == "raw"
