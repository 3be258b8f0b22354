"""Workers, databases and a network that fail again and again, and whether every promise was kept: see ``make soak``."""
