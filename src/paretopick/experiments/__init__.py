"""The paper's experiments: a catalogue of its figures and tables, the runs behind them, and what they say about its claims."""
