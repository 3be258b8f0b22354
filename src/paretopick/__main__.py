"""``python -m paretopick`` is the command line."""

from paretopick.cli import main

main()
