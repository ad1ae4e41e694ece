//! Islands as problems of their own.
//!
//! Contacts that share no moving body do not influence each other, so a problem falls apart into
//! islands ([`Island`]). A method that measures lengths over *all* contacts (a conjugate
//! direction, a least-squares fit, a penalty) would still couple them: what happens far away
//! would change the bits here, and a quiet island would pay for a busy one. So such a method is
//! written for one island and run on each:
//!
//! * [`extract`] copies an island into a problem of its own: rows keep their order, bodies are
//!   renumbered in rising order, a matrix problem keeps the island's rows and columns;
//! * [`solve_each`] extracts, calls a closure with the small problem and its part of the guess,
//!   writes the impulses back and gathers the reports. A problem of one island is handed over as
//!   it is, without a copy.
//!
//! The cost is linear in the rows, times a logarithm for finding bodies.

use super::{SolveReport, TracePoint};
use crate::contact::problem::{ContactProblem, Delassus, Impulses, Island, Row, Side};
use crate::geometry::Space;
use crate::judge::residual::judge;

/// Solves each island by itself with `solve` and reports on the whole.
///
/// `impulses` hold the guess and then the answer. The report's residuals are the judge's of the
/// whole problem; its iterations are the most that any island took; it has converged if every
/// island has.
pub(crate) fn solve_each<S: Space>(
    method: &'static str,
    problem: &ContactProblem<S>,
    impulses: &mut Impulses<S>,
    mut solve: impl FnMut(&ContactProblem<S>, &mut Impulses<S>) -> SolveReport,
) -> SolveReport {
    impulses
        .local
        .resize(problem.rows.len(), S::Vector::default());
    if let [whole] = problem.islands[..]
        && whole.rows() == (0..problem.rows.len())
    {
        return solve(problem, impulses);
    }
    let mut reports = Vec::with_capacity(problem.islands.len());
    let mut part = Impulses::default();
    for &island in &problem.islands {
        let small = extract(problem, island);
        part.local.clear();
        part.local.extend_from_slice(&impulses.local[island.rows()]);
        reports.push(solve(&small, &mut part));
        impulses.local[island.rows()].copy_from_slice(&part.local);
    }
    let history = merge(&reports);
    let whole = judge(problem, impulses);
    SolveReport {
        residual: whole.largest.residual,
        relative: whole.relative,
        history,
        ..SolveReport::of_islands(method, reports.into_iter())
    }
}

/// An island as a problem of its own: row k is row `island.start + k` of the whole.
pub(crate) fn extract<S: Space>(problem: &ContactProblem<S>, island: Island) -> ContactProblem<S> {
    let rows = &problem.rows[island.rows()];
    let whole = Island {
        start: 0,
        end: rows.len() as u32,
    };
    let mut bodies: Vec<u32> = Vec::new();
    if problem.delassus.is_none() {
        for row in rows {
            bodies.extend(named_bodies(&row.a));
            bodies.extend(named_bodies(&row.b));
        }
        bodies.sort_unstable();
        bodies.dedup();
    }
    ContactProblem {
        dt: problem.dt,
        responses: bodies
            .iter()
            .map(|&k| problem.responses[k as usize])
            .collect(),
        free: bodies.iter().map(|&k| problem.free[k as usize]).collect(),
        rows: rows
            .iter()
            .map(|row| Row {
                a: renumbered(&row.a, &bodies),
                b: renumbered(&row.b, &bodies),
                ..*row
            })
            .collect(),
        islands: vec![whole],
        delassus: problem.delassus.as_ref().map(|matrix| cut(matrix, island)),
    }
}

/// All bodies that a side names, also those of weight 0: their velocities are read too.
fn named_bodies<S: Space>(side: &Side<S>) -> impl Iterator<Item = u32> + use<S> {
    let (list, count) = match *side {
        Side::Fixed => ([0; 3], 0),
        Side::Particle { body } | Side::Rigid { body, .. } => ([body, 0, 0], 1),
        Side::Nodes { bodies, .. } => (bodies, 3),
    };
    list.into_iter().take(count)
}

/// The side with its bodies' places in `bodies`, which rises.
fn renumbered<S: Space>(side: &Side<S>, bodies: &[u32]) -> Side<S> {
    // Every body of the island is in the list; 0 is never taken.
    let place = |body: u32| bodies.binary_search(&body).unwrap_or(0) as u32;
    match *side {
        Side::Fixed => Side::Fixed,
        Side::Particle { body } if !bodies.is_empty() => Side::Particle { body: place(body) },
        Side::Rigid { body, arm } if !bodies.is_empty() => Side::Rigid {
            body: place(body),
            arm,
        },
        Side::Nodes {
            bodies: three,
            weights,
        } if !bodies.is_empty() => Side::Nodes {
            bodies: three.map(place),
            weights,
        },
        // A matrix problem: sides mean nothing.
        other => other,
    }
}

/// The island's rows and columns of a matrix.
fn cut<S: Space>(matrix: &Delassus<S>, island: Island) -> Delassus<S> {
    let mut part = Delassus {
        starts: vec![0],
        columns: Vec::new(),
        blocks: Vec::new(),
        q: matrix.q[island.rows()].to_vec(),
    };
    for row in island.rows() {
        for (column, block) in matrix.row(row) {
            if island.rows().contains(&column) {
                part.columns.push(column as u32 - island.start);
                part.blocks.push(*block);
            }
        }
        part.starts.push(part.columns.len() as u32);
    }
    part
}

