"""How sure a study was on its way is what a study with as many measurements says."""

import numpy as np
import pytest

import paretopick as pp
from paretopick.studies.certainty import judge
from paretopick.studies.course import FEW_DRAWS, course_of

TRUTH = {"a": (1.0, 5.0), "b": (2.0, 4.0), "c": (2.1, 5.5), "d": (4.0, 1.0)}


def study_of(metrics, **given):
    return pp.Study.create("s", options=list(TRUTH), metrics=metrics, storage="sqlite://", **{"budget": 60, **given})


def measured(study, n=10**9):
    rng = np.random.default_rng(1)
    while not study.done and study.used < n:
        for todo in study.ask(1):
            study.tell(todo.number, (np.array(TRUTH[todo.option]) * np.exp(0.1 * rng.normal(size=2))).tolist())
    return study


def found(study):
    return course_of(study.definition, study.events())


@pytest.mark.parametrize("metrics", ["x:min,y:min", "x:min~10%,y:min~0.2", "x:min~5%<=3,y:min"], ids=str)
def test_the_course_ends_with_what_the_result_says(metrics):
    study = measured(study_of(metrics))
    course, result = found(study), study.result()
    assert course.used.tolist() == list(range(6, 61, 3))  # every option is needed, and one of them twice
    assert course.probabilities[-1] == result.probability
    assert course.resolution == result.resolution
    if "~" in metrics:
        assert course.factors is None
    else:
        assert course.factors[-1] == result.resolution.factor
        assert course.noise * course.factors[-1] == pytest.approx(list(result.resolution.widths.values()))


def test_each_point_is_what_as_many_measurements_say():
    study = measured(study_of("x:min,y:min"))
    course = found(study)
    shorter = study_of("x:min,y:min")
    shorter.add([(row["option"], [row["x"], row["y"]]) for row in study.measurements()[:30]])
    judgement = judge(shorter.estimates()[0], n_draws=FEW_DRAWS)
    at = course.used.tolist().index(30)
    assert course.probabilities[at] == judgement.certainty.probability
    assert course.factors[at] == judgement.resolution(shorter.definition.metrics).factor


def test_what_was_taken_back_does_not_count_and_corrections_count_from_the_start():
    study = measured(study_of("x:min,y:min"), 40)
    wrong, slip = study.measurements()[3], study.measurements()[5]
    study.void(wrong["number"], "another option")
    study.correct(slip["number"], {"x": 3.3, "y": 2.2}, "a slip of the pen")
    clean = study_of("x:min,y:min")
    clean.add([(row["option"], [row["x"], row["y"]]) for row in study.measurements() if row["status"] == "told"])
    mended, expected = found(study), found(clean)
    assert mended.used.tolist() == expected.used.tolist()
    assert mended.used[-1] == 39
    assert mended.probabilities.tolist() == expected.probabilities.tolist()
    assert mended.factors.tolist() == expected.factors.tolist()


def test_retired_options_are_left_out_and_those_that_came_later_wait_for_measurements():
    study = measured(study_of("x:min,y:min"), 40)
    before = found(study)
    study.retire("c", "sold")
    assert found(study).probabilities.tolist() != before.probabilities.tolist()
    study.reinstate("c", "found again")
    assert found(study).probabilities.tolist() == before.probabilities.tolist()
    study.add_option("late")
    assert found(study) is None  # there is no time at which all options were known
    study.add([("late", [9.0, 9.0])])
    assert found(study).used.tolist() == [41]


def test_without_measurements_or_alternatives_there_is_no_course():
    study = study_of("x:min,y:min")
    assert found(study) is None
    measured(study)
    for name in ("a", "b", "c"):
        study.retire(name, "sold")
    assert found(study) is None


def test_a_resolution_that_cannot_be_said_is_nan():
    study = measured(study_of("x:min<=2.05,y:min"))  # whether b and c keep the limit is in doubt
    course = found(study)
    assert course.resolution == study.result().resolution
    assert np.isnan(course.factors).any()


def test_the_course_knows_when_the_study_was_to_stop():
    study = study_of("x:min~10%,y:min~10%", confidence=0.9)
    assert found(measured(study)).aim.confidence == 0.9
