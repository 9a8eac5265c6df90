"""Write a file that is complete or not there at all."""

import errno
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write the parts into a temporary file beside the target, sync it to the disk, and rename it.

    A symbolic link stays a link: the file it points to is replaced. Devices and pipes are refused.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(errno.EINVAL, "A device or pipe cannot be replaced; choose another path", str(path))
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(temporary, "xb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            reason = f"{error.strerror}, so nothing was written and what was there before is untouched"
            raise OSError(error.errno, reason, str(path)) from None
        raise


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to the disk; Windows, which opens no folders, does so by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
