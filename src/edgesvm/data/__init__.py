"""Rows in: of files, of arrays, drawn; the passes over them, and what is refused at once."""
