"""What the responder holds of a session in work, folded from its facts."""
