//! Block descent of four linkages: inertia, contacts and joints in balance.

use super::sweep::{invert_blocks, sweep};
use super::{ArticulationLanes, LaneBody, LaneRow, points};
use crate::geometry::Space;
use crate::math::rigid_compliance::{Answer, Resistance, SPRINGS, symmetric_times};
use crate::math::simd::{Column, DOUBLES, LANES, Number, Quad, Wide, dispatch};
use crate::strategy::realtime::articulation::row::Entry;
use crate::strategy::realtime::manifold::Field;

/// Whether a linkage would move is not asked if it moved so many times as far in the round before.
const MANY: f64 = 20.0;
/// Numbers of what holds a body: see [`crate::strategy::realtime::manifold_forces`].
const GRASP: usize = 16;

/// Which of four.
type Which = [bool; DOUBLES];

#[inline(always)]
pub(super) fn get<N: Number<Stored = Quad>, const K: usize>(stored: &[Quad; K]) -> [N; K] {
    stored.each_ref().map(N::load)
}

#[inline(always)]
pub(super) fn put<N: Number<Stored = Quad>, const K: usize>(
    numbers: [N; K],
    stored: &mut [Quad; K],
) {
    for (number, place) in numbers.into_iter().zip(stored) {
        number.store(place);
    }
}

#[inline(always)]
pub(super) fn dot<N: Number>(a: [N; 3], b: [N; 3]) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross<N: Number>(a: [N; 3], b: [N; 3]) -> [N; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
pub(super) fn halves<N: Number>(x: [N; 6]) -> ([N; 3], [N; 3]) {
    ([x[0], x[1], x[2]], [x[3], x[4], x[5]])
}

/// 1 where true, else 0.
#[inline(always)]
pub(super) fn mask<N: Number<Stored = Quad>>(which: Which) -> N {
    N::load(&Quad(which.map(|is| f64::from(u8::from(is)))))
}

#[inline(always)]
fn settle_kernel<S: Space, V: Wide>(
    team: &mut ArticulationLanes,
    field: &Field<'_>,
    noticeable: f64,
) {
    let mut is_other = team.is_bent;
    for body in &mut team.bodies {
        let grasp = body
            .is_touched
            .contains(&true)
            .then(|| grasps::<V>(body, field));
        let is_held_otherwise = hold::<S, V::Double>(body, grasp, team.is_bent);
        for (is_other, is) in is_other.iter_mut().zip(is_held_otherwise) {
            *is_other |= is;
        }
    }
    if is_other.contains(&true) {
        if team.is_plain() {
            points::answer_rows::<V::Double>(team);
            points::couple_rows::<V::Double>(team);
        } else {
            answer_rows::<V::Double>(team);
            couple_rows::<V::Double>(team);
        }
        factorise::<V::Double>(team);
    }
    let mut is_solved = team.is_active;
    if team.is_exact {
        let rests = resting::<V::Double>(team, is_other, noticeable);
        for (is_solved, rests) in is_solved.iter_mut().zip(rests) {
            *is_solved &= !rests;
        }
        if !is_solved.contains(&true) {
            return;
        }
        solve_at_once::<V::Double>(team, mask(is_solved));
    } else {
        sweep::<V::Double>(team);
    }
    arrive::<S, V::Double>(team, field, is_solved);
}

/// Takes over what contacts do to a body, and says where it would go without its joints. Which of
/// the four are held by other springs than before.
#[inline(always)]
fn hold<S: Space, N: Number<Stored = Quad>>(
    body: &mut LaneBody,
    grasp: Option<[N; GRASP]>,
    is_bent: Which,
) -> Which {
    let (x, aim) = (get::<N, 6>(&body.x), get::<N, 6>(&body.aim));
    let away: [N; 6] = std::array::from_fn(|k| aim[k] - x[k]);
    let (straight, turned) = halves(away);
    let mass = N::load(&body.mass);
    let mut force = straight.map(|x| x * mass);
    let mut torque = symmetric_times(&get(&body.bare), turned);
    let mut is_other = [false; DOUBLES];
    if let Some(grasp) = grasp {
        let known = get::<N, SPRINGS>(&body.springs);
        let springs: [N; SPRINGS] = std::array::from_fn(|k| grasp[6 + k]);
        let mut change = N::splat(0.0);
        for (now, known) in springs.into_iter().zip(known) {
            let difference = now - known;
            change = change.most(difference).most(-difference);
        }
        put(springs, &mut body.springs);
        let mut changes = Quad::default();
        change.store(&mut changes);
        is_other = changes.0.map(|change| change > 0.0);
        for axis in 0..3 {
            force[axis] = force[axis] + grasp[axis];
            torque[axis] = torque[axis] + grasp[3 + axis];
        }
    }
    force[S::DIM..].fill(N::splat(0.0));
    torque[S::SPIN_DIM..].fill(N::splat(0.0));
    if is_bent.contains(&true) || is_other.contains(&true) {
        let mut resistance = Resistance {
            linear: get(&body.resists),
            cross: [[N::splat(0.0); 3]; 3],
            turning: get(&body.inertia),
        };
        S::add_springs(&get::<N, SPRINGS>(&body.springs), &mut resistance);
        let answer = resistance.inverted().times(N::load(&body.moves));
        answer.store(&mut body.answer);
    }
    let change = Answer::<N>::load(&body.answer).to(force, torque);
    put(std::array::from_fn(|k| x[k] + change[k]), &mut body.pushed);
    is_other
}

/// What manifolds do to a body of each linkage; nothing where it touches none.
#[inline(always)]
fn grasps<V: Wide>(body: &LaneBody, field: &Field<'_>) -> [V::Double; GRASP] {
    // Place 0 belongs to nothing, and nothing is ever written there.
    let places: [usize; DOUBLES] = std::array::from_fn(|lane| {
        let place = body.places[lane] as usize;
        if body.is_touched[lane] { place } else { 0 }
    });
    let mut numbers = [V::Double::splat(0.0); GRASP];
    for half in 0..2 {
        let columns = places.map(|place| field.grasp.read(2 * place + half));
        for part in 0..2 {
            let rows = V::side_by_side(&columns, DOUBLES * part);
            let first = LANES * half + DOUBLES * part;
            numbers[first..first + DOUBLES].copy_from_slice(&rows);
        }
    }
    numbers
}

/// What forces along the rows do.
#[inline(always)]
fn answer_rows<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    let bodies = &team.bodies;
    for rows in team.rows.chunk_by_mut(LaneRow::has_ends_of) {
        let ends = [rows[0].a, rows[0].b];
        for (side, end) in ends.into_iter().enumerate() {
            let answer = Answer::<N>::load(&bodies[end as usize].answer);
            for row in rows.iter_mut() {
                let (n, j) = (get::<N, 3>(&row.n), get::<N, 3>(row.lever(side)));
                let moved = answer.to(n, j);
                // The first end begins the sum.
                let known = if side == 0 { &row.gives } else { &row.diagonal };
                (N::load(known) + along(n, j, moved)).store(&mut row.diagonal);
                put(moved, row.moves_mut(side));
            }
        }
    }
}

