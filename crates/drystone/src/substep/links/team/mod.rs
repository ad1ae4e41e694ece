//! Linkages that touch something: blocks of the block descent, four side by side.
//!
//! Linkages with the same bodies, joints and rows (twenty ragdolls, say) are eliminated in the same
//! order, so that four of them, a **team**, take their numbers through the same operations at once
//! ([`kernel`]). A linkage without its like is a team of its own. Lanes never mix, and a lane in
//! which nothing changed would only compute what it has: whom a linkage is with changes no bit of
//! where it goes.
//!
//! In every round each body's contacts are summed up by the kernels of patches ([`crate::substep::grasp`]); H⁻¹,
//! the inverse of what resists its displacements, is made again where their springs are other ones,
//! and with it what forces along rows do and the factors of S: at rest once a step. Rows are made
//! again when bodies have turned since, for a chain that whips turns by a good part of a circle in
//! a step.

mod answers;
mod kernel;
mod plain;

use std::collections::BTreeMap;
use std::ops::Range;

use super::Ground;
use super::linkage::{BENT, Linkage};
use super::row::Entry;
use crate::body::{Bodies, Motion};
use crate::space::{Components, Space};
use crate::substep::columns::get;
use crate::substep::elimination::Factors;
use crate::substep::patch::Field;
use crate::substep::simd::{DOUBLES, Instructions, Quad};
use answers::ANSWER;
pub(crate) use answers::Resistance;
use plain::{Coupling, Form, IMMOVABLE, SYMMETRIC, TeamJoint, plain_kind};

/// Where directions are taken this late in a step ([`super`]), a linkage is taut, and its rows are
/// made again beyond this turn, rad. A bridge of twenty planks that is nearly straight goes up by
/// two centimetres to make up for joints that are open by a twentieth of a millimetre each: what
/// [`BENT`] leaves, so that it kicked what stood on it.
const TAUT_PART: f64 = 0.1;
const TAUT_BENT: f64 = 1e-4;
/// A linkage that would move slower than this if it were solved again in a round is not, m/s.
const NOTICEABLE_SPEED: f64 = 5e-4;
/// Numbers of the springs that hold a body: Σk, Σk r, Σk r rᵀ ([`crate::substep::reduced`]).
pub(crate) const SPRINGS: usize = 10;

/// The same body of four linkages: displacements are x, y, z, then turns.
#[derive(Clone, Debug, Default)]
struct TeamBody {
    /// Places in the body columns.
    places: [u32; DOUBLES],
    /// 1 where it is moved, else 0.
    moves: Quad,
    is_touched: [bool; DOUBLES],
    /// How far its farthest point is from its centre of mass, m.
    arm: Quad,
    /// Displacement in the substep, without contacts and joints, and what is worked on.
    x: [Quad; 6],
    aim: [Quad; 6],
    pushed: [Quad; 6],
    /// What joints pull at it with, N and N·m.
    load: [Quad; 6],
    /// Turn that rows were made for.
    made_for: [Quad; 3],
    /// Over h²: mass, inertia (xx, yy, zz, xy, xz, yz), and both with what known forces add.
    mass: Quad,
    bare: [Quad; 6],
    resists: [Quad; 3],
    inertia: [Quad; 6],
    springs: [Quad; SPRINGS],
    /// H⁻¹.
    answer: [Quad; ANSWER],
    /// Of plain linkages.
    form: Form,
}

/// The same row of four linkages: see [`super::row::LinkRow`].
#[derive(Clone, Debug, Default)]
struct TeamRow {
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
    force: Quad,
    diagonal: Quad,
}

impl TeamRow {
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
pub(crate) struct Team {
    /// Their places in the list.
    pub(crate) range: Range<usize>,
    /// Which of them contacts have a say in.
    is_active: [bool; DOUBLES],
    /// Whether rows have been made in this substep, and which were in this round.
    is_shaped: [bool; DOUBLES],
    is_bent: [bool; DOUBLES],
    bodies: Vec<TeamBody>,
    rows: Vec<TeamRow>,
    /// Of plain linkages ([`plain`]); none of others.
    joints: Vec<TeamJoint>,
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
) -> (Vec<Linkage<S>>, Vec<Team>) {
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
            let start = teams.last().map_or(0, |team: &Team| team.range.end);
            let team = Team::new(start, some);
            for linkage in some {
                linkage.is_plain = team.is_plain();
            }
            teams.push(team);
        }
        ordered.extend(alike);
    }
    (ordered, teams)
}

impl Team {
    /// A team of some linkages that are alike, the first of which is at `start`.
    fn new<S: Space>(start: usize, alike: &[Linkage<S>]) -> Self {
        let first = &alike[0];
        let rows = first.rows.iter().map(|row| TeamRow {
            a: row.a,
            b: row.b,
            ..TeamRow::default()
        });
        let count = first.bodies.len();
        let mut body = TeamBody::default();
        (0..DOUBLES).for_each(|lane| body.rest(lane));
        let joints = if first.is_direct() {
            TeamJoint::all(alike)
        } else {
            Vec::new()
        };
        let mut rows: Vec<TeamRow> = rows.collect();
        joints.iter().for_each(|joint| joint.point_rows(&mut rows));
        let factors = first.factors.as_ref().map(Factors::like);
        Self {
            range: start..start + alike.len(),
            is_active: [false; DOUBLES],
            is_shaped: [false; DOUBLES],
            is_bent: [false; DOUBLES],
            bodies: vec![body; count],
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
            for (row, link) in self.rows.iter_mut().zip(&linkage.rows) {
                row.force.0[lane] = link.force;
            }
        }
        if is_plain && self.is_active.contains(&true) {
            plain::aim_rows::<S>(instructions, self, ground.law);
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
            plain::shape_rows::<S>(instructions, self, ground.law);
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
            row.force.0[lane] = link.force;
        }
        for (k, body) in self.bodies.iter_mut().enumerate() {
            if ground.bodies.is_dynamic(linkage.bodies[k] as usize) {
                body.resist(lane, linkage, k, ground);
            }
        }
    }

