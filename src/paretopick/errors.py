"""The exceptions of the package.

Every one is also the builtin that a Python user would catch, and its message says which value is wrong, what was expected and
what to type instead::

    ParetopickError                 everything below
    ├── InvalidInput                a value that cannot be used                        (ValueError)
    │   ├── BudgetTooSmall          .smallest is the smallest budget that works        (ValueError)
    │   ├── UnknownName             no such instance, policy, schedule or option       (ValueError, KeyError)
    │   └── NotDue                  a pull was told that was not asked for             (ValueError)
    │       ├── PolicyDone          a pull was told after the last round               (ValueError, RuntimeError)
    │       └── AlreadyTold         a measurement was told before, and other values    (ValueError)
    ├── NotReady                    an answer was asked for before there is one        (RuntimeError)
    ├── MissingFile                 a data file the user has to provide is not there   (FileNotFoundError)
    ├── FileNotWritten              a file that cannot be written                      (OSError)
    ├── StorageFailed               a database that cannot be read or written          (OSError)
    │   ├── StudyGone               a study that was deleted, or created anew          (OSError)
    │   ├── LogDamaged              a log that does not follow from itself             (OSError)
    │   └── OutcomeUnknown          .request repeats a change that may have been made  (OSError)
    ├── MeasuringFailed             something could not be measured, again and again   (RuntimeError)
    └── ExecutorFailed              who was to make runs is not there, or was lost     (RuntimeError)

    SimulationInterrupted           Ctrl-C; .partial is the curve of the finished runs (KeyboardInterrupt)
    UnsafeStorage                   a warning: a database where locks may fail         (UserWarning)
"""

from __future__ import annotations

from typing import Any


class ParetopickError(Exception):
    """Base of every error that the package raises on purpose."""


class InvalidInput(ParetopickError, ValueError):
    """A value that cannot be used; nothing was changed."""


class BudgetTooSmall(InvalidInput):
    """The budget cannot pay for what was asked; ``smallest`` is the smallest one that can."""

    def __init__(self, message: str, smallest: int) -> None:
        super().__init__(message)
        self.smallest = smallest

    def __reduce__(self) -> tuple[type[BudgetTooSmall], tuple[str, int]]:
        # Exceptions cross process boundaries by being rebuilt from ``args``, which holds the message alone.
        return type(self), (str(self), self.smallest)


class UnknownName(InvalidInput, KeyError):
    """A name that no registry knows: a bad argument to some (ValueError), a failed look-up to others (KeyError)."""

    # KeyError shows the repr of its message, which would put the whole sentence in quotes.
    __str__ = Exception.__str__


class NotDue(InvalidInput):
    """An observation of an arm that was not due; nothing was recorded."""


class PolicyDone(NotDue, RuntimeError):
    """An observation told to a policy that has finished; nothing was recorded."""


class AlreadyTold(NotDue):
    """A measurement that was told before, with other values; the first ones stay."""

    differences: tuple[Any, ...] = ()
    """Of a table: what would be corrected, each with its row, number, option, metric, and values before and after."""


class NotReady(ParetopickError, RuntimeError):
    """An answer was asked for before the data it needs has arrived."""


class MissingFile(ParetopickError, FileNotFoundError):
    """A data file that cannot be shipped with the package and was not found."""


class FileNotWritten(ParetopickError, OSError):
    """A file that cannot be written; what was there before is as it was."""


class StorageFailed(ParetopickError, OSError):
    """A database that cannot be read or written; what it held before is as it was."""


class StudyGone(StorageFailed):
    """A study that is no longer what it was: somebody deleted it, or restored or created another one under its name."""


class LogDamaged(StorageFailed):
    """A log in which something is missing or was changed, or that went back behind what was seen of it."""


class OutcomeUnknown(StorageFailed):
    """The database did not answer when a change was to be stored: it is there as a whole, or not at all.

    Made again with ``request``, it is made once, whatever happened the first time.
    """

    def __init__(self, message: str, request: str | None = None) -> None:
        super().__init__(message)
        self.request = request

    def __reduce__(self) -> tuple[type[OutcomeUnknown], tuple[str, str | None]]:
        return type(self), (str(self), self.request)


class MeasuringFailed(ParetopickError, RuntimeError):
    """An option that could not be measured; what was measured so far is in ``study``."""

    study: object | None = None
    option: str | None = None
    output: str | None = None
    """What the attempt left behind that may help to find the cause."""


class ExecutorFailed(ParetopickError, RuntimeError):
    """Processes or a cluster that were to make simulated runs cannot be reached, or were lost on the way."""


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation; ``partial`` is the curve of the runs that were finished (or a list), None if there are none."""

    def __init__(self, partial: object | None) -> None:
        super().__init__("the simulation was interrupted; .partial of this exception is what was finished")
        self.partial = partial


class UnsafeStorage(UserWarning):
    """A file of an SQLite database is where locks may fail."""
