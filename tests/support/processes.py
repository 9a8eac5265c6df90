"""Programs in processes of their own."""

import subprocess


def printed(words, **options):
    """Run a program to its end, which must be a good one, and return what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout
