"""The launcher: the broker and every room as processes under one supervisor."""
