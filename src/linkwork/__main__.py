"""`linkwork`, and `python -m linkwork`: the command line, which takes a moment to load."""

import sys


def main() -> None:
    """Load the command line and run it; whoever interrupts that gets no traceback."""
    try:
        from .cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)  # as shells tell of it


if __name__ == "__main__":
    main()
