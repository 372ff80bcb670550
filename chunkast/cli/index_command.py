"""``chunkast index``: keep a database of the chunks of documents up to date."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

from chunkast.cli.embedding_options import server_of
from chunkast.cli.messages import (
    counted,
    messages,
    print_error,
    print_message,
    print_note,
    print_result,
)
from chunkast.cli.option_table import COMMANDS
from chunkast.cli.shared_options import config_values, database_of
from chunkast.cli.work import Document, Tally, results, root_of, selected
from chunkast.config import ChunkConfig
from chunkast.errors import ChunkastError, SourceError, StoreError, UsageError
from chunkast.files.database import VARIABLE, is_inside
from chunkast.files.find import Selection, named_part
from chunkast.files.freshness import state_of
from chunkast.files.paths import Root
from chunkast.files.read import InputFile
from chunkast.sources.parallel import progress_bar
from chunkast.text.source_map import without_surrogates

if TYPE_CHECKING:
    from chunkast.chunker import Chunker
    from chunkast.index import EmbeddingServer, IndexedDocument, IndexReport, Store
    from chunkast.index.writing import Writing

# The options of a new index; docs/benchmarks.md has the figures.
_DEFAULTS: Final = COMMANDS["index"]["defaults"]
# The settings for the folder that the names in an index are relative to, and for the last run.
_ROOT: Final = "root"
_RUN: Final = "run"
# The options that select files, besides PATHS and --root.
_SELECTING: Final = ("include", "exclude", "no_ignore", "code", "follow_links")
# The fields of a report in JSON.
_REPORTED: Final = (
    *("added", "changed", "unchanged", "removed", "moved"),
    *("embed", "reuse", "repeats", "embedded", "digest"),
)


@dataclass(slots=True)
class _Run:
    """A run of the command, with the stored settings of the last run.

    found: whether the database was found, and not named by the user.
    root: the folder that sources were relative to, or ``None``.
    config: the configuration of the last run, as options, or ``None`` if there was none.
    server: the server that embeds texts, or ``None``.
    patient: wait for another run that is writing; if false, raise ``StoreError``.
    """

    options: Namespace
    found: bool
    tally: Tally = field(default_factory=Tally)
    root: str | None = None
    config: dict[str, Any] | None = None
    server: EmbeddingServer | None = None
    patient: bool = True

    def recall(self, settings: Mapping[str, str]) -> None:
        """Use the stored settings of a database for options that are not given."""
        from chunkast.index.stored_vectors import MODEL

        # The values of PATHS and of the options in ``_SELECTING``, and the root.
        selection = {_ROOT: settings.get(_ROOT), **(_json(settings.get(_RUN)) or {})}
        self.root = selection[_ROOT] if _are_paths([selection[_ROOT]]) else None
        self.config = _json(settings.get("options"))
        options = self.options
        model = options.embed_model or settings.get(MODEL)
        if options.embed_url and not model:
            raise UsageError("--embed-model missing: the database has no model yet")
        self.server = server_of(options, model) if model else None
        if options.replace:
            return
        folder = os.path.dirname(os.path.abspath(options.db))
        if self.found and not options.paths and _are_paths(selection.get("paths") or [0]):
            for path in filter(None, (*selection["paths"], self.root)):
                if not is_inside(path, folder):
                    reason = f"remembers {path}, which is not in its folder"
                    raise UsageError(f"{options.db} {reason}: give PATHS, or name it with --db")
        for name in ("paths", *_SELECTING):
            current, known = getattr(options, name), selection.get(name)
            readable = _are_paths(known if isinstance(known, list) else [])
            if not current and isinstance(known, type(current)) and readable:
                setattr(options, name, known)

    def chunker(self) -> Chunker:
        """Return the chunker for the given and the stored options."""
        from chunkast.chunker import Chunker

        # An index remembers the options that are not those of ``ChunkConfig``.
        known = _DEFAULTS if self.options.replace or self.config is None else self.config
        if known.get("heuristics"):
            raise UsageError(
                f"{self.options.db} was made with heuristics in Python: update it from there, or "
                "give --replace"
            )
        return Chunker(ChunkConfig.from_file(known, config_values(self.options)))

    def select(self) -> tuple[Root, Selection]:
        """Return the root and the selected files, without files whose names cannot be stored."""
        if not self.options.paths:
            raise UsageError("PATHS missing (see chunkast index --help)")
        root = root_of(self.options, self.root)
        selection = selected(self.options, root=root)
        if any(file.data is not None for file in selection.files):
            raise UsageError("index takes folders and files, not pipes")
        for file in list(selection.files):
            try:
                (file.source or "").encode()
            except UnicodeEncodeError:
                selection.files.remove(file)
                selection.problems.append(SourceError(file.path, "its name is not valid UTF-8"))
        return root, selection

    def selected(self, root: Root) -> dict[str, Any]:
        """Return the settings to store: the root, PATHS, and the options that select files."""
        options = self.options
        return {
            _ROOT: root.real,
            "paths": [os.path.abspath(path) for path in options.paths],
            **{name: getattr(options, name) for name in _SELECTING},
        }

    def changes(self, run: Writing) -> list[str]:
        """Return the options of the configuration that differ from those of the last run."""
        if self.config is None:
            return []
        defaults = {each.name: getattr(ChunkConfig(), each.name) for each in fields(ChunkConfig)}
        before, now = defaults | self.config, defaults | _json(run.settings["options"])
        return [
            f"{name} changes from {_shown(before[name])} to {_shown(now[name])}"
            for name in defaults
            if _shown(before[name]) != _shown(now[name])
        ]


def _are_paths(texts: Iterable[object]) -> bool:
    return all(isinstance(text, str) and "\0" not in text for text in texts)


def _json(text: str | None) -> Any:
    """Return the JSON object in a setting, or ``None`` if there is none."""
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=dict)


def run(options: Namespace) -> int:
    """Update the database, or check it with ``--verify``. Return the exit code."""
    if options.verify:
        return _verify(options)
    return _watch(options) if options.watch else _run_once(options)


def _watch(options: Namespace) -> int:
    """Update the database now and after each change of the documents, until a signal arrives.

    The documents are also compared with their files every five seconds, for changes that the system
    does not report, such as those in network folders or during the first update.
    """
    from chunkast.index import Store
    from chunkast.stores.target import imported

    if options.dry_run:
        raise UsageError("--watch stores what changes: give no --dry-run")
    watch = imported("watchfiles", "watch").watch
    _run_once(options)
    options.replace, left = False, dict[str, str]()
    paths = [os.path.abspath(named_part(path)) for path in options.paths]
    folders = {path if os.path.isdir(path) else os.path.dirname(path) for path in paths}
    wanted = {"recursive": any(map(os.path.isdir, paths)), "ignore_permission_denied": True}
    with Store(options.db, read_only=True) as store, messages(quiet=True):
        for changes in watch(*folders, yield_on_timeout=True, **wanted):
            stale = store.stale()
            # Another update changes nothing of what one has left, such as an unreadable file.
            if stale and (changes or stale != left):
                try:
                    _run_once(options)
                except ChunkastError as error:
                    print_error(error)
                left = store.stale()
            # A store compares at most once a second; meanwhile, changes are collected.
            time.sleep(1)
    return 0


def _run_once(options: Namespace) -> int:
    from chunkast.index import Store

    given, options.db = options.db, database_of(options)
    if "-" in options.paths:
        raise UsageError("index takes folders and files, not standard input")
    found = given is None and not os.environ.get(VARIABLE)
    this, path, first = _Run(options, found), options.db, None
    if new := not os.path.exists(path):
        # Wrong options, a dry run, and a run without any file leave no database.
        this.recall({})
        this.chunker()
        first = this.select()
        if options.dry_run or not first[1].files:
            path = ":memory:"
    with Store(path, create=True) as store:
        with this.tally.stoppable(options.db):
            this.recall(store.remembered())
            report, changes = _update(store, this, first)
        embedded = options.dry_run or _embed(store, this, report)
    vectors = f"embed {len(report.embed):,}, reuse {len(report.reuse):,}"
    if this.server is not None:
        vectors += f", embedded {report.embedded:,}"
    separator, indent = ("; ", None) if options.watch else ("\n", 1)
    text = "" if options.quiet else f"{report}{separator}{vectors}\n"
    if report.written or report.removed or not options.watch:
        values = {name: getattr(report, name) for name in _REPORTED}
        print_result(options.format, values, text, indent)
    if given is None and path == options.db and (new or os.path.dirname(path)):
        print_note(f"{'made' if new else 'updated'} {os.path.abspath(options.db)}")
    _print_notes(this, report, changes)
    return this.tally.exit_code if embedded else 1


def refresh(options: Namespace, path: str) -> bool:
    """Update the database at ``path`` with its stored options, before another command reads it.

    Vectors are computed only if ``options`` or the environment name a server. If the database
    cannot be updated now, prints a note and returns false.
    """
    from chunkast.cli.main import parser_of
    from chunkast.index import Store

    own = vars(parser_of().commands["index"].parse_args(["-q", "--db", path]))
    server = {name: getattr(options, name, None) for name in ("embed_url", "embed_key_env")}
    found = options.db is None and not os.environ.get(VARIABLE)
    this = _Run(Namespace(**{**own, **server}), found, patient=False)
    try:
        with messages(quiet=True), Store(path) as store:
            this.recall(store.remembered())
            return _embed(store, this, _update(store, this, None)[0])
    except ChunkastError as error:
        print_note(f"not updated: {error}")
    return False


def _embed(store: Store, this: _Run, report: IndexReport) -> bool:
    """Embed the texts without a vector, and delete unused vectors if that is wanted.

    Returns false after an error, which is printed.
    """

    def count(texts: int) -> None:
        report.embedded += texts
        for _ in range(texts):
            advance()

    try:
        if this.server is not None:
            with progress_bar(len(report.embed), wanted=not this.options.quiet) as advance:
                server = replace(this.server, size=store.embedding_model()[1])
                store.embed_missing(server, on_batch=count)
        pruned = store.prune_vectors() if this.options.prune_vectors else 0
    except StoreError as error:
        print_error(error)
        return False
    if pruned:
        print_note(f"{this.options.db}: {counted(pruned, 'vector')} deleted")
    return True


def _print_notes(this: _Run, report: IndexReport, changes: Sequence[str]) -> None:
    db = this.options.db
    if report.faults:
        more = ", ..." if len(report.faults) > 1 else ""
        lost = "" if this.config is not None else "; its options are not known: give them again"
        print_note(f"{db}: rebuilt, because {report.faults[0]}{more}{lost}")
    if changes:
        print_note(f"{', '.join(changes)}: {counted(len(report.embed), 'text')} to embed again")
    this.tally.print_summary(
        counted(report.documents, "file"),
        f"{report.written:,} new or changed",
        note=" (nothing was stored)" if this.options.dry_run else "",
    )


def _verify(options: Namespace) -> int:
    """Print the faults in the database. Return 1 if there are any, else 0."""
    if options.paths:
        raise UsageError("index --verify takes no paths: it only reads the database")
    from chunkast.index import Store

    # FTS5 checks its index only if the file can be written.
    path = database_of(options)
    with Store(path) as store:
        faults = store.faults()
    print_result(options.format, faults, "".join(f"{path}: {fault}\n" for fault in faults))
    print_message(f"{path}: {counted(len(faults), 'fault')}")
    return 1 if faults else 0


def _update(
    store: Store, this: _Run, first: tuple[Root, Selection] | None
) -> tuple[IndexReport, list[str]]:
    """Index the selected files, and return the report and the changed options.

    ``first`` is the selection of a new index; else the files are selected while no other run
    writes.
    """
    options, chunker = this.options, this.chunker()

    def wait() -> None:
        if not this.patient:
            raise StoreError(options.db, "another run is writing to it")
        print_note(f"{options.db}: waiting for another run that writes to it")

    model = options.embed_model
    with store.writing(chunker, dry_run=options.dry_run, model=model, on_wait=wait) as run:
        root, selection = first or this.select()
        new = _new_files(run, selection)
        for name in (
            *selection.folders,
            *(f"{name}.gitignore" for name in {"./", *selection.folders}),
        ):
            run.files[without_surrogates(name)] = state_of(os.path.join(root.real, name))
        gone = _gone(run, selection, root)
        if not options.replace:
            _check_lost(gone, selection, root, options, this.root or root.real)
        # In JSON, a path can be stored whatever its bytes are.
        run.settings[_RUN] = json.dumps(this.selected(root))
        if options.about is not None or options.replace:
            run.settings["about"] = without_surrogates(options.about or "")
        for source in gone:
            run.remove(source)
        selection = replace(selection, files=new)
        with results(options, selection, chunker, _index, this.tally) as documents:
            for document in documents:
                run.put(document)
    return run.report, this.changes(run)


def _new_files(run: Writing, selection: Selection) -> list[InputFile]:
    """Return the new, changed and unreadable files; keep the stored documents of all others."""
    new: list[InputFile] = []
    for file in selection.files:
        # A file that cannot be read has no hash. It is read again later, and the error is reported.
        run.files[file.source or ""] = state = state_of(file.path)
        if run.knows(file.source or "", state[1]):
            run.keep(file.source or "")
        else:
            new.append(file)
    return new


def _gone(run: Writing, selection: Selection, root: Root) -> list[str]:
    """Return the names of stored documents that were not selected.

    Documents at or below a path that could not be read are not included.
    """
    present = {file.source for file in selection.files}
    unseen = [root.find(problem.path) for problem in selection.problems]
    return [
        source for source in run.absent() if source not in present and not _is_below(source, unseen)
    ]


def _is_below(source: str, names: Iterable[str | None]) -> bool:
    """Return whether ``source`` is one of the named files, or is in one of the named folders."""
    known = (name for name in names if name is not None)
    return any(name in ("", source) or source.startswith(f"{name}/") for name in known)


def _check_lost(
    gone: Sequence[str], selection: Selection, root: Root, options: Namespace, old_root: str
) -> None:
    """Raise ``StoreError`` if the update would remove documents that the given paths do not cover.

    ``old_root`` is the root of the last run.
    """
    if old_root == root.real:
        covered = [root.find(named_part(path)) for path in options.paths]
        lost = [
            source
            for source in gone
            if not _is_below(source, covered) and os.path.exists(os.path.join(root.real, source))
        ]
        why = f"not below the given paths ({', '.join(lost[:1])}{', ...' if lost[1:] else ''})"
    else:
        # A file that has another name now is not lost.
        there = {os.path.realpath(file.path) for file in selection.files}
        lost = [source for source in gone if os.path.join(old_root, source) not in there]
        why = f"not in {root.real}"
    if lost:
        verb = "it is" if len(lost) == 1 else "they are"
        made = "" if old_root == root.real else f"made from {old_root}; "
        raise StoreError(
            options.db,
            f"{made}{counted(len(lost), 'document')} would be removed, as {verb} {why}; "
            "give all paths, or none to repeat the last run, another --db, or --replace to "
            "remove documents",
        )


def _index(chunker: Chunker, item: Document) -> IndexedDocument:
    from chunkast.index import index_document

    source, document = item
    return index_document(chunker, source or "", document)
