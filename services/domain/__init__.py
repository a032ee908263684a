"""The common rules of all rooms: pure functions and values over the language, without a clock or I/O."""
