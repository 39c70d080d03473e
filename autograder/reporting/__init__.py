"""Results for people and for other programs: the table at the end, reports, CSV, JSON."""
