"""Take away from this process what Windows does not have, and refuse what it refuses.

    python -c "import support.windows; …"

Only for processes of their own: nothing is given back. Windows can be imitated in part only: paths and shells
stay those of this system.
"""

import os
import select
import signal
import socket
import sys
import types
import warnings

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
OF_OS = (
    *("O_DIRECTORY", "fork", "geteuid", "getuid", "killpg", "mkfifo", "pread", "sched_getaffinity"),
    *("setsid", "statvfs", "sysconf", "uname"),
)
SIGNALS = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1")


class Missing:
    """Refuses to find modules for everclust; other packages know where they run."""

    def find_spec(self, name, path=None, target=None):
        if name in MODULES and _importer().startswith("everclust"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _importer():
    frame = sys._getframe(2)
    while "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_globals["__name__"]


def refuse_open(real, checked):
    """Refuse to replace or delete a file that this process has open."""

    def call(*arguments, **options):
        path = os.path.realpath(arguments[checked])
        if any(os.path.realpath(f"/proc/self/fd/{number}") == path for number in os.listdir("/proc/self/fd")):
            raise PermissionError(13, "The file is being used by another process", path)
        return real(*arguments, **options)

    return call


def refuse_folder(path, *arguments, open=os.open, **options):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return open(path, *arguments, **options)


def only_sockets(readers, writers, errors, seconds=None, select=select.select):
    if any(isinstance(one, int) for one in (*readers, *writers, *errors)):
        raise OSError(10038, "An operation was attempted on something that is not a socket")
    return select(readers, writers, errors, seconds)


def locking(number, mode, n_bytes):
    LOCKED.append(number)


import numba  # noqa: E402, F401  (packages of others see the system as it is)
import pandas  # noqa: E402, F401
import pyarrow.csv  # noqa: E402, F401
import rich.console  # noqa: E402, F401
import sklearn.cluster  # noqa: E402, F401
import typer  # noqa: E402, F401

warnings.filterwarnings("error", category=EncodingWarning, module="everclust")  # it is not UTF-8 there
LOCKED = []  # numbers of files
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
for name in MODULES:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
for name in OF_OS:
    vars(os).pop(name, None)
for name in SIGNALS:
    vars(signal).pop(name, None)
vars(socket).pop("AF_UNIX", None)
select.select = only_sockets
os.open = refuse_folder
os.replace = refuse_open(os.replace, 1)
os.unlink = os.remove = refuse_open(os.unlink, 0)
