"""The responder's projections in memory: to define one registers it."""
