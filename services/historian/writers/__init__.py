"""Writers of summaries: rules, which need no model, or a model."""
