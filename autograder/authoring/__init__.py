"""The instructor's commands: what students get is cut here from the solved sources."""
