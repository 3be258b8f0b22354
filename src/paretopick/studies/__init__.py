"""Studies of real things: kept in a database, measured by any number of workers, never over budget."""

from paretopick.studies.certainty import Certainty, Rehearsal
from paretopick.studies.running import identify, run_study
from paretopick.studies.study import Measurement, Study
from paretopick.studies.verdicts import OptionVerdict, ParetoResult

__all__ = ["Certainty", "Measurement", "OptionVerdict", "ParetoResult", "Rehearsal", "Study", "identify", "run_study"]
