import os

import numpy as np
import pytest

import paretopick as pp
from paretopick.instances import FROM_FILE

TABLE = {  # name: arms, objectives, optimal arms, budget, H
    "cov-boost": (20, 3, 2, 2500, 549.68),
    "cov-boost-2d": (20, 2, 2, 2500, 381.74),
    "snw-paper": (206, 2, 5, 5000, 54_068.56),
    "snw": (206, 2, 26, 5000, 394_451.07),
    "convex-front": (60, 2, 10, 12_588, 12_588.56),
    "unique-dominator": (10, 2, 2, 2543, 2_543.76),
    "unit-circle": (200, 2, 20, 41_425, 41_425.97),
    "high-dimension": (50, 10, 18, 38_511, 38_511.69),
    "two-clusters": (20, 2, 4, 16_400, 16_400.88),
    "all-optimal": (10, 2, 10, 51_966, 51_966.41),
    "equal-gaps": (22, 2, 8, 8800, 8_800),
    "geometric": (5, 2, 1, 237_957, 237_957.54),
}


@pytest.fixture(params=list(pp.INSTANCES))
def bandit(request):
    if request.param in FROM_FILE:
        return pp.instance(request.param, path=request.getfixturevalue("snw_path"))
    return pp.instance(request.param)


def test_every_instance_is_in_the_table_of_the_specification():
    assert set(TABLE) == set(pp.INSTANCES)


def test_size_front_budget_and_complexity_are_those_of_the_table(bandit):
    n_arms, n_objectives, n_optimal, budget, complexity = TABLE[bandit.name]
    assert bandit.means.shape == (n_arms, n_objectives)
    assert bandit.optimal.sum() == n_optimal
    assert bandit.budget == budget
    assert bandit.complexity == pytest.approx(complexity, abs=0.0051)


def test_every_instance_can_be_pulled_and_described(bandit):
    pulls = bandit.sample(np.arange(bandit.n_arms), np.random.default_rng(0))
    assert pulls.shape == bandit.means.shape
    assert np.isfinite(pulls).all()
    assert bandit.source
    assert len(set(bandit.arm_names)) == bandit.n_arms
    assert pp.INSTANCES[bandit.name].__doc__


def test_cov_boost_has_its_names_and_its_noise():
    trial = pp.instance("cov-boost")
    assert np.flatnonzero(trial.optimal).tolist() == [8, 18]
    assert [trial.arm_names[arm] for arm in (8, 18)] == ["BNT/BNT + m1273", "ChAd/ChAd + m1273"]
    assert trial.objective_names == ("anti_spike_igg", "nt50", "cellular")
    assert trial.means[8].tolist() == [10.42726889, 7.61035762, 4.71849887]
    assert trial.noise.std**2 == pytest.approx([0.70437039, 0.82845749, 1.53743137])
    two = pp.instance("cov-boost-2d")
    assert (two.means == trial.means[:, :2]).all()
    assert two.objective_names == trial.objective_names[:2]
    assert two.noise.std.tolist() == trial.noise.std[:2].tolist()


def test_noise_of_the_synthetic_instances():
    assert pp.instance("unit-circle").noise.std == 0.25
    for name in ("convex-front", "unique-dominator", "high-dimension", "two-clusters", "all-optimal", "equal-gaps", "geometric"):
        assert isinstance(pp.instance(name).noise, pp.Bernoulli)


def test_convex_front_is_as_described():
    bandit = pp.instance("convex-front")
    x = np.sqrt(bandit.means[:10, 0])
    assert np.diff(x) == pytest.approx(0.4 / 9)
    assert bandit.means[:10].prod(axis=1) == pytest.approx(1 / 4)
    assert bandit.means[10:].min() >= 0.1
    assert bandit.means[10:].max() <= 0.8
    assert bandit.means[10:].prod(axis=1).max() <= 1 / 5


def test_all_gaps_of_equal_gaps_are_equal():
    assert pp.instance("equal-gaps").gaps == pytest.approx(0.05)


