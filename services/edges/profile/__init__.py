"""`annals profile`: what is known of a person, and what they say about that."""
