"""Chunks for people and other programs: file formats, Arrow tables, views."""