def test_every_sub_optimal_arm_of_unique_dominator_has_one_dominator():
    means = pp.instance("unique-dominator").means
    dominators = [sum((other >= arm).all() and (other > arm).any() for other in means) for arm in means[2:]]
    assert dominators == [1] * 8


def test_frozen_draws_are_where_the_paper_draws_them():
    means = pp.instance("high-dimension").means
    assert ((means[:30] >= 0.2) & (means[:30] <= 0.45)).all()
    assert ((means[30:] >= 0.55) & (means[30:] <= 0.75)).all()
    means = pp.instance("two-clusters").means
    assert ((means[:10] >= 0.2) & (means[:10] <= 0.4)).all()
    assert ((means[10:] >= 0.5) & (means[10:] <= 0.7)).all()


def test_any_front_arm_of_convex_front_covers_nearly_half():
    bandit = pp.instance("convex-front")
    for arm in np.flatnonzero(bandit.optimal):
        assert pp.hypervolume_fraction([arm], bandit.means) == pytest.approx(0.493, abs=0.0005)


def test_arm_198_of_the_sorting_networks_covers_the_papers_fraction(snw_path):
    bandit = pp.instance("snw-paper", path=snw_path)
    assert bandit.optimal[198]
    assert pp.hypervolume_fraction([198], bandit.means) == pytest.approx(0.851, abs=0.0005)


def test_the_two_orientations_of_the_sorting_networks(snw_path):
    paper, engineer = pp.instance("snw-paper", path=snw_path), pp.instance("snw", path=snw_path)
    assert (engineer.means == paper.means * [-1, 1]).all()
    assert paper.noise.std == engineer.noise.std == 0.2
    assert "our choice" in paper.source


NETWORKS = [(0.0, 36.0, 1.0, 5.5, 2.25), (1.0, 36.0, 2.0, 4.5, 3.25)]


def test_the_sorting_networks_are_read_in_both_layouts(tmp_path, monkeypatch):
    original, with_header = tmp_path / "original.csv", tmp_path / "header.csv"
    original.write_text("".join(";".join(map(str, row)) + "\n" for row in NETWORKS))
    with_header.write_text("x1,x2,x3,log2_area,log2_throughput\n" + "".join(",".join(map(str, row)) + "\n" for row in NETWORKS))
    for path in (original, with_header):
        assert pp.instance("snw-paper", path=path).means.tolist() == [[5.5, 2.25], [4.5, 3.25]]
    monkeypatch.setenv("PARETOPICK_SNW", os.fspath(original))
    assert pp.instance("snw").means.tolist() == [[-5.5, 2.25], [-4.5, 3.25]]


def test_without_the_file_the_error_says_which_one_it_needs(monkeypatch):
    monkeypatch.delenv("PARETOPICK_SNW", raising=False)
    with pytest.raises(pp.MissingFile, match=r"Zuluaga.*path=.*PARETOPICK_SNW"):
        pp.instance("snw")
    with pytest.raises(FileNotFoundError, match=r"there is no file nowhere\.csv"):
        pp.instance("snw", path="nowhere.csv")


@pytest.mark.parametrize(
    "content, message",
    [
        ("1;2;3;4;5\n1;2;3;4\n", "row 2: the cells are 4, and the columns are 5"),
        ("1;2;3;4;5\n1;2;3;4;x\n", "row 2: 'x' under 'log2_throughput' is not a number"),
        ("a,log2_area\n1,2\n", "no column of .* named 'log2_throughput'"),
        ("a,log2_area,log2_throughput\n1,2,fast\n", "row 2: 'fast' under 'log2_throughput'"),
        ("", "is empty; its first line must name the columns"),
    ],
)
def test_a_broken_file_of_sorting_networks_is_refused(tmp_path, content, message):
    path = tmp_path / "snw.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        pp.instance("snw", path=path)


def read(tmp_path, content, **options):
    path = tmp_path / "mine.csv"
    path.write_text(content, encoding="utf-8")
    return pp.read_instance(path, noise=pp.Gaussian(std=1.0), **options)


