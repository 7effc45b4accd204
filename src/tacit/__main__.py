"""`python -m tacit`."""

from tacit.cli.main import main

main()
