//! The matrix of the last step's problem, and the way of its solver.

use drystone::contact::problem::Impulses;
use drystone::{Limits, Linear, Space, World};
use drystone_view::live::Matrix;

/// Blocks that are sent at most: as many as a page can draw.
const MOST_BLOCKS: usize = 60_000;

/// Time that the solver whose way is drawn may take, s.
const BUDGET_S: f64 = 0.25;

/// Iterations whose residuals are drawn at most.
const MOST_ITERATIONS: u32 = 200;

/// The matrix of the last step, and how the world's solver comes near its answer from nothing.
pub(super) fn of<S: Space>(world: &World<S>) -> Matrix {
    let Some(last) = world.last_problem() else {
        return Matrix::default();
    };
    let problem = &last.assembled.problem;
    let reduced = problem.reduced();
    let mut blocks = Vec::new();
    let mut left_out = 0;
    for row in 0..problem.rows.len() {
        for (column, block) in reduced.row(row) {
            if blocks.len() < MOST_BLOCKS {
                let squares = (0..S::DIM).map(|k| S::column(block, k)).map(|c| c.dot(c));
                let norm = squares.sum::<f64>().sqrt();
                blocks.push((row as u32, column as u32, norm as f32));
            } else {
                left_out += 1;
            }
        }
    }
    let kind = world.settings().solver;
    let (_, tolerance) = kind.iterations_and_tolerance();
    let limits = Limits {
        iterations: MOST_ITERATIONS,
        tolerance,
        relative: 0.0,
        budget: Some(BUDGET_S),
        trace: true,
    };
    let mut impulses = Impulses {
        local: vec![S::Vector::default(); problem.rows.len()],
    };
    let report = kind.limited(limits).solve(problem, &mut impulses);
    let point = |p: &drystone::solver::TracePoint| (p.iteration, p.residual);
    Matrix {
        contacts: last.assembled.contact_of_row.clone(),
        blocks,
        left_out,
        solver: kind.name().to_owned(),
        curve: report.history.iter().map(point).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::{Body, Shape2, World2, glam::DVec2};

    #[test]
    fn two_disks_in_a_column_have_a_matrix_of_two_by_two() {
        let mut world = World2::reference();
        let floor = Shape2::half_space(DVec2::Y).unwrap();
        world.add(Body::fixed(floor)).unwrap();
        for k in 0..2 {
            let disk = Body::rigid(Shape2::ball(0.5).unwrap());
            let at = DVec2::new(0.0, 0.5 + f64::from(k));
            world.add(disk.at(at).with_mass(2.0)).unwrap();
        }
        assert_eq!(of(&world), Matrix::default());
        world.step().unwrap();
        let matrix = of(&world);
        assert_eq!(matrix.contacts.len(), 2);
        assert_eq!(matrix.blocks.len(), 4);
        // Normal 1/m, tangent 1/m + r²/I = 3/m for a disk on the floor; m = 2 kg.
        let on_floor = matrix.blocks.iter().find(|b| b.0 == 0 && b.1 == 0).unwrap();
        let expected = (0.25_f64 + 2.25).sqrt();
        assert!((f64::from(on_floor.2) - expected).abs() < 1e-6);
        assert!(matrix.curve.len() > 1);
    }
}