/// What is moved along a direction of a row's end.
#[inline(always)]
fn along<N: Number>(n: [N; 3], j: [N; 3], moved: [N; 6]) -> N {
    let (linear, spin) = halves(moved);
    dot(n, linear) + dot(j, spin)
}

/// What a force along the second row of an entry moves along the first.
#[inline(always)]
pub(super) fn coupling<N: Number<Stored = Quad>>(entry: &Entry, rows: &[LaneRow]) -> N {
    let [one, other] = entry.rows.map(|k| &rows[k as usize]);
    let n = get::<N, 3>(&one.n);
    let mut sum = N::splat(0.0);
    let [same_a, a_with_b, b_with_a, same_b] = entry.shared;
    for (is_shared, j, moves, is_opposite) in [
        (same_a, &one.j_a, &other.moves_a, false),
        (a_with_b, &one.j_a, &other.moves_b, true),
        (b_with_a, &one.j_b, &other.moves_a, true),
        (same_b, &one.j_b, &other.moves_b, false),
    ] {
        if is_shared {
            let along = along(n, get(j), get(moves));
            sum = sum + if is_opposite { -along } else { along };
        }
    }
    sum
}

/// Works out the entries of S off its diagonal.
#[inline(always)]
fn couple_rows<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    for (above, entry) in team.above.iter_mut().zip(&team.entries) {
        coupling::<N>(entry, &team.rows).store(above);
    }
}