    /// Tells a linkage the forces that were found.
    fn hand_back<S: Space>(&self, lane: usize, linkage: &mut Linkage<S>) {
        for (row, link) in self.rows.iter().zip(&mut linkage.rows) {
            link.force = row.force.0[lane];
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
                for row in &self.rows {
                    let ends = [row.a, row.b].map(|k| linkage.bodies[k as usize] as usize);
                    let spins = [&row.j_a, &row.j_b].map(|j| numbers_of(&j[..S::SPIN_DIM], lane));
                    let n = numbers_of(&row.n[..S::DIM], lane);
                    f(ends, n, spins, row.force.0[lane]);
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

impl TeamBody {
    /// Takes a body over at the start of a substep.
    fn begin<S: Space>(
        &mut self,
        lane: usize,
        linkage: &Linkage<S>,
        k: usize,
        (ground, field): (&Ground<'_, S>, &Field<'_>),
    ) {
        let body = linkage.bodies[k] as usize;
        let is_dynamic = ground.bodies.is_dynamic(body);
        self.places[lane] = body as u32 + 1;
        self.moves.0[lane] = f64::from(u8::from(is_dynamic));
        self.is_touched[lane] = is_dynamic && linkage.is_touched[k];
        let radius = ground.bodies.radius[body];
        self.arm.0[lane] = if radius.is_finite() { radius } else { 1.0 };
        let aim: Motion<S> = get(&field.aim.read(body + 1));
        let mut x: Motion<S> = get(&field.shift.read(body + 1));
        if is_dynamic && !linkage.is_touched[k] {
            let motion = &linkage.motion[k];
            x = Motion {
                linear: motion.linear * ground.law.h,
                spin: motion.spin * ground.law.h,
            };
        }
        put_motion(&mut self.x, lane, &x);
        put_motion(&mut self.aim, lane, &aim);
        if !self.is_touched[lane] {
            self.springs
                .iter_mut()
                .for_each(|spring| spring.0[lane] = 0.0);
        }
        if !is_dynamic {
            self.immobilise(lane);
        }
    }

    /// Takes over what of a body of a plain linkage does not change in a substep.
    fn form<S: Space>(
        &mut self,
        lane: usize,
        linkage: &Linkage<S>,
        k: usize,
        ground: &Ground<'_, S>,
    ) {
        let body = linkage.bodies[k] as usize;
        self.form
            .take(lane, &linkage.pose[k], (ground.bodies, body));
        if ground.bodies.is_dynamic(body) {
            self.resist_straight(lane, 0.0, (ground, body));
        }
    }

    /// Leaves out a body of a linkage that contacts have no say in.
    fn rest(&mut self, lane: usize) {
        self.moves.0[lane] = 0.0;
        self.is_touched[lane] = false;
        self.springs
            .iter_mut()
            .for_each(|spring| spring.0[lane] = 0.0);
        self.form.rest(lane);
        self.immobilise(lane);
    }

    /// Makes H one, so that it has an inverse; `moves` says that it moves nothing.
    fn immobilise(&mut self, lane: usize) {
        self.mass.0[lane] = 0.0;
        for (k, number) in self.inertia.iter_mut().enumerate() {
            number.0[lane] = f64::from(u8::from(k < 3));
        }
        self.resists.iter_mut().for_each(|mass| mass.0[lane] = 1.0);
        self.bare.iter_mut().for_each(|number| number.0[lane] = 0.0);
    }

    /// Writes down how a body resists displacements: mass, and what known forces add, N/m.
    fn resist_straight<S: Space>(
        &mut self,
        lane: usize,
        added: f64,
        (ground, body): (&Ground<'_, S>, usize),
    ) {
        let inertial = &ground.bodies.inertial[body];
        let mass = inertial.mass / (ground.law.h * ground.law.h);
        self.mass.0[lane] = mass;
        for (axis, resists) in self.resists.iter_mut().enumerate() {
            resists.0[lane] = if axis >= S::DIM {
                1.0
            } else if inertial.inv_mass.component(axis) > 0.0 {
                mass + added
            } else {
                IMMOVABLE
            };
        }
    }

    /// Writes down how a body resists: inertia and known forces.
    fn resist<S: Space>(
        &mut self,
        lane: usize,
        linkage: &Linkage<S>,
        k: usize,
        ground: &Ground<'_, S>,
    ) {
        let bodies = ground.bodies;
        let body = linkage.bodies[k] as usize;
        let per_square = 1.0 / (ground.law.h * ground.law.h);
        let inertial = &bodies.inertial[body];
        self.resist_straight(lane, linkage.stiffer[k].linear, (ground, body));
        let turns = bodies.turns(body);
        let is_free = |axis: usize| turns && inertial.free_spins.component(axis) > 0.0;
        let (bare, stiff) = (S::six(&linkage.bare[k]), S::six(&linkage.inertia[k]));
        for (at, [i, j]) in SYMMETRIC.into_iter().enumerate() {
            self.bare[at].0[lane] = bare[at] * per_square;
            self.inertia[at].0[lane] = match (j < S::SPIN_DIM, i == j) {
                (false, is_same) => f64::from(u8::from(is_same)),
                (true, _) if is_free(i) && is_free(j) => stiff[at] * per_square,
                (true, true) => IMMOVABLE,
                (true, false) => 0.0,
            };
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
