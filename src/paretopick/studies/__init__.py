"""Studies of real things: kept in a database, measured by any number of workers, never over budget."""

from paretopick.studies.certainty import Certainty, Rehearsal
from paretopick.studies.judging import judge
from paretopick.studies.measurement import Measurement
from paretopick.studies.result import OptionResult, ParetoResult
from paretopick.studies.running import identify, run_study
from paretopick.studies.study import Study

__all__ = [
    "Certainty",
    "Measurement",
    "OptionResult",
    "ParetoResult",
    "Rehearsal",
    "Study",
    "identify",
    "judge",
    "run_study",
]
