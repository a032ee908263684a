"""The answers to questions: one module for each question, which registers itself by defining it."""
