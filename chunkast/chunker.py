"""The façade: configuration, analysis, packing, chunks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from chunkast.config import ChunkConfig
from chunkast.core.analysis import analyze
from chunkast.errors import ConfigError, check_count
from chunkast.identity import Parts
from chunkast.model import Analysis, Chunk
from chunkast.options import ChunkOptions, Unpack
from chunkast.reading import Outline
from chunkast.sources.arguments import (
    checked_items,
    checked_name,
    checked_pairs,
    checked_text,
    source_of_path,
)
from chunkast.sources.documents import chunk_document, iter_document, warn_of_path
from chunkast.sources.parallel import OnError, chunk_texts
from chunkast.text.files import read_text
from chunkast.tokens import resolve_counter

__all__ = ("Chunker", "chunk", "chunk_file", "count_tokens")


class Chunker:
    """Cuts Markdown into chunks that fit an exact token budget.

    Keywords are the fields of :class:`ChunkConfig`; a configuration object may be given
    instead. Raises ``ConfigError`` for what is not allowed, naming the field. A chunker
    has no state of its own and may be shared between threads.
    """

    def __init__(self, config: ChunkConfig | None = None, **options: Unpack[ChunkOptions]) -> None:
        if config is not None and not isinstance(config, ChunkConfig):
            raise ConfigError(
                "config", config, "must be a ChunkConfig, or keywords: Chunker(max_tokens=512)"
            )
        if config is not None and options:
            name, value = next(iter(options.items()))
            raise ConfigError(name, value, "give a ChunkConfig or keywords, not both")
        config = ChunkConfig.of(options) if config is None else config
        given = config.encoding, config.model
        self.counter = resolve_counter(*given, allow_download=config.allow_download)
        if config.max_tokens == "model":
            config = replace(config, max_tokens=self.counter.window_room())
        self.config = config

    def __repr__(self) -> str:
        changed = self.config.changed_fields().items()
        return f"Chunker({', '.join(f'{name}={value!r}' for name, value in changed)})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy in another process, without the loaded vocabulary."""
        return {name: value for name, value in vars(self).items() if name != "counter"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.counter = resolve_counter(self.config.encoding, self.config.model)

    def analyze(
        self, text: str, source: str | PathLike[str] | None = None, language: str | None = None
    ) -> Analysis:
        """Return the blocks, break points, protected regions and headings of ``text``.

        ``source`` is the document's name, whose ending may say how it is read: which Markdown
        it is, or code in which language. ``language`` says that it is code: a name as in a
        fence's info string; "" that it is not. A language that is not known, or without the
        extra ``code``, is code all the same. Heuristics and tools are for Markdown. A notebook
        is many texts: here its JSON is one (see ``chunkast.notebook.analyze_cells``). Raises
        ``TypeError`` for what is not a str.
        """
        text, source = checked_text(text), checked_name("source", source)
        language = checked_name("language", language)
        return analyze(text, self.config, source, language)

    def chunk(
        self,
        text: str | Analysis,
        source: str | PathLike[str] | None = None,
        language: str | None = None,
    ) -> list[Chunk]:
        """Return the chunks of a Markdown text, of code or of an analysis, in order.

        ``source``, a name or a path, names the document in the chunks and their ids; without it
        ids are only unique within the document. ``language`` is as in :meth:`analyze`; the headings
        of code are the definitions around it. Never raises on a string; raises ``TypeError`` for
        any other type.

        A text whose ``source`` ends with ``.ipynb`` is the JSON of a notebook, unless a
        ``language`` is given: positions are those of each cell's source, which
        ``chunk.source`` names (see ``chunkast.notebook``). JSON that is not a notebook is text.

        Warns with a ``ChunkastWarning`` if the text is a single line that ends like the name of a
        document: :meth:`chunk_file` takes a path.
        """
        if source is None and language is None:
            warn_of_path(text)
        return chunk_document(self, text, source, language=language)

    def chunk_file(
        self, path: str | PathLike[str], source: str | PathLike[str] | None = None
    ) -> list[Chunk]:
        """The chunks of a file in UTF-8; its ending says what it is, as in :meth:`chunk`.

        ``source`` names it in the chunks and their ids: by default its path as it is given,
        with forward slashes. Raises ``SourceError`` for a
        file that cannot be read or is not UTF-8, naming the path and the byte.
        """
        name, source = source_of_path(path), checked_name("source", source)
        source = name if source is None else source
        return chunk_document(self, read_text(path), source, name=name)

    def outline(
        self,
        text: str | Analysis,
        source: str | PathLike[str] | None = None,
        language: str | None = None,
    ) -> Outline:
        """Return the sections of a text with their token costs, to read and to expand chunks.

        ``source`` and ``language`` are as in :meth:`analyze`, which also returns an analysis that
        may be given. Never raises on a string.
        """
        name = checked_name("source", source)
        analysis = text if isinstance(text, Analysis) else self.analyze(text, name, language)
        return Outline.of(analysis, self.config, self.counter, name)

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks alone."""
        return [chunk.text for chunk in self.chunk(text)]

    def iter_chunks(
        self, documents: Iterable[tuple[str | None, str | Analysis]]
    ) -> Iterator[Chunk]:
        """The chunks of ``(source, text)`` pairs, in order, one by one as they are asked for.

        Only the document at hand is kept, and of it no chunk that was given out. Each is
        read as in :meth:`chunk`; a source that comes again goes on counting its parts.
        """
        parts: Parts = defaultdict(int)
        for source, text in checked_pairs(documents):
            yield from iter_document(self, text, source, parts)

    def chunk_documents(
        self, documents: Iterable[tuple[str | None, str | Analysis]]
    ) -> Iterator[list[Chunk]]:
        """Like :meth:`iter_chunks`, a list for each document."""
        parts: Parts = defaultdict(int)
        for source, text in checked_pairs(documents):
            yield chunk_document(self, text, source, parts)

    def chunk_batch(
        self,
        texts: Sequence[str],
        sources: Sequence[str | PathLike[str] | None] | None = None,
        workers: int = 1,
        progress: bool = False,
        on_error: OnError | None = None,
    ) -> list[list[Chunk]]:
        """The chunks of several texts, in input order, each read as in :meth:`chunk`.

        A source that is given twice goes on counting its parts. With ``workers`` above 1
        the texts are spread over processes (the configuration must be picklable, as it
        is with an encoding's name); the result does not depend on it. Where processes
        cannot be forked (outside Linux, or once threads run) they import the program's
        main module: what it does belongs below ``if __name__ == "__main__":``. ``progress``
        shows a bar on stderr.

        What is raised while one text is chunked (by a counter of your own, for lack of
        memory) costs that text alone: its list is empty, and ``on_error(position, source,
        exception)`` is called here. Without ``on_error`` the exception, of several that of
        the first text, is raised when the other texts are done.

        Raises ``ConfigError`` when ``sources`` has another length, ``TypeError`` when
        ``texts`` is a single one, ``ChunkastError`` when a process was lost.
        """
        texts = checked_items("texts", texts)
        given = [None] * len(texts) if sources is None else checked_items("sources", sources)
        names = [source_of_path(name) if isinstance(name, PathLike) else name for name in given]
        if len(names) != len(texts):
            raise ConfigError("sources", len(names), f"must be one per text ({len(texts)})")
        check_count("workers", workers)
        return chunk_texts(
            self, texts, names, workers=workers, progress=progress, on_error=on_error
        )


def chunk(
    text: str, *, source: str | PathLike[str] | None = None, **options: Unpack[ChunkOptions]
) -> list[Chunk]:
    """Return the chunks of a Markdown text; ``options`` are the fields of ``ChunkConfig``.

    ``source`` names the text in the chunks and their ids; its extension says how the text is
    read. Raises ``ConfigError`` for an option that is not allowed and ``TypeError`` if ``text`` is
    not a str. Never raises for a string.
    """
    return Chunker(**options).chunk(text, source)


def chunk_file(
    path: str | PathLike[str],
    *,
    source: str | PathLike[str] | None = None,
    **options: Unpack[ChunkOptions],
) -> list[Chunk]:
    """Return the chunks of a file in UTF-8: Markdown, code or a notebook, by its extension.

    See :meth:`Chunker.chunk_file`; ``options`` are the fields of ``ChunkConfig``. Raises
    ``ConfigError`` for an option that is not allowed and ``SourceError`` for a file that cannot
    be read or is not UTF-8.
    """
    return Chunker(**options).chunk_file(path, source)


def count_tokens(
    text: str, encoding: object = "cl100k_base", *, allow_download: bool = False
) -> int:
    """Return the number of tokens of ``text``.

    ``encoding`` and ``allow_download`` are those of ``ChunkConfig``. Raises ``ConfigError`` for an
    unknown encoding and ``TypeError`` if ``text`` is not a str.
    """
    text = checked_text(text)
    return resolve_counter(encoding, allow_download=allow_download).count(text)
