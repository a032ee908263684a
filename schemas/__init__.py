"""The language: what harnesses, rooms and readers say to each other. Values only, no behaviour beyond coding."""
