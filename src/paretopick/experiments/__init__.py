"""The paper's experiments: a catalogue of its figures and tables, the runs behind them, and what they say about its claims."""

from paretopick.experiments.catalogue import CATALOGUE
from paretopick.experiments.reproduction import Reproduction, reproduce

__all__ = ["CATALOGUE", "Reproduction", "reproduce"]
