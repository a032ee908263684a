"""The pure half of the tagger: states, and what follows from them."""
