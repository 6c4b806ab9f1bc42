"""`python -m hloscope`."""

from hloscope.cli import main

if __name__ == "__main__":
    main()
