"""Plans: a store that follows them is equal to a fresh one, and no vector is computed twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkast import Chunk, ChunkastError, Chunker, WritePlan, chunk_uuid, content_hash, plan_writes
from tests.examples import examples
from tests.strategies import documents, markdown

GUIDE = "# Guide\n\nPack light.\n\n## Water\n\nSprings run dry.\n\n## Food\n\nThe hut sells soup.\n"
NAMES = st.sampled_from(["a.md", "b.md", "docs/a.md"])
Text = tuple[str, str]


@st.composite
def edited_folders(draw: st.DrawFn) -> list[dict[str, str]]:
    """States of a folder, each made of the one before by edits."""
    folder = draw(st.dictionaries(NAMES, documents(), min_size=1))
    states = [folder]
    for _ in range(draw(st.integers(1, 4))):
        folder = dict(folder)
        for _ in range(draw(st.integers(1, 3))):
            name = draw(NAMES)
            text = folder.pop(name, None)
            match draw(st.sampled_from(["insert", "take", "rename", "copy", "write", "remove"])):
                case "insert" if text is not None:
                    at = draw(st.integers(0, len(text)))
                    more = draw(
                        st.sampled_from([" word", "\n\nA line.\n\n", "\n# Title\n\n", "\n"])
                    )
                    folder[name] = text[:at] + more + text[at:]
                case "take" if text is not None:
                    at = draw(st.integers(0, len(text)))
                    folder[name] = text[:at] + text[at + draw(st.integers(1, 40)) :]
                case "rename" if text is not None:
                    folder[draw(NAMES)] = text
                case "copy" if text is not None:
                    folder[name] = folder[draw(NAMES)] = text
                case "write":
                    folder[name] = draw(documents() | markdown())
        states.append(folder)
    return states


class DictionaryStore:
    """Rows and vectors by id. A vector is the embedded text itself, white space aside."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, object]] = {}
        self.vectors: dict[str, str] = {}

    def follow(self, plan: WritePlan, current: Sequence[Chunk]) -> None:
        chunks = {chunk.id: chunk for chunk in current}
        embedded = {id_: chunks[id_].embed_hash for id_ in plan.embed}
        assert len(set(embedded.values())) == len(embedded)
        assert not {*self.vectors.values()} & {*embedded.values()}
        vectors = plan.vectors(self.vectors, embedded)
        for id_ in plan.removed:
            del self.rows[id_], self.vectors[id_]
        for id_ in (*plan.added, *plan.changed, *plan.moved):
            self.rows[id_] = chunks[id_].to_dict()
        self.vectors.update(vectors)


FORMS: dict[str, Callable[[Chunk], object]] = {
    "chunks": lambda chunk: chunk,
    "dictionaries": lambda chunk: json.loads(json.dumps(chunk.to_dict())),
    "records": lambda chunk: json.loads(json.dumps(chunk.record())),
}


@examples(4)
@given(edited_folders(), st.sampled_from([12, 40]), st.sampled_from([0, 0.3]))
def test_a_store_that_follows_plans_is_equal_to_a_fresh_one(
    states: list[dict[str, str]], budget: int, overlap: float
) -> None:
    chunker = Chunker(max_tokens=budget, overlap=overlap)
    store = DictionaryStore()
    prior: list[Chunk] = []
    for folder in states:
        current = list(chunker.iter_chunks(folder.items()))
        plan = plan_writes(current, prior)
        for form in FORMS.values():
            assert plan_writes(map(form, current), map(form, prior)) == plan  # type: ignore[arg-type]
        check_places(plan, current, prior)
        store.follow(plan, current)
        assert store.rows == {chunk.id: chunk.to_dict() for chunk in current}
        assert store.vectors == {chunk.id: chunk.embed_hash for chunk in current}
        prior = current


def check_places(plan: WritePlan, current: Sequence[Chunk], prior: Sequence[Chunk]) -> None:
    """How the lists lie across one another, as the docstring says."""
    before = {chunk.id: chunk for chunk in prior}
    now = {chunk.id: chunk for chunk in current}
    assert set(plan.moved) == {id_ for id_ in plan.unchanged if before[id_] != now[id_]}
    assert not {*plan.embed} & {*plan.reuse}
    assert {*plan.embed, *plan.reuse} <= {*plan.added, *plan.changed, *plan.moved}
    assert {*plan.embed, *plan.reuse} == {
        id_ for id_, c in now.items() if id_ not in before or before[id_].embed_hash != c.embed_hash
    }
    for id_, holder in plan.reuse.items():
        held = now if id_ in plan.repeats else before
        assert held[holder].embed_hash == now[id_].embed_hash
        assert (id_ not in plan.repeats) or holder in plan.embed


