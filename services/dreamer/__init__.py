"""The dreamer: looks after what is known of a project while nobody works."""
