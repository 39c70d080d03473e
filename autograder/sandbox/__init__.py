"""Starts workers with limits and reports kernel facts about their end."""
