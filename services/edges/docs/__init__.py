"""`annals docs`: which changes of documents are proposed, and what a person decides about them."""