def test_an_instance_of_your_own(tmp_path):
    bandit = read(tmp_path, "vendor,model,quality,cost\nÄ,one,1.5,2\nB,two,0.5,1e3\n\n", minimise=["cost"], budget=30)
    assert bandit.arm_names == ("Ä + one", "B + two")
    assert bandit.objective_names == ("quality", "-cost")
    assert bandit.means.tolist() == [[1.5, -2.0], [0.5, -1000.0]]
    assert (bandit.name, bandit.budget) == ("mine", 30)


@pytest.mark.parametrize(
    "content, encoding",
    [
        ("name;quality;cost\nÄ;1,5;2\nB;0,5;1000\n", "utf-8-sig"),
        ("name;quality;cost\r\nÄ;1.5;2\r\n\r\nB;0.5;1e3\r\n", "cp1252"),
        ('sep=,\nname,quality,cost\n"Ä", 1.5,2\nB,0.5,1e3', "utf-8"),
        ("name\tquality\tcost\nÄ\t1,5\t2\nB\t0,5\t1000\n", "utf-16"),
    ],
)
def test_means_are_read_as_spreadsheets_write_them(tmp_path, content, encoding):
    path = tmp_path / "mine.csv"
    path.write_text(content, encoding=encoding)
    bandit = pp.read_instance(path, noise=pp.Gaussian(std=1.0))
    assert bandit.arm_names == ("Ä", "B")
    assert bandit.means.tolist() == [[1.5, 2.0], [0.5, 1000.0]]


def test_names_are_optional_and_may_look_like_numbers(tmp_path):
    assert read(tmp_path, "a,b\n1,2\n3,4\n").arm_names == ("0", "1")
    assert read(tmp_path, "\ufeffarm,b\n7,2\n9,4\n").arm_names == ("7", "9")
    assert read(tmp_path, "Name , b\n x y , 2\n z , 4\n").arm_names == ("x y", "z")
    assert read(tmp_path, ",b\n0,2\n1,4\n").objective_names == ("b",)
    assert read(tmp_path, "id,b\n0,2\n1,4\n").objective_names == ("b",)


def test_an_objective_named_twice_is_negated_once(tmp_path):
    assert read(tmp_path, "a,b\n1,2\n", minimise=["b", "b"]).means.tolist() == [[1.0, -2.0]]


@pytest.mark.parametrize(
    "content, options, message",
    [
        ("a,b\n", {}, "has 1 row; expected a header and one row per arm"),
        ("a,b\n1\n", {}, "row 2: the cells are 1, and the columns are 2"),
        ("a,a\n1,2\n", {}, "has 'a' 2 times in its first line"),
        ("a,b\n1,2\n1,x\n", {}, "row 3: 'x' under 'b' is not a number"),
        ("a,b\n1,2\nx,1\n", {}, "row 3: 'x' under 'a' is not a number"),
        ("name,b\nx,1\ny,\n", {}, "row 3: '' under 'b' is not a number"),
        ("a,b\nx,y\n", {}, "has no column of numbers"),
        ("1,2\n3,4\n", {}, "starts with numbers; expected a header"),
        ("a,b\n1,nan\n", {}, "means has nan"),
        ("a,b\n1,2\n", {"minimise": ["c"]}, "no objective of mine.csv named 'c'"),
        ("name,b\nx,1\nx,2\n", {}, "arm_names has 'x' twice"),
        ("a,b\n1,2\n", {"minimise": "b"}, r"minimise='b' is a text; give a list of objectives, such as \['b'\]"),
    ],
)
def test_a_broken_file_of_means_is_refused_with_its_row(tmp_path, content, options, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, content, **options)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\x00\x01\x02")
    with pytest.raises(ValueError, match="is not a text; save it as CSV in UTF-8"):
        pp.read_instance(path, noise=pp.Bernoulli())
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        pp.read_instance(tmp_path, noise=pp.Bernoulli())


def test_unknown_names_and_needless_files_are_refused():
    with pytest.raises(ValueError, match="no instance named 'covboost'; did you mean 'cov-boost'"):
        pp.instance("covboost")
    with pytest.raises(ValueError, match="'geometric' needs no file"):
        pp.instance("geometric", path="x.csv")
