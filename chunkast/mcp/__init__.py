"""A Model Context Protocol server over stdio or HTTP that gives agents access to an index."""

from chunkast.stores.target import imported

imported("mcp", "mcp")

from chunkast.mcp.server import serve  # noqa: E402  (the error above comes first)

__all__ = ("serve",)
