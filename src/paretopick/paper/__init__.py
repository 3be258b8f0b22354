"""The paper's experiments: a catalogue of its figures and tables, the runs behind them, and what they say about its claims."""

from paretopick.paper.catalogue import CATALOGUE
from paretopick.paper.runs import Reproduction, reproduce

__all__ = ["CATALOGUE", "Reproduction", "reproduce"]
