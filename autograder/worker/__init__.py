"""The only code of ours beside a student's: the wire format and the program runner."""
