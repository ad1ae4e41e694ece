"""Runs that show themselves."""

import numpy as np
import pytest

import drystone


@pytest.fixture(scope="module")
def run():
    world = drystone.gallery.dominoes()
    try:
        return world.record(1.0)
    except drystone.StepError as error:
        if "npm" in str(error) or "page" in str(error):
            pytest.skip(f"built without the viewer's page: {error}")
        raise


def test_a_run_has_numbers_of_every_step(run):
    assert len(run.numbers) == 60 and run.time[-1] == pytest.approx(1.0)
    assert run.kinetic.max() > 0 and np.isfinite(run.numbers).all() and "60 steps" in repr(run)
    with pytest.raises(AttributeError, match="kinetic"):
        run.nothing  # noqa: B018


def test_recording_is_stepping(run):
    del run
    one, two = drystone.gallery.dominoes(), drystone.gallery.dominoes()
    one.record(0.5)
    two.run(0.5)
    assert one.hash == two.hash and one.certificate == two.certificate


def test_runs_and_worlds_show_themselves_in_notebooks(run, tmp_path):
    shown = run._repr_html_()
    assert shown.startswith("<iframe") and "&lt;script" in shown and "<script" not in shown
    run.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size > 10_000
    world = drystone.gallery.dominoes()
    assert "bodies" in world._repr_html_() and world.steps == 0


def test_plots_show_energy_and_residual(run, tmp_path):
    pytest.importorskip("matplotlib")
    drystone.plot(run, tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 5_000