/// Factorises S, or inverts the joints' own blocks of it.
#[inline(always)]
fn factorise<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    let Some(factors) = &mut team.factors else {
        return invert_blocks::<N>(team);
    };
    for (diagonal, row) in team.diagonal.iter_mut().zip(&team.rows) {
        *diagonal = row.diagonal;
    }
    factors.factorise::<N>(&team.diagonal, &team.above);
}

/// u of displacements of a row's two bodies.
#[inline(always)]
pub(super) fn moved<N: Number<Stored = Quad>>(row: &LaneRow, [a, b]: &[[N; 6]; 2]) -> N {
    let ((linear_a, spin_a), (linear_b, spin_b)) = (halves(*a), halves(*b));
    let apart = std::array::from_fn(|k| linear_b[k] - linear_a[k]);
    dot(get(&row.n), apart) + (dot(get(&row.j_b), spin_b) - dot(get(&row.j_a), spin_a))
}

/// Adds what a force along a row does to its two bodies.
#[inline(always)]
pub(super) fn push<N: Number<Stored = Quad>>(row: &LaneRow, force: N, [a, b]: &mut [[N; 6]; 2]) {
    for (x, moves) in a.iter_mut().zip(&row.moves_a) {
        *x = *x - N::load(moves) * force;
    }
    for (x, moves) in b.iter_mut().zip(&row.moves_b) {
        *x = *x + N::load(moves) * force;
    }
}

/// Where the two bodies of a row were pushed to.
#[inline(always)]
pub(super) fn pair<N: Number<Stored = Quad>>(row: &LaneRow, bodies: &[LaneBody]) -> [[N; 6]; 2] {
    [row.a, row.b].map(|end| get(&bodies[end as usize].pushed))
}

#[inline(always)]
pub(super) fn put_pair<N: Number<Stored = Quad>>(
    row: &LaneRow,
    x: [[N; 6]; 2],
    bodies: &mut [LaneBody],
) {
    for (end, x) in [row.a, row.b].into_iter().zip(x) {
        put(x, &mut bodies[end as usize].pushed);
    }
}

/// Lets each row act on its two bodies: joint by joint, so that these are seldom put down.
#[inline(always)]
pub(super) fn for_each_row<N: Number<Stored = Quad>>(
    rows: &[LaneRow],
    bodies: &mut [LaneBody],
    mut act: impl FnMut(usize, &LaneRow, &mut [[N; 6]; 2]),
) {
    let mut at = 0;
    for rows in rows.chunk_by(LaneRow::has_ends_of) {
        let mut x = pair(&rows[0], bodies);
        for row in rows {
            act(at, row, &mut x);
            at += 1;
        }
        put_pair(&rows[0], x, bodies);
    }
}

/// Which would not move to speak of if they were solved again: contacts do what they did when the
/// forces of the joints were found.
#[inline(always)]
fn resting<N: Number<Stored = Quad>>(
    team: &mut ArticulationLanes,
    is_other: Which,
    noticeable: f64,
) -> Which {
    let may_rest: Which = std::array::from_fn(|lane| {
        let is_still = team.stirred.0[lane] <= MANY * noticeable;
        team.is_active[lane] && !is_other[lane] && is_still
    });
    if !may_rest.contains(&true) {
        return may_rest;
    }
    let most = if team.is_plain() {
        points::load_bodies::<N>(team, |team, row| N::load(&team.forces[row]));
        let ways = team
            .bodies
            .iter()
            .map(|body| way(body, points::pulled(body)));
        ways.fold(N::splat(0.0), N::most)
    } else {
        way_with_known_forces::<N>(team)
    };
    let mut ways = Quad::default();
    most.store(&mut ways);
    std::array::from_fn(|lane| may_rest[lane] && ways.0[lane] < noticeable)
}

/// How far bodies would be from where they are with the forces that are known, at most, m.
#[inline(always)]
fn way_with_known_forces<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) -> N {
    let targets = team.bodies.iter().map(|body| body.pushed);
    team.targets.clear();
    team.targets.extend(targets);
    let forces = &team.forces;
    for_each_row::<N>(&team.rows, &mut team.bodies, |at, row, x| {
        push(row, N::load(&forces[at]), x);
    });
    let mut most = N::splat(0.0);
    for (body, target) in team.bodies.iter_mut().zip(&team.targets) {
        let there = get::<N, 6>(&body.pushed);
        most = most.most(way::<N>(body, there));
        body.pushed = *target;
    }
    most
}

