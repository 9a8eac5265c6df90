"""`python -m everclust`: the command line where the folder of scripts is not on the PATH."""

from .cli import main

if __name__ == "__main__":
    main()