def chunks_of(text: str, name: str = "guide.md", budget: int = 60) -> list[Chunk]:
    return Chunker(max_tokens=budget, min_tokens=0, overlap=0).chunk(text, name)


def ids(chunks: Iterable[Chunk]) -> tuple[str, ...]:
    return tuple(chunk.id for chunk in chunks)


@pytest.mark.parametrize("context", ["headings", "none"])
def test_renaming(context: Literal["headings", "none"]) -> None:
    chunker = Chunker(max_tokens=60, min_tokens=0, context=context)
    before = chunker.chunk(GUIDE, "guide.md")
    plan = plan_writes(chunker.chunk(GUIDE, "new/guide.md"), before)
    assert plan.embed == ()
    assert list(plan.reuse.values()) == list(ids(before))
    renamed = plan_writes(chunker.chunk(GUIDE.replace("# Guide", "# Walks", 1), "guide.md"), before)
    # The title is embedded with every chunk, or with its own alone.
    assert len(renamed.embed) == (3 if context == "headings" else 1)


def test_one_vector_serves_every_new_chunk_with_its_text() -> None:
    current = [chunk for name in "abc" for chunk in chunks_of("Same.", f"{name}.md")]
    a, b, c = ids(current)
    plan = plan_writes(current, [])
    assert (plan.embed, plan.reuse, plan.repeats) == ((a,), {b: a, c: a}, (b, c))
    assert plan.vectors({}, {a: "v"}) == {a: "v", b: "v", c: "v"}
    with pytest.raises(KeyError):
        plan.vectors({}, {})


def test_one_id_stands_for_one_text() -> None:
    one, same, other = (chunks_of(text, "a.md")[0] for text in ("One.", " One.", "Two."))
    assert plan_writes([one, same], []).added == (one.id, one.id)
    for current in ([one, other], [one.record(), same.to_dict(), other.to_dict()]):
        with pytest.raises(ChunkastError, match=f"different texts have the id '{one.id}'"):
            plan_writes(current, [one])
    # A store's own rows may be wrong; the plan repairs them.
    assert plan_writes([one], [one, other]).changed == (one.id,)


def test_a_copy_with_another_text_has_its_hashes() -> None:
    [chunk, *_] = chunks_of(GUIDE)
    for read in (chunk, Chunk.from_dict(chunk.to_dict())):
        assert read.record() == chunk.record()
        other = replace(read, text="Other.", embed_text="More.")
        hashes = content_hash("Other."), content_hash("More.")
        assert (other.content_hash, other.embed_hash) == hashes
        assert other.state_hash != chunk.state_hash
        assert replace(read, source="b.md").content_hash == chunk.content_hash
        assert replace(read, headings=("A",)).state_hash != chunk.state_hash


def test_a_record_is_small_and_of_older_ones_nothing_is_taken_for_granted() -> None:
    [chunk, *_] = chunks_of(GUIDE)
    record = chunk.record()
    assert list(record) == ["id", "content_hash", "embed_hash", "state_hash"]
    assert record["content_hash"] == content_hash(chunk.text)
    assert plan_writes([chunk], [record]) == WritePlan(unchanged=(chunk.id,))
    # More in a store's payload does not disturb, and what has no state_hash is written again.
    assert plan_writes([chunk], [{**record, "tags": ["x"]}]) == WritePlan(unchanged=(chunk.id,))
    del record["state_hash"]
    assert plan_writes([chunk], [record]).moved == (chunk.id,)
    del record["embed_hash"]
    with pytest.raises(KeyError, match="embed_hash"):
        plan_writes([chunk], [record])


def test_every_field_is_part_of_the_state() -> None:
    [chunk, *_] = chunks_of(GUIDE)
    values = chunk.to_dict()
    for name, value in values.items():
        if name in ("id", "content_hash", "embed_hash") or name.startswith("section"):
            continue
        given = {str: "x", int: 99, bool: True, list: ["x"], dict: {"x": 1}, type(None): [3, 4]}
        other = given[type(value)]
        assert Chunk.from_dict({**values, name: other}).state_hash != chunk.state_hash, name


def test_a_uuid_is_that_of_the_id() -> None:
    [chunk] = chunks_of("Apples.")
    assert chunk.uuid == chunk_uuid(chunk.id)
    assert UUID(chunk.uuid).version == 5
    assert str(UUID(chunk.uuid)) == chunk.uuid