/// How far a body's farthest point would be from where it is, about, m.
#[inline(always)]
fn way<N: Number<Stored = Quad>>(body: &LaneBody, there: [N; 6]) -> N {
    let x = get::<N, 6>(&body.x);
    let (linear, spin) = halves(std::array::from_fn(|k| there[k] - x[k]));
    let way = dot(linear, linear).root() + N::load(&body.arm) * dot(spin, spin).root();
    way * N::load(&body.moves)
}

/// Solves what has neither bounds nor loops, from no force.
#[inline(always)]
fn solve_at_once<N: Number<Stored = Quad>>(team: &mut ArticulationLanes, is_solved: N) {
    solve_locks::<N>(team);
    if team.is_plain() {
        for (known, force) in team.forces.iter_mut().zip(&team.missing) {
            let force = is_solved.choose(N::load(force), N::load(known));
            force.store(known);
        }
        points::load_bodies::<N>(team, |team, row| N::load(&team.missing[row]));
        for body in &mut team.bodies {
            put(points::pulled::<N>(body), &mut body.pushed);
        }
        return;
    }
    let (found, forces) = (&team.missing, &mut team.forces);
    for_each_row::<N>(&team.rows, &mut team.bodies, |at, row, x| {
        let (force, known) = (N::load(&found[at]), N::load(&forces[at]));
        push(row, force, x);
        is_solved.choose(force, known).store(&mut forces[at]);
    });
}

/// Writes down what locks must still move by.
#[inline(always)]
fn find_missing<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    let locks = &team.rows[..team.locks];
    let mut missing = team.missing.iter_mut();
    for rows in locks.chunk_by(LaneRow::has_ends_of) {
        let x = pair::<N>(&rows[0], &team.bodies);
        for (row, missing) in rows.iter().zip(&mut missing) {
            let apart = N::load(&row.missing) + moved(row, &x);
            (-apart).store(missing);
        }
    }
}

/// Works out in `missing` the forces that close all locks.
#[inline(always)]
pub(super) fn solve_locks<N: Number<Stored = Quad>>(team: &mut ArticulationLanes) {
    if team.is_plain() {
        points::find_missing::<N>(team);
    } else {
        find_missing::<N>(team);
    }
    if let Some(factors) = &team.factors {
        factors.solve::<N>(&mut team.missing);
    }
}

/// Lets bodies be where they were pushed to, and says how far that is.
#[inline(always)]
fn arrive<S: Space, N: Number<Stored = Quad>>(
    team: &mut ArticulationLanes,
    field: &Field<'_>,
    is_solved: Which,
) {
    let lanes = mask::<N>(is_solved);
    let (mut stirred, mut bend) = (N::splat(0.0), N::splat(0.0));
    for body in &mut team.bodies {
        let there = get::<N, 6>(&body.pushed);
        stirred = stirred.most(way::<N>(body, there));
        let x = get::<N, 6>(&body.x);
        let x: [N; 6] = std::array::from_fn(|k| lanes.choose(there[k], x[k]));
        put(x, &mut body.x);
        let made_for = get::<N, 3>(&body.made_for);
        let turned = std::array::from_fn(|k| x[3 + k] - made_for[k]);
        bend = bend.most(dot(turned, turned).root());
        for lane in (0..DOUBLES).filter(|&lane| is_solved[lane] && body.moves.0[lane] > 0.0) {
            let mut column = Column::default();
            for axis in 0..S::DIM {
                column.0[axis] = body.x[axis].0[lane] as f32;
            }
            for axis in 0..S::SPIN_DIM {
                column.0[S::DIM + axis] = body.x[3 + axis].0[lane] as f32;
            }
            field.shift.write(body.places[lane] as usize, column);
        }
    }
    lanes
        .choose(stirred, N::load(&team.stirred))
        .store(&mut team.stirred);
    bend.store(&mut team.bend);
    let mut largest = N::splat(0.0);
    for force in &team.forces {
        let force = N::load(force);
        largest = largest.most(force.most(-force));
    }
    largest.store(&mut team.largest);
}

dispatch! {
    /// Moves four linkages to where inertia, contacts and joints balance. What moves by less than
    /// `noticeable` m is left where it is.
    fn settle<S: Space>(team: &mut ArticulationLanes, field: &Field<'_>, noticeable: f64) = settle_kernel
}
