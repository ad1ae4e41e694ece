//! Articulations that touch something, four alike in SIMD lanes.
//!
//! Linkages with the same bodies, joints and rows (twenty ragdolls, say) are eliminated in the same
//! order, so that four of them, a **team**, take their numbers through the same operations at once
//! ([`kernel`]). A linkage without its like is a team of its own. Lanes never mix, and a lane in
//! which nothing changed would only compute what it has: which others a linkage is with changes no bit of
//! where it goes.
//!
//! In every round each body's contacts are summed up by the kernels of manifolds ([`crate::strategy::realtime::manifold_forces`]); H⁻¹,
//! the inverse of what resists its displacements, is made again where their springs are other ones,
//! and with it what forces along rows do and the factors of S: at rest once a step. Rows are made
//! again when bodies have turned since, for a chain that whips turns by a good part of a circle in
//! a step.

mod body;
mod joint_rows;
mod kernel;
mod points;
mod sweep;

use std::collections::BTreeMap;
use std::ops::Range;

use super::Ground;
use super::linkage::{BENT, Linkage};
use super::row::Entry;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::simd::{DOUBLES, Instructions, Quad};
use crate::math::sparse_ldlt::Factors;
use crate::model::body::{Bodies, Motion};
use crate::strategy::realtime::manifold::Field;
use body::LaneBody;
use joint_rows::{LaneJoint, plain_kind};
use points::Coupling;

/// Where directions are taken this late in a step ([`super`]), a linkage is taut, and its rows are
/// made again beyond this turn, rad. A bridge of twenty planks that is nearly straight goes up by
/// two centimetres to make up for joints that are open by a twentieth of a millimetre each: what
/// [`BENT`] leaves, so that it kicked what stood on it.
const TAUT_PART: f64 = 0.1;
const TAUT_BENT: f64 = 1e-4;
/// A linkage that would move slower than this if it were solved again in a round is not, m/s.
const NOTICEABLE_SPEED: f64 = 5e-4;

/// The same row of four linkages: see [`super::row::LinkRow`].
#[derive(Clone, Debug, Default)]
struct LaneRow {
    a: u32,
    b: u32,
    n: [Quad; 3],
    j_a: [Quad; 3],
    j_b: [Quad; 3],
    moves_a: [Quad; 6],
    moves_b: [Quad; 6],
    missing: Quad,
    offset: Quad,
    gives: Quad,
    lower: Quad,
    upper: Quad,
    diagonal: Quad,
}

impl LaneRow {
    /// Whether another row is of the same two bodies.
    fn has_ends_of(&self, other: &Self) -> bool {
        self.a == other.a && self.b == other.b
    }

    /// What turns of A or B change of it.
    fn lever(&self, side: usize) -> &[Quad; 3] {
        [&self.j_a, &self.j_b][side]
    }

    /// What a force does to A or B.
    fn moves(&self, side: usize) -> &[Quad; 6] {
        [&self.moves_a, &self.moves_b][side]
    }

    /// The same, to be changed.
    fn moves_mut(&mut self, side: usize) -> &mut [Quad; 6] {
        if side == 0 {
            &mut self.moves_a
        } else {
            &mut self.moves_b
        }
    }
}

/// Linkages side by side.
#[derive(Clone, Debug)]
pub(crate) struct ArticulationLanes {
    /// Their places in the list.
    pub(crate) range: Range<usize>,
    /// Which of them contacts have a say in.
    is_active: [bool; DOUBLES],
    /// Whether rows have been made in this substep, and which were in this round.
    is_shaped: [bool; DOUBLES],
    is_bent: [bool; DOUBLES],
    bodies: Vec<LaneBody>,
    rows: Vec<LaneRow>,
    /// λ of each row.
    forces: Vec<Quad>,
    /// Of plain linkages ([`joint_rows`]); none of others.
    joints: Vec<LaneJoint>,
    couplings: Vec<Coupling>,
    /// Where in the step directions are taken.
    part: Quad,
    // Of each of its linkages, see there:
    locks: usize,
    blocks: Vec<u32>,
    is_exact: bool,
    factors: Option<Factors<Quad>>,
    entries: Vec<Entry>,
    above: Vec<Quad>,
    diagonal: Vec<Quad>,
    inverses: Vec<Quad>,
    missing: Vec<Quad>,
    targets: Vec<[Quad; 6]>,
    /// How far bodies moved in the last round at most, m; how much they have turned since rows were
    /// made, rad; the largest force, N or N·m.
    stirred: Quad,
    bend: Quad,
    largest: Quad,
}

