"""The command. Data on stdout, messages on stderr, heavy imports once they are needed.

Exit codes: 0, 1 (some input failed, the rest is done), 2 (usage or configuration).
"""
