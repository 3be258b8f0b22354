"""How the documentation site is made: ``conf.py`` has Sphinx's settings, ``tutorials.py`` runs what the tutorials show."""
