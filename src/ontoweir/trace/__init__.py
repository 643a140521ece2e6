"""How state grows: replays looked at on their way, witnesses as data, and charts of both."""
