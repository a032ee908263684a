"""The responder: projects the log into tables and views, and answers every question about it."""
