"""Policies that pull one arm after the other.

=====================  ===================================================================================================
``one_run``            what one run of any of them needs: empirical means, single pulls, the answer
``moving_gaps``        the gaps of one run, kept while one arm after the other moves
``eight_runs``         the same for eight runs at once: pulls, gaps and answers
``bounds``             the confidence bounds of APE-FB in one run
``same_pair``          whether APE-FB chooses the same two arms again
``normal_functions``   the functions that the policy doubt computes with, compiled
``pair_memory``        the record of arms and pairs of arms that doubt goes by
``pair_data``          what is known of each arm, and who dominates whom at the means
``likely_dominators``  who most likely dominates each arm, and who else has to be looked at
``pair_relations``     looking at pairs
``pair_values``        which arms are thought to be dominated, and what it is worth to look at their pairs
``moving_pairs``       all of these, kept while one arm after the other changes
``pair_choices``       the arm to pull next, and the answer
``pairs_within``       what doubt goes by where there are margins or limits, with ``pair_memory_within`` and
                       ``pair_choices_within``
``ape``, ``apt``,
``doubt``              the kernels, one run after the other; each with the record ``Rule`` that it is asked for with
``apt_within``,
``doubt_within``       the same with margins or limits
``ape_eight_runs``,
``apt_eight_runs``     the kernels for eight runs at once
=====================  ===================================================================================================
"""
