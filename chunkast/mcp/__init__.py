"""A Model Context Protocol server over stdio that gives agents access to an index."""

from importlib.util import find_spec

from chunkast.errors import MissingPackageError

if find_spec("mcp") is None:
    raise MissingPackageError("mcp", "mcp")

from chunkast.mcp.server import serve

__all__ = ("serve",)
