"""The responder's projections in memory: one module for each, which registers itself by defining it."""
