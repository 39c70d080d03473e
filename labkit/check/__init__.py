"""`python -m labkit check`: a lab's public tests on a student's machine, in a process of their own."""
