"""Questions to models: what is asked, how a text becomes an answer, and how one that is wrong is asked for again."""
