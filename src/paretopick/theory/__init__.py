"""The mathematics of the paper: pure functions of arrays, each citing its place."""