/// What linkages of a team have in common: which bodies move, the ends of rows, how many are locks,
/// where joints begin, and which joints they are if they are factorised.
type Likeness = (
    Vec<bool>,
    Vec<[u32; 2]>,
    usize,
    Vec<u32>,
    Option<Vec<Option<u8>>>,
);

fn likeness<S: Space>(bodies: &Bodies<S>, linkage: &Linkage<S>) -> Likeness {
    let moves = linkage
        .bodies
        .iter()
        .map(|&k| bodies.is_dynamic(k as usize));
    let ends = linkage.rows.iter().map(|row| [row.a, row.b]);
    (
        moves.collect(),
        ends.collect(),
        linkage.locks,
        linkage.blocks.clone(),
        linkage
            .is_direct()
            .then(|| linkage.joints.iter().map(plain_kind).collect()),
    )
}

/// Puts linkages that are alike next to each other, and in teams.
pub(super) fn make_teams<S: Space>(
    bodies: &Bodies<S>,
    linkages: Vec<Linkage<S>>,
) -> (Vec<Linkage<S>>, Vec<ArticulationLanes>) {
    let mut kinds: BTreeMap<Likeness, usize> = BTreeMap::new();
    let mut by_kind: Vec<Vec<Linkage<S>>> = Vec::new();
    for linkage in linkages {
        let kind = *kinds
            .entry(likeness(bodies, &linkage))
            .or_insert(by_kind.len());
        if kind == by_kind.len() {
            by_kind.push(Vec::new());
        }
        by_kind[kind].push(linkage);
    }
    let (mut ordered, mut teams) = (Vec::new(), Vec::new());
    for mut alike in by_kind {
        for some in alike.chunks_mut(DOUBLES) {
            let start = teams
                .last()
                .map_or(0, |team: &ArticulationLanes| team.range.end);
            let team = ArticulationLanes::new(start, some);
            for linkage in some {
                linkage.is_plain = team.is_plain();
            }
            teams.push(team);
        }
        ordered.extend(alike);
    }
    (ordered, teams)
}

impl ArticulationLanes {
    /// A team of some linkages that are alike, the first of which is at `start`.
    fn new<S: Space>(start: usize, alike: &[Linkage<S>]) -> Self {
        let first = &alike[0];
        let rows = first.rows.iter().map(|row| LaneRow {
            a: row.a,
            b: row.b,
            ..LaneRow::default()
        });
        let count = first.bodies.len();
        let mut body = LaneBody::default();
        (0..DOUBLES).for_each(|lane| body.rest(lane));
        let joints = if first.is_direct() {
            LaneJoint::all(alike)
        } else {
            Vec::new()
        };
        let mut rows: Vec<LaneRow> = rows.collect();
        joints.iter().for_each(|joint| joint.point_rows(&mut rows));
        let factors = first.factors.as_ref().map(Factors::like);
        Self {
            range: start..start + alike.len(),
            is_active: [false; DOUBLES],
            is_shaped: [false; DOUBLES],
            is_bent: [false; DOUBLES],
            bodies: vec![body; count],
            forces: vec![Quad::default(); rows.len()],
            rows,
            couplings: Coupling::all(
                &joints,
                if joints.is_empty() {
                    &[]
                } else {
                    &first.entries
                },
            ),
            joints,
            part: Quad::default(),
            locks: first.locks,
            blocks: first.blocks.clone(),
            is_exact: first.is_exact(),
            factors,
            entries: first.entries.clone(),
            above: vec![Quad::default(); first.entries.len()],
            diagonal: vec![Quad::default(); first.locks],
            inverses: Vec::new(),
            missing: vec![Quad::default(); first.locks],
            targets: Vec::with_capacity(count),
            stirred: Quad::default(),
            bend: Quad::default(),
            largest: Quad::default(),
        }
    }

