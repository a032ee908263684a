"""The pure half of the searcher: rows as numbers, and how those that fit a query best are found among them."""
