"""The console: it answers what people ask in SQL, each query in a process of its own and over a copy of the views."""
