"""`annals profile`: what is known of a person, and what they decide about that."""
