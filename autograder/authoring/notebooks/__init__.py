"""A lab's notebooks: from one py:percent text of both languages, cut like modules, to bytes."""
