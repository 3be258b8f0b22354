"""Policies that pull one arm after the other.

===================  ===========================================================================================
``one_run``          what one run of any of them needs: empirical means, single pulls, the answer
``moving_gaps``      the gaps of one run, kept while one arm after the other moves
``eight_runs``       the same for eight runs at once: pulls, gaps and answers
``bounds``           the confidence bounds of APE-FB in one run
``same_pair``        whether APE-FB chooses the same two arms again
``ape``, ``apt``     the kernels, one run after the other; each with the record ``Rule`` that it is asked for with
``ape_eight_runs``,
``apt_eight_runs``   the kernels for eight runs at once
===================  ===========================================================================================
"""
