"""The main entry points: ``Chunker``, and functions for one text or file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from chunkast.analysis import analyze
from chunkast.config import ChunkConfig
from chunkast.errors import ConfigError
from chunkast.files.folder import OnUnread, chunk_folder
from chunkast.model import Analysis, Chunk
from chunkast.options import ChunkOptions, Unpack
from chunkast.reading import Outline
from chunkast.sources.arguments import (
    checked_items,
    checked_name,
    checked_text,
    source_of_path,
)
from chunkast.sources.documents import iter_document, warn_of_path
from chunkast.sources.parallel import OnError, chunk_texts, iter_documents
from chunkast.sources.workers import WorkerCount, check_workers
from chunkast.text.files import read_text
from chunkast.tokens import resolve_counter

__all__ = ("Chunker", "chunk", "chunk_file", "count_tokens")


class Chunker:
    """Splits Markdown into chunks that fit a token budget.

    Pass either a ``ChunkConfig`` or its fields as keywords. A chunker keeps no state between calls
    and may be shared between threads. Raises ``ConfigError``, which names the field, for an invalid
    value.
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
        self.counter = resolve_counter(
            config.encoding, config.model, allow_download=config.allow_download
        )
        if config.max_tokens == "model":
            config = replace(config, max_tokens=self.counter.window_room())
        self.counter.check_budget(config.budget + config.reserve_tokens, config.reserve_tokens)
        self.config = config

    def __repr__(self) -> str:
        return repr(self.config).replace("ChunkConfig", "Chunker", 1)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the loaded vocabulary.
        return type(self), (self.config,)

    def analyze(
        self, text: str, source: str | PathLike[str] | None = None, language: str | None = None
    ) -> Analysis:
        """Return the blocks, break points, protected regions and headings of ``text``.

        ``source`` is the document's name. Its file extension selects the Markdown dialect or the
        programming language. ``language`` overrides this choice: it is the name of a language, as
        in the info string of a fence, or "" for Markdown. If the language is unknown or the
        ``code`` extra is not installed, the text is still treated as code. Heuristics and tools
        apply only to Markdown.

        A notebook is analyzed as plain JSON text; to analyze its cells, use
        ``chunkast.notebook.analyze_cells``. Raises ``TypeError`` if ``text`` is not a str.
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
        """Return the chunks of Markdown, source code or an analysis, in order.

        ``source``, a name or a path, identifies the document in the chunks and their ids. Without a
        ``source``, ids are unique only within the document. ``source`` and ``language`` determine
        the format of the text, as in :meth:`analyze`. In code, the headings are the enclosing
        definitions. Raises ``TypeError`` if ``text`` is neither a str nor an ``Analysis``; never
        raises for a str.

        If ``source`` ends with ``.ipynb`` and no ``language`` is given, the text is read as a
        notebook. The positions of each chunk then refer to a single cell, which ``chunk.source``
        names (see ``chunkast.notebook``). JSON that is not a notebook is treated as text.

        To read a file, use :meth:`chunk_file`. A ``ChunkastWarning`` is issued for a text that
        looks like a path, such as "guide.md".
        """
        if source is None and language is None:
            warn_of_path(text)
        return list(iter_document(self, text, source, language=language))

    def chunk_file(
        self, path: str | PathLike[str], source: str | PathLike[str] | None = None
    ) -> list[Chunk]:
        """Return the chunks of a UTF-8 file. Its extension determines the format.

        ``source`` identifies the file in the chunks and their ids. By default, it is the given
        path, with forward slashes. Raises ``SourceError`` for a file that cannot be read or is not
        UTF-8.
        """
        name, source = source_of_path(path), checked_name("source", source)
        source = name if source is None else source
        return list(iter_document(self, read_text(path), source, name=name))

    def chunk_folder(
        self,
        path: str | PathLike[str],
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        root: str | PathLike[str] | None = None,
        on_error: OnUnread | None = None,
        workers: WorkerCount = 1,
    ) -> Iterator[tuple[str, list[Chunk] | None]]:
        """Return an iterator over the source and the chunks of each document in a folder.

        The documents, and their order, sources and chunks, are those of ``chunkast chunk path``.
        Hidden and vendored folders, and files that a ``.gitignore`` matches, are skipped.
        ``include`` and ``exclude`` are lists of globs, as on the command line. Sources are relative
        to ``root``: by default, the current folder or, if ``path`` is outside it, ``path``. Ids are
        computed from sources, so give a ``root`` if the program may run in different folders.

        If a document or folder cannot be read, or ``path`` contains no documents,
        ``on_error(source, exception)`` is called and ``(source, None)`` is yielded. Without
        ``on_error``, the first such exception is raised after the last document. ``workers`` has
        the same meaning as in :meth:`chunk_batch`.

        Raises ``SourceError`` if ``path`` is not a folder, ``ConfigError`` for an invalid glob or a
        ``root`` that does not contain ``path``, and ``TypeError`` if ``include`` or ``exclude`` is
        a str.
        """
        return chunk_folder(self, path, (include, exclude), root, on_error, workers=workers)

    def outline(
        self,
        text: str | Analysis,
        source: str | PathLike[str] | None = None,
        language: str | None = None,
    ) -> Outline:
        """Return the outline of a text: its sections with their token counts.

        Use an outline to read sections, and to expand chunks with the text around them. ``text`` is
        a str, with ``source`` and ``language`` as in :meth:`analyze`, or an analysis. Never raises
        for a str.
        """
        name = checked_name("source", source)
        analysis = text if isinstance(text, Analysis) else self.analyze(text, name, language)
        return Outline.of(analysis, self.config, self.counter, name)

    def split_text(self, text: str) -> list[str]:
        """Return the texts of the chunks of ``text``, in order."""
        return [chunk.text for chunk in self.chunk(text)]

    def iter_chunks(
        self, documents: Iterable[tuple[str | None, str | Analysis]], workers: WorkerCount = 1
    ) -> Iterator[Chunk]:
        """Yield the chunks of ``(source, text)`` pairs one by one, in order.

        Documents are chunked as in :meth:`chunk`. Only the current document and its remaining
        chunks are in memory. If a source occurs again, its new chunks continue the numbering of its
        earlier chunks, so that ids stay unique.

        ``workers`` has the same meaning as in :meth:`chunk_batch`. With several processes, up to 8
        documents per process are read ahead. With "auto", this process chunks the first 1 MB
        (without fork, 4 MB) before it starts other processes.
        """
        for chunks in iter_documents(self, documents, workers):
            yield from chunks

    def chunk_documents(
        self, documents: Iterable[tuple[str | None, str | Analysis]], workers: WorkerCount = 1
    ) -> Iterator[list[Chunk]]:
        """Yield a list of chunks for each ``(source, text)`` pair, as :meth:`iter_chunks` does."""
        yield from map(list, iter_documents(self, documents, workers))

    def chunk_batch(
        self,
        texts: Sequence[str],
        sources: Sequence[str | PathLike[str] | None] | None = None,
        workers: WorkerCount = 1,
        progress: bool = False,
        on_error: OnError | None = None,
    ) -> list[list[Chunk]]:
        """Return a list of chunks for each text, in input order, as :meth:`chunk` does.

        texts: the texts.
        sources: the name of each text, or None. If a name occurs again, its new chunks continue the
            numbering of its earlier chunks, so that ids stay unique.
        workers: the number of processes. With "auto", there is one for each core, or only this
            process if the texts are small (less than 1 MB, or 4 MB without fork) or no processes
            can be started. The result is always the same.
        progress: show a progress bar on stderr.
        on_error: called with ``(position, source, exception)``, in this process, for a text that
            fails. The result for this text is an empty list; other texts are not affected. Without
            ``on_error``, the exception of the first failing text is raised after all texts are
            done.

        Chunking a str fails only if your own counter or heuristic raises an exception, memory runs
        out, or the process is killed.

        Where processes cannot be forked (outside Linux, or if threads are running), the
        configuration must be picklable, as it is if ``encoding`` is a name. If it contains a
        function of the main program, that program's code must be under
        ``if __name__ == "__main__":``; otherwise, a ``ConfigError`` is raised.

        Raises ``ConfigError`` if ``sources`` and ``texts`` differ in length, ``TypeError`` if
        ``texts`` is a single str, and ``ChunkastError`` if worker processes cannot start.
        """
        texts = checked_items("texts", texts)
        names = [None] * len(texts) if sources is None else checked_items("sources", sources)
        names = [source_of_path(name) if isinstance(name, PathLike) else name for name in names]
        if len(names) != len(texts):
            raise ConfigError("sources", len(names), f"must be one per text ({len(texts)})")
        check_workers(workers)
        return chunk_texts(
            self, texts, names, workers=workers, progress=progress, on_error=on_error
        )


def chunk(
    text: str, *, source: str | PathLike[str] | None = None, **options: Unpack[ChunkOptions]
) -> list[Chunk]:
    """Return the chunks of a Markdown text; ``options`` are the fields of ``ChunkConfig``.

    ``source`` identifies the text in the chunks and their ids; its file extension determines the
    format of the text. Raises ``ConfigError`` for an invalid option and ``TypeError`` if ``text``
    is not a str. With valid options, never raises for a str.
    """
    return Chunker(**options).chunk(text, source)


def chunk_file(
    path: str | PathLike[str],
    *,
    source: str | PathLike[str] | None = None,
    **options: Unpack[ChunkOptions],
) -> list[Chunk]:
    """Return the chunks of a UTF-8 file. Its extension determines the format.

    See :meth:`Chunker.chunk_file`; ``options`` are the fields of ``ChunkConfig``. Raises
    ``ConfigError`` for an invalid option and ``SourceError`` for a file that cannot be read or is
    not UTF-8.
    """
    return Chunker(**options).chunk_file(path, source)


def count_tokens(
    text: str, encoding: object = "cl100k_base", *, allow_download: bool = False
) -> int:
    """Return the number of tokens in ``text``.

    ``encoding`` and ``allow_download`` have the same meaning as in ``ChunkConfig``. Raises
    ``ConfigError`` for an unknown encoding and ``TypeError`` if ``text`` is not a str.
    """
    text = checked_text(text)
    return resolve_counter(encoding, allow_download=allow_download).count(text)
