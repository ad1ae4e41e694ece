"""One scene with many parameters, on threads, processes and a cluster."""

import concurrent.futures
import os
import subprocess
import sys
import time

import pytest

import drystone
from drystone.sweep import grid, write


def slide():
    world = drystone.World(strategy="velocity")
    world.floor()
    world.box(0.2, at=(0, 0.1, 0), velocity=(1, 0, 0), name="sled")
    return world


def way(world):
    return {"way_m": float(world.positions[1, 0])}


def test_a_sweep_over_friction_follows_coulomb():
    table = drystone.sweep(slide(), {"friction": [0.2, 0.4, 0.8], "bodies.sled.mass": [1.0, 5.0]}, seconds=1, measure=way)
    assert len(table) == 6 and table[0].keys() == {"friction", "bodies.sled.mass", "way_m"}
    for row in table:
        assert row["way_m"] == pytest.approx(1 / (2 * 9.81 * row["friction"]), abs=1 / 480 + 1e-4)
    assert [row["friction"] for row in table] == [0.2, 0.2, 0.4, 0.4, 0.8, 0.8]


def test_a_list_of_points_and_the_usual_measures():
    table = drystone.sweep("sliding-cube", [{"dt": 0.001}, {"bodies[1].velocity": [2, 0, 0]}], seconds=0.2)
    assert {"hash", "residual_m_s", "kinetic_j", "steps"} <= table[0].keys() and table[0]["steps"] == 200


def test_wrong_keys_are_told_before_anything_runs():
    with pytest.raises(drystone.Error, match="no `sledge`"):
        drystone.sweep(slide(), {"bodies.sledge.mass": [1]})
    with pytest.raises(drystone.SceneError, match="unknown key"):
        drystone.sweep(slide(), {"frictoin": [1]}, seconds=0.1)


def test_processes_give_the_same_bytes_as_threads():
    points = {"friction": [0.1, 0.5]}
    with concurrent.futures.ProcessPoolExecutor(2) as processes:
        apart = drystone.sweep(slide(), points, seconds=0.5, executor=processes)
    assert apart == drystone.sweep(slide(), points, seconds=0.5)


def test_a_sweep_that_was_ended_goes_on_where_it_was(tmp_path):
    out, points = tmp_path / "table.csv", {"friction": [0.1, 0.2, 0.3, 0.4]}

    class Enough(Exception):
        pass

    def stop(done, _all, _row):
        if done == 2:
            raise Enough

    with pytest.raises(Enough):
        drystone.sweep(slide(), points, seconds=0.2, out=out, on_result=stop)
    counted = []
    whole = drystone.sweep(slide(), points, seconds=0.2, out=out, on_result=lambda done, _all, _row: counted.append(done))
    assert counted[0] >= 3 and counted[-1] == 4
    assert whole == drystone.sweep(slide(), points, seconds=0.2)
    assert out.read_text().splitlines()[0].startswith("friction,") and not (tmp_path / "table.csv.part").exists()


def test_tables_are_written_in_three_formats(tmp_path):
    table = [{"friction": 0.1, "hash": "ff"}, {"friction": 0.2, "hash": "fe"}]
    for ending in ("csv", "json"):
        write(table, tmp_path / f"t.{ending}")
        assert "0.2" in (tmp_path / f"t.{ending}").read_text()
    parquet = pytest.importorskip("pyarrow.parquet")
    write(table, tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == table
    with pytest.raises(ValueError, match="not `.xls`"):
        write(table, tmp_path / "t.xls")
    assert grid("friction=0.1:0.9:9") == ("friction", pytest.approx([0.1 * k for k in range(1, 10)]))
    assert grid("solver.name=pgs,newton") == ("solver.name", ["pgs", "newton"])


@pytest.mark.skipif("DRYSTONE_TEST_RAY" not in os.environ, reason="set DRYSTONE_TEST_RAY=1: starts two Ray nodes")
def test_on_ray_a_node_that_is_killed_loses_nothing():
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        points = {"friction": [0.01 * k for k in range(1, 25)]}
        killed = []

        def kill(done, _all, _row):
            if done == 4:
                cluster.remove_node(second, allow_graceful=False)
                killed.append(time.time())

        far = drystone.sweep(slide(), points, seconds=20, executor=cluster.address, on_result=kill, retries=5)
        assert killed and far == drystone.sweep(slide(), points, seconds=20)
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_the_command_line_sweeps(tmp_path):
    out = tmp_path / "t.csv"
    command = [sys.executable, "-m", "drystone", "sweep", "sliding-cube", "--set", "friction=0.2:0.6:3", "--seconds", "0.2", "--out", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert len(out.read_text().splitlines()) == 4
