//! Gauss-Seidel sweeps over joint rows with bounds, and over nets with too many loops to factorise.

use super::ArticulationLanes;
use super::kernel::{coupling, for_each_row, moved, pair, push, put_pair, solve_locks};
use crate::math::simd::{Number, Quad};
use crate::strategy::realtime::articulation::row::Entry;

/// Sweeps over limits, motors and nets in a round where contacts have a say.
const COUPLED_SWEEPS: u32 = 3;
/// Part of a correction that sweeps over nets take: more than one over-relaxes.
const RELAXATION: f64 = 1.0;

/// Inverts each joint's own block of S, by elimination.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // Rows and columns of a matrix.
pub(super) fn invert_blocks<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    let (zero, one) = (N::splat(0.0), N::splat(1.0));
    team.inverses.clear();
    for block in team.blocks.windows(2) {
        let first = block[0] as usize;
        let n = block[1] as usize - first;
        let (mut a, mut inverse) = ([[zero; 6]; 6], [[zero; 6]; 6]);
        for i in 0..n {
            for j in 0..i {
                let entry = Entry {
                    rows: [first + i, first + j].map(|row| row as u32),
                    shared: [true, false, false, true],
                };
                a[i][j] = coupling::<N>(&entry, &team.rows);
                a[j][i] = a[i][j];
            }
            a[i][i] = N::load(&team.rows[first + i].diagonal) * N::splat(1.0 + 1e-9);
            inverse[i][i] = one;
        }
        for k in 0..n {
            let scale = a[k][k].choose(one / a[k][k], zero);
            for j in 0..n {
                a[k][j] = a[k][j] * scale;
                inverse[k][j] = inverse[k][j] * scale;
            }
            let (row, inverse_row) = (a[k], inverse[k]);
            for i in (0..n).filter(|&i| i != k) {
                let factor = a[i][k];
                for j in 0..n {
                    a[i][j] = a[i][j] - factor * row[j];
                    inverse[i][j] = inverse[i][j] - factor * inverse_row[j];
                }
            }
        }
        for number in inverse[..n].iter().flat_map(|row| &row[..n]) {
            let mut stored = Quad::default();
            number.store(&mut stored);
            team.inverses.push(stored);
        }
    }
}

/// Sweeps over limits, motors and springs, with locks solved in between; over all rows of a net.
#[inline(always)]
pub(super) fn sweep<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    let (forces, locks) = (&mut team.forces, team.locks);
    for_each_row::<N>(&team.rows, &mut team.bodies, |at, row, x| {
        push(row, N::load(&forces[at]), x);
    });
    for _ in 0..COUPLED_SWEEPS {
        let bounded = &mut team.forces[locks..];
        for_each_row::<N>(&team.rows[locks..], &mut team.bodies, |at, row, x| {
            let (force, diagonal) = (N::load(&bounded[at]), N::load(&row.diagonal));
            let missing = N::load(&row.missing) + moved(row, x);
            let missing = missing + N::load(&row.gives) * force;
            let wanted = diagonal.choose(force - missing / diagonal, force);
            let within = wanted.most(N::load(&row.lower)).least(N::load(&row.upper));
            within.store(&mut bounded[at]);
            push(row, within - force, x);
        });
        if team.factors.is_none() {
            sweep_net::<N>(team);
            continue;
        }
        solve_locks::<N>(team);
        let (changes, forces) = (&team.missing, &mut team.forces);
        for_each_row::<N>(&team.rows[..locks], &mut team.bodies, |at, row, x| {
            let change = N::load(&changes[at]);
            (N::load(&forces[at]) + change).store(&mut forces[at]);
            push(row, change, x);
        });
    }
}

/// One sweep over the joints of a net.
#[inline(always)]
fn sweep_net<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    let mut at = 0;
    let mut missing = [N::splat(0.0); 6];
    for block in team.blocks.windows(2) {
        let range = block[0] as usize..block[1] as usize;
        let (rows, forces) = (&team.rows[range.clone()], &mut team.forces[range]);
        let n = rows.len();
        let Some(first) = rows.first() else { continue };
        let mut x = pair::<N>(first, &team.bodies);
        for (row, missing) in rows.iter().zip(&mut missing) {
            *missing = N::load(&row.missing) + moved(row, &x);
        }
        for (i, (row, force)) in rows.iter().zip(forces).enumerate() {
            let inverse = &team.inverses[at + i * n..at + (i + 1) * n];
            let terms = inverse.iter().zip(&missing);
            let along = terms.fold(N::splat(0.0), |sum, (a, x)| sum + N::load(a) * *x);
            let change = along * N::splat(-RELAXATION);
            (N::load(force) + change).store(force);
            push(row, change, &mut x);
        }
        put_pair(&rows[0], x, &mut team.bodies);
        at += n * n;
    }
}
