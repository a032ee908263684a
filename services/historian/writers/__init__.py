"""Who writes summaries: rules, which need nothing and nobody, or a model."""
