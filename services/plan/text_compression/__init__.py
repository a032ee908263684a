"""The text tiers: rules that say the same in fewer words. They know English, and nothing of sessions."""