    /// Whether it is made of plain linkages.
    fn is_plain(&self) -> bool {
        !self.joints.is_empty()
    }

    /// Takes over where bodies are at the start of a substep. Those that touch nothing start from
    /// where they aim.
    pub(crate) fn begin<S: Space>(
        &mut self,
        linkages: &mut [Linkage<S>],
        ground: &Ground<'_, S>,
        (field, instructions): (&Field<'_>, Instructions),
    ) {
        let is_plain = self.is_plain();
        self.is_active = [false; DOUBLES];
        self.is_shaped = [false; DOUBLES];
        for (lane, linkage) in linkages.iter_mut().enumerate() {
            self.is_active[lane] = linkage.is_coupled();
            if !self.is_active[lane] {
                self.bodies.iter_mut().for_each(|body| body.rest(lane));
                continue;
            }
            if !linkage.is_direct() {
                linkage.forget_forces();
            }
            for (k, body) in self.bodies.iter_mut().enumerate() {
                body.begin(lane, linkage, k, (ground, field));
                if is_plain {
                    body.form(lane, linkage, k, ground);
                }
            }
            self.take_forces(lane, linkage);
        }
        if is_plain && self.is_active.contains(&true) {
            joint_rows::aim_rows::<S>(instructions, self, ground.law);
            for (linkage, part) in linkages.iter_mut().zip(self.part.0) {
                linkage.part = part;
            }
        }
    }

    /// Moves the linkages to where inertia, contacts and joints balance.
    pub(crate) fn settle<S: Space>(
        &mut self,
        linkages: &mut [Linkage<S>],
        ground: &Ground<'_, S>,
        (field, instructions): (&Field<'_>, Instructions),
    ) {
        if !self.is_active.contains(&true) {
            return;
        }
        for (lane, linkage) in linkages.iter_mut().enumerate() {
            let is_bent = !self.is_shaped[lane] || self.bend.0[lane] > tolerated_bend(linkage);
            self.is_bent[lane] = self.is_active[lane] && is_bent;
            if self.is_bent[lane] && !self.is_plain() {
                self.shape(lane, linkage, ground);
            }
        }
        if self.is_plain() && self.is_bent.contains(&true) {
            joint_rows::shape_rows::<S>(instructions, self, ground.law);
            for (is_shaped, is_bent) in self.is_shaped.iter_mut().zip(self.is_bent) {
                *is_shaped |= is_bent;
            }
        }
        let noticeable = ground.law.h * NOTICEABLE_SPEED;
        kernel::settle::<S>(instructions, self, field, noticeable);
        for (lane, linkage) in linkages.iter_mut().enumerate() {
            if self.is_active[lane] && linkage.may_tighten(self.largest.0[lane]) {
                self.hand_back(lane, linkage);
                if linkage.tighten(ground.bodies, ground.law.h) {
                    self.is_shaped[lane] = false;
                }
                self.part.0[lane] = linkage.part;
            }
        }
    }

    /// Makes a linkage's rows for its present displacements.
    fn shape<S: Space>(&mut self, lane: usize, linkage: &mut Linkage<S>, ground: &Ground<'_, S>) {
        // Before the first time forces are those that are known.
        if std::mem::replace(&mut self.is_shaped[lane], true) {
            self.hand_back(lane, linkage);
        }
        for (body, x) in self.bodies.iter_mut().zip(&mut linkage.x) {
            *x = motion_of(&body.x, lane);
            for axis in 0..3 {
                body.made_for[axis].0[lane] = body.x[3 + axis].0[lane];
            }
        }
        linkage.shape_rows();
        linkage.weigh(ground, ground.law.h);
        for (row, link) in self.rows.iter_mut().zip(&linkage.rows) {
            put_numbers(&mut row.n[..S::DIM], lane, link.n);
            put_numbers(&mut row.j_a[..S::SPIN_DIM], lane, link.j_a);
            put_numbers(&mut row.j_b[..S::SPIN_DIM], lane, link.j_b);
            row.missing.0[lane] = link.missing;
            row.gives.0[lane] = link.gives;
            row.lower.0[lane] = link.lower;
            row.upper.0[lane] = link.upper;
        }
        self.take_forces(lane, linkage);
        for (k, body) in self.bodies.iter_mut().enumerate() {
            if ground.bodies.is_dynamic(linkage.bodies[k] as usize) {
                body.resist(lane, linkage, k, ground);
            }
        }
    }

    /// Takes over the forces that a linkage knows.
    fn take_forces<S: Space>(&mut self, lane: usize, linkage: &Linkage<S>) {
        for (force, known) in self.forces.iter_mut().zip(&linkage.forces) {
            force.0[lane] = *known;
        }
    }

    /// Tells a linkage the forces that were found.
    fn hand_back<S: Space>(&self, lane: usize, linkage: &mut Linkage<S>) {
        for (force, known) in self.forces.iter().zip(&mut linkage.forces) {
            *known = force.0[lane];
        }
    }

    /// Calls `f` with the bodies, n, j_a, j_b and the force of every row of linkages that touch
    /// something.
    pub(super) fn for_each_force<S: Space>(
        &self,
        linkages: &[Linkage<S>],
        f: &mut impl FnMut([usize; 2], S::Vector, [S::Spin; 2], f64),
    ) {
        for (lane, linkage) in linkages.iter().enumerate() {
            if linkage.is_coupled() {
                for (row, force) in self.rows.iter().zip(&self.forces) {
                    let ends = [row.a, row.b].map(|k| linkage.bodies[k as usize] as usize);
                    let spins = [&row.j_a, &row.j_b].map(|j| numbers_of(&j[..S::SPIN_DIM], lane));
                    let n = numbers_of(&row.n[..S::DIM], lane);
                    f(ends, n, spins, force.0[lane]);
                }
            }
        }
    }

    /// Ends a substep; `carries_on` if another one follows.
    pub(crate) fn finish<S: Space>(
        &self,
        linkages: &mut [Linkage<S>],
        field: &Field<'_>,
        carries_on: bool,
    ) {
        for (lane, linkage) in linkages.iter_mut().enumerate() {
            if self.is_active[lane] {
                self.hand_back(lane, linkage);
                if carries_on {
                    linkage.carry(field);
                }
            }
        }
    }
}

/// A vector or spin of one lane.
fn numbers_of<V: Components>(places: &[Quad], lane: usize) -> V {
    let places = places.iter().enumerate();
    places.fold(V::default(), |v, (axis, place)| {
        v.with_component(axis, place.0[lane])
    })
}

/// Turn beyond which rows are made again, rad.
fn tolerated_bend<S: Space>(linkage: &Linkage<S>) -> f64 {
    if linkage.part > TAUT_PART {
        TAUT_BENT
    } else {
        BENT
    }
}

fn put_numbers<V: Components>(places: &mut [Quad], lane: usize, vector: V) {
    for (axis, place) in places.iter_mut().enumerate() {
        place.0[lane] = vector.component(axis);
    }
}

fn put_motion<S: Space>(places: &mut [Quad; 6], lane: usize, motion: &Motion<S>) {
    put_numbers(&mut places[..S::DIM], lane, motion.linear);
    put_numbers(&mut places[3..3 + S::SPIN_DIM], lane, motion.spin);
}

fn motion_of<S: Space>(places: &[Quad; 6], lane: usize) -> Motion<S> {
    Motion {
        linear: numbers_of(&places[..S::DIM], lane),
        spin: numbers_of(&places[3..3 + S::SPIN_DIM], lane),
    }
}
