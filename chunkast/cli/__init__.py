"""The ``chunkast`` command, which writes data to stdout and messages to stderr.

Exit codes: 0 for success; 1 if a document could not be processed (the others still are), a check
failed or nothing was found; 2 for wrong usage or an invalid configuration.

Heavy modules are imported only when they are needed.
"""
