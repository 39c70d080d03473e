"""What students' labs rest on. Installable alone: it imports nothing of the grader."""
