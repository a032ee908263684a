"""What every room understands alike: pure functions and values over the language, without a clock or the world."""