/// One trace from those of islands, as if they were solved side by side: after k iterations the
/// residual is the largest of any island after (at most) k, and the time is the sum.
fn merge(reports: &[SolveReport]) -> Vec<TracePoint> {
    let mut events: Vec<(usize, &TracePoint)> = reports
        .iter()
        .enumerate()
        .flat_map(|(island, report)| report.history.iter().map(move |point| (island, point)))
        .collect();
    events.sort_by_key(|(island, point)| (point.iteration, *island));
    let mut now: Vec<Option<&TracePoint>> = vec![None; reports.len()];
    let mut merged = Vec::new();
    for group in events.chunk_by(|x, y| x.1.iteration == y.1.iteration) {
        for &(island, point) in group {
            now[island] = Some(point);
        }
        let nothing = TracePoint {
            iteration: group[0].1.iteration,
            seconds: 0.0,
            residual: 0.0,
            relative: 0.0,
        };
        merged.push(now.iter().flatten().fold(nothing, |all, one| TracePoint {
            iteration: all.iteration,
            seconds: all.seconds + one.seconds,
            residual: all.residual.max(one.residual),
            relative: all.relative.max(one.relative),
        }));
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::problem::{Response, local_form};
    use crate::math::algebra::{Algebra, D2};
    use crate::model::body::Motion;
    use glamx::DVec2;

    /// Four particles on a floor, bodies 1 and 3 touching each other, numbered out of order.
    fn pair_and_single() -> ContactProblem<D2> {
        let row = |a: Side<D2>, body: u32, normal: DVec2| Row {
            a,
            b: Side::Particle { body },
            basis: D2::basis(normal),
            mu: 0.5,
            target: 0.0,
        };
        let free = (0..4).map(|k| Motion {
            linear: DVec2::new(0.1 * f64::from(k), -1.0 - f64::from(k)),
            ..Motion::default()
        });
        ContactProblem {
            dt: 0.01,
            responses: (0..4)
                .map(|k| Response {
                    inv_mass: DVec2::splat(1.0 + f64::from(k)),
                    ..Response::default()
                })
                .collect(),
            free: free.collect(),
            rows: vec![
                row(Side::Fixed, 3, DVec2::Y),
                row(Side::Particle { body: 3 }, 1, DVec2::X),
                row(Side::Fixed, 2, DVec2::Y),
            ],
            islands: vec![Island { start: 0, end: 2 }, Island { start: 2, end: 3 }],
            delassus: None,
        }
    }

    #[test]
    fn an_island_alone_moves_as_in_the_whole() {
        let problem = pair_and_single();
        let local = vec![
            DVec2::new(0.5, 0.1),
            DVec2::new(0.3, -0.2),
            DVec2::new(0.7, 0.0),
        ];
        let whole = problem.velocities(&Impulses {
            local: local.clone(),
        });
        for &island in &problem.islands {
            let small = extract(&problem, island);
            assert_eq!(small.islands.len(), 1);
            let part = Impulses {
                local: local[island.rows()].to_vec(),
            };
            let velocities = small.velocities(&part);
            for (k, row) in island.rows().enumerate() {
                assert_eq!(
                    small.velocity(k, &velocities),
                    problem.velocity(row, &whole)
                );
                assert_eq!(small.diagonal(k), problem.diagonal(row));
            }
        }
        assert_eq!(extract(&problem, problem.islands[0]).responses.len(), 2);
    }

    #[test]
    fn a_matrix_is_cut_to_the_islands_rows_and_columns() {
        let text = "dimension 2\ncontacts 2\nmu 0.5 0.4\nq -1 0 -2 0.5\nW 4\n\
                    0 0 1\n1 1 2\n2 2 3\n3 3 4\n";
        let Ok(local_form::AnyProblem::Flat(problem)) = local_form::parse(text) else {
            panic!("should be flat")
        };
        assert_eq!(problem.islands.len(), 2);
        let second = extract(&problem, problem.islands[1]);
        assert_eq!(second.rows[0].mu, 0.4);
        assert_eq!(second.diagonal(0), problem.diagonal(1));
        assert_eq!(second.free_velocities().local, vec![DVec2::new(-2.0, 0.5)]);
    }

    #[test]
    fn answers_come_back_in_their_places_and_reports_are_gathered() {
        let problem = pair_and_single();
        let mut impulses = Impulses::default();
        let mut called = 0;
        let report = solve_each("test", &problem, &mut impulses, |small, part| {
            called += 1;
            for (k, r) in part.local.iter_mut().enumerate() {
                *r = DVec2::new(f64::from(called) + k as f64, 0.0);
            }
            SolveReport {
                iterations: called,
                converged: small.rows.len() == 1,
                history: vec![TracePoint {
                    iteration: called,
                    seconds: 1.0,
                    residual: f64::from(called),
                    relative: 0.0,
                }],
                ..SolveReport::default()
            }
        });
        let normals: Vec<f64> = impulses.local.iter().map(|r| r.x).collect();
        assert_eq!(normals, [1.0, 2.0, 2.0]);
        assert_eq!((report.iterations, report.converged), (2, false));
        assert_eq!(report.residual, judge(&problem, &impulses).largest.residual);
        let last = report.history.last().map(|p| (p.seconds, p.residual));
        assert_eq!(last, Some((2.0, 2.0)));
    }
}
