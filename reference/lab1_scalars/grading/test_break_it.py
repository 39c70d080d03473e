"""The smallest graphs that expose three wrong engines: both engines run on them, and the numbers decide."""

import pytest

pytestmark = pytest.mark.task("break-it")
points = pytest.mark.points


@points(2)
@pytest.mark.parametrize("engine", ["overwrite", "breadth-first", "once-by-value"])
def test_each_engine_is_exposed(compare, engine):
    """Each graph makes its engine find a wrong derivative.
    每张图都让对应的引擎求出错误的导数。"""
    compare("break_it", only=["exposed"], engine=engine)


@points(2)
@pytest.mark.parametrize("engine", ["overwrite", "breadth-first", "once-by-value"])
def test_no_graph_has_a_node_too_many(compare, engine):
    """No graph with fewer nodes does it.
    没有节点更少的图能做到。"""
    compare("break_it", only=["exposed", "nodes"], engine=engine)


@points(1)
@pytest.mark.parametrize("engine", ["overwrite", "breadth-first", "once-by-value"])
def test_the_lost_path_is_named(compare, engine):
    """What is missing in the derivative is the product of local derivatives along the path named.
    导数中缺少的部分，正是所写路径上各局部导数之积。"""
    compare("break_it", only=["exposed", "path_is_the_lost_one"], engine=engine)
