"""Smaller failing inputs: what they may change, when they stop, and that they still fail."""

import time

import numpy as np
import pytest

from autograder.judging.shrink import smaller

BIG = {"x": 1.7310248, "n": 12, "seed": -0.8312, "name": "sin", "deep": True}


def always(inputs):
    return True


def test_numbers_become_simple_and_keep_their_signs():
    assert smaller(BIG, always) == {"x": 1.5, "n": 1, "seed": -1.0, "name": "sin", "deep": True}


def test_numbers_stay_different_because_equal_ones_hide_mistakes():
    assert smaller({"a": 0.91, "b": 1.07, "c": -1.11}, always) == {"a": 1.0, "b": 1.5, "c": -0.5}
    found = smaller({"x": np.array([0.91, 1.07, -1.11])}, always)
    assert found["x"].tolist() == [1.0, 1.5, -0.5]


def test_what_is_found_still_fails():
    found = smaller(BIG, lambda inputs: inputs["n"] > 4 and inputs["x"] > 1)
    assert found == {"x": 1.5, "n": 5, "seed": -1.0, "name": "sin", "deep": True}


def test_an_input_that_fails_alone_is_left_alone():
    assert smaller(BIG, lambda inputs: inputs == BIG) is None


def test_simple_inputs_cost_no_search():
    calls = []
    assert smaller({"x": 1.5, "n": 1, "name": "log"}, lambda inputs: calls.append(1) or True) is None
    assert calls == []


def test_arrays_keep_shape_type_and_signs():
    x = np.array([[0.31, -1.9], [-0.2, 1.1]], dtype=np.float32)
    found = smaller({"x": x}, always)["x"]
    assert (found.shape, found.dtype) == (x.shape, x.dtype)
    assert (np.sign(found) == np.sign(x)).all()


def test_entries_of_an_array_are_tried_one_by_one():
    x = np.array([0.31372, -1.9123, 1.1])
    found = smaller({"x": x}, lambda inputs: inputs["x"][1] < -1.5)["x"]
    assert found.tolist() == [0.5, -2.0, 1.0]


def test_lists_of_floats_are_treated_like_arrays_and_lists_of_words_left_alone():
    found = smaller({"at": [0.137, 2.71], "words": ["w"]}, always)
    assert found == {"at": [0.5, 2.5], "words": ["w"]}


@pytest.mark.parametrize("kind", [list, np.array])
def test_places_in_a_list_of_nodes_become_smaller_and_none_is_lost(kind):
    found = smaller({"chosen": kind([3, 9])}, lambda inputs: inputs["chosen"][1] >= 4)["chosen"]
    assert list(found) == [0, 4] and type(found) is type(kind([]))


def test_code_loses_the_rows_that_do_not_matter():
    code = np.random.default_rng(0).integers(1, 1000, (20, 3))
    culprit = code[13]
    found = smaller({"graph": code}, lambda inputs: culprit[0] in inputs["graph"][:, 0])["graph"]
    assert found.tolist() == [culprit.tolist()]
    assert smaller({"graph": code}, always)["graph"].shape == (0, 3)


def test_code_gets_the_first_operation_where_another_does_not_matter():
    code = np.random.default_rng(0).integers(1, 1000, (8, 3))
    found = smaller({"graph": code}, lambda inputs: len(inputs["graph"]) == 8 and inputs["graph"][2, 0])[
        "graph"
    ]
    assert np.flatnonzero(found[:, 0]).tolist() == [2]
    assert (found[:, 1:] == code[:, 1:]).all()


def test_a_program_loses_its_last_rows_once_nothing_asks_for_their_nodes():
    code = np.ones((14, 3), int)
    inputs = {"graph": code, "chosen": [8, 14]}
    found = smaller(inputs, lambda inputs: max(inputs["chosen"]) < 3 + len(inputs["graph"]))
    assert found["graph"].shape == (0, 3) and found["chosen"] == [0, 0]


def test_rows_of_any_other_array_are_kept():
    x = np.random.default_rng(0).uniform(1, 2, (20, 3))
    assert smaller({"x": x}, always)["x"].shape == (20, 3)


def test_the_input_given_is_not_written_into():
    x = np.array([0.31, -1.9])
    code = np.full((4, 3), 7)
    smaller({"x": x, "graph": code}, always)
    assert x.tolist() == [0.31, -1.9] and code.shape == (4, 3)


def test_the_same_failure_gives_the_same_small_input():
    inputs = {"x": np.random.default_rng(1).uniform(-2, 2, 6), "n": 30}

    def fails(inputs):
        return inputs["n"] % 7 == 2 and inputs["x"].sum() > inputs["x"][0]

    first, second = (smaller(inputs, fails) for _ in range(2))
    assert first["n"] == second["n"] and first["x"].tolist() == second["x"].tolist()


def test_calls_are_bounded():
    calls = []

    def fails(inputs):
        calls.append(1)
        return False

    assert smaller({"x": np.arange(1, 17) / 7, "graph": np.ones((30, 3), int)}, fails, calls=50) is None
    assert len(calls) == 50


def test_time_is_bounded():
    start = time.monotonic()
    smaller({"graph": np.ones((60, 3), int)}, lambda inputs: time.sleep(0.02), seconds=0.1)
    assert time.monotonic() - start < 0.5


@pytest.mark.parametrize("x", [0.0, float("nan"), float("inf"), -0.0])
def test_special_numbers_stay(x):
    assert smaller({"x": x}, always) is None
