"""The study of codec settings that was recorded (benchmarks/data/codecs.csv)."""

import codecs_study
import pytest


@pytest.fixture(scope="module")
def rows():
    return codecs_study.recorded()


def test_the_record_holds_fifty_measurements_of_each_setting_and_sizes_without_noise(rows):
    assert {option: found.shape for option, found in rows.items()} == dict.fromkeys(codecs_study.SETTINGS, (50, 3))
    assert all(len(set(found[:, 2])) == 1 for found in rows.values())


def test_a_replay_takes_every_row_once_before_any_twice(rows):
    replay = codecs_study.Replay(rows, seed=1)
    taken = [tuple(replay("zstd -3")) for _ in range(50)]
    assert sorted(taken) == sorted(map(tuple, rows["zstd -3"]))
    assert tuple(replay("zstd -3")) in taken


@pytest.mark.slow
def test_a_study_on_a_busy_machine_ends_sure_and_right_within_its_margins(rows):
    ended = codecs_study.replayed(rows, 100, codecs_study.WITHIN, "doubt", codecs_study.CONFIDENCE)
    assert ended.sure
    assert ended.right
    assert ended.used < codecs_study.BUDGET
    assert not {"xz -6", "xz -9", "zstd -19"} & set(ended.answer)  # beyond the limit
