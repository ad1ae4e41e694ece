//! Linear systems with A + D: what the strong solvers stand on.
//!
//! Second-order methods and ADMM all come down to systems with the matrix $A + D$, where D is
//! symmetric positive definite with one DIM × DIM block for each contact, and changes while A
//! stays. There are two ways to factorise it, and [`ShiftedDelassus`] takes the one that fits:
//!
//! * **Contact space**, where the problem gives A itself: sparse Cholesky of $A + D$, scaled to
//!   a unit diagonal. A is singular in any pile with more contact points than it needs; D is
//!   what makes the sum definite.
//! * **Body space**, where the problem has bodies. Write $M^{-1} = C C^T$ (C: square roots of
//!   inverse masses and a Cholesky factor of each inverse inertia) and $B = J C$. By Woodbury's
//!   identity
//!
//! $$ (A + D)^{-1} = D^{-1} - D^{-1} B\,\bigl(I + B^T D^{-1} B\bigr)^{-1} B^T D^{-1} , $$
//!
//!   whose matrix has DIM + SPIN_DIM unknowns for each moving body, however many points it
//!   touches at, and no eigenvalue below 1. Coordinates that nothing can move (fixed bodies,
//!   locked axes, spins of particles) have a zero column in C and are left out.
//!
//! Order and symbolic factorisation are found once for a problem; [`ShiftedDelassus::refactor`]
//! takes new blocks D.
//!
//! Source: W. W. Hager, *Updating the inverse of a matrix*, SIAM Review 31 (1989).

use crate::contact::problem::{ContactProblem, Response, Side, Velocities};
use crate::geometry::Space;
use crate::math::algebra::{Components, Linear};
use crate::math::block_cholesky::{BlockCholesky, BlockPlace, FactorError, PivotFloor};
use crate::model::body::Motion;

/// A block of D with its inverse: the caller knows both better than rounding would find one from
/// the other.
#[derive(Clone, Copy, Debug)]
pub struct Shift<S: Space> {
    /// D_ii in 1/kg, local coordinates, symmetric positive definite.
    pub block: S::Matrix,
    /// Its inverse, kg.
    pub inverse: S::Matrix,
}

impl<S: Space> Shift<S> {
    /// The same shift along every axis, 1/kg; more than 0.
    #[must_use]
    pub fn uniform(shift: f64) -> Self {
        let diagonal = |value: f64| S::matrix(|k| S::Vector::default().with_component(k, value));
        Self {
            block: diagonal(shift),
            inverse: diagonal(1.0 / shift),
        }
    }
}

/// A factorisation of A + D for one problem, see the [module documentation](self).
#[derive(Debug)]
pub struct ShiftedDelassus<S: Space> {
    shifts: Vec<Shift<S>>,
    space: Factorised<S>,
}

#[derive(Debug)]
enum Factorised<S: Space> {
    Contacts(ContactSpace),
    Bodies(BodySpace<S>),
}

impl<S: Space> ShiftedDelassus<S> {
    /// Analyses the pattern of a problem; [`Self::refactor`] must follow before solving.
    pub fn new(problem: &ContactProblem<S>) -> Result<Self, FactorError> {
        let space = match problem.delassus {
            Some(_) => Factorised::Contacts(ContactSpace::new(problem)?),
            None => Factorised::Bodies(BodySpace::new(problem)?),
        };
        Ok(Self {
            shifts: Vec::new(),
            space,
        })
    }

    /// Factorises A + D for these blocks D, one for each contact of the same problem.
    pub fn refactor(
        &mut self,
        problem: &ContactProblem<S>,
        shifts: &[Shift<S>],
    ) -> Result<(), FactorError> {
        self.shifts.clear();
        self.shifts.extend_from_slice(shifts);
        match &mut self.space {
            Factorised::Contacts(contacts) => contacts.refactor(problem, shifts),
            Factorised::Bodies(bodies) => bodies.refactor(shifts),
        }
    }

    /// x = (A + D)⁻¹ b.
    pub fn solve(&mut self, b: &[S::Vector], x: &mut [S::Vector]) {
        match &mut self.space {
            Factorised::Contacts(contacts) => contacts.solve::<S>(b, x),
            Factorised::Bodies(bodies) => bodies.solve(&self.shifts, b, x),
        }
    }

    /// The number of unknowns of the factorised matrix.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        match &self.space {
            Factorised::Contacts(contacts) => contacts.matrix.len(),
            Factorised::Bodies(bodies) => bodies.matrix.len(),
        }
    }
}

/// A + D itself, scaled to a unit diagonal.
#[derive(Debug)]
struct ContactSpace {
    matrix: BlockCholesky,
    /// Places of the upper blocks, in the order of the problem's blocks.
    places: Vec<BlockPlace>,
    /// 1/√diagonal.
    scale: Vec<f64>,
    work: Vec<f64>,
}

impl ContactSpace {
    fn new<S: Space>(problem: &ContactProblem<S>) -> Result<Self, FactorError> {
        let contacts = problem.rows.len();
        let mut couples = Vec::new();
        each_upper_block(problem, |row, column, _| {
            if row < column {
                couples.push((row as u32, column as u32));
            }
        });
        let matrix = BlockCholesky::new(&vec![S::DIM as u32; contacts], couples)?;
        let mut places = Vec::new();
        each_upper_block(problem, |row, column, _| {
            places.extend(matrix.place(row as u32, column as u32));
        });
        let unknowns = matrix.len();
        Ok(Self {
            matrix,
            places,
            scale: vec![1.0; unknowns],
            work: vec![0.0; unknowns],
        })
    }

    fn refactor<S: Space>(
        &mut self,
        problem: &ContactProblem<S>,
        shifts: &[Shift<S>],
    ) -> Result<(), FactorError> {
        self.matrix.clear();
        let mut places = self.places.iter();
        let matrix = &mut self.matrix;
        each_upper_block(problem, |_, _, block| {
            if let Some(&place) = places.next() {
                add_block::<S>(matrix, place, block);
            }
        });
        for (contact, shift) in shifts.iter().enumerate() {
            if let Some(place) = matrix.place(contact as u32, contact as u32) {
                add_block::<S>(matrix, place, &shift.block);
            }
        }
        for (unknown, scale) in self.scale.iter_mut().enumerate() {
            let diagonal = *matrix.diagonal_mut(unknown);
            if !(diagonal.is_finite() && diagonal > 0.0) {
                return Err(FactorError::NotFinite);
            }
            *scale = 1.0 / diagonal.sqrt();
        }
        matrix.scale(&self.scale);
        // With a unit diagonal pivots lie in (0, 1]; below the threshold they are rounding.
        matrix.factorize(PivotFloor {
            threshold: 1e-14,
            value: 1e-7,
        })
    }

    fn solve<S: Space>(&mut self, b: &[S::Vector], x: &mut [S::Vector]) {
        for (k, value) in self.work.iter_mut().enumerate() {
            *value = self.scale[k] * b[k / S::DIM].component(k % S::DIM);
        }
        self.matrix.solve_in_place(&mut self.work);
        for (contact, x) in x.iter_mut().enumerate() {
            for axis in 0..S::DIM {
                let k = S::DIM * contact + axis;
                *x = x.with_component(axis, self.scale[k] * self.work[k]);
            }
        }
    }
}

/// Calls `visit(row, column, block)` for the blocks of (A + Aᵀ)/2 with row ≤ column.
///
/// Problems from elsewhere may be symmetric to single precision only; one triangle of such a
/// matrix, mirrored, need not be positive semidefinite, while the mean is to rounding.
fn each_upper_block<S: Space>(
    problem: &ContactProblem<S>,
    mut visit: impl FnMut(usize, usize, &S::Matrix),
) {
    let Some(delassus) = &problem.delassus else {
        return;
    };
    let unit = |k: usize| S::Vector::default().with_component(k, 1.0);
    for row in 0..problem.rows.len() {
        for (column, block) in delassus.row(row).filter(|(column, _)| row <= *column) {
            let range = delassus.starts[column] as usize..delassus.starts[column + 1] as usize;
            let place = delassus.columns[range.clone()].binary_search(&(row as u32));
            let mirror = place.map_or(block, |k| &delassus.blocks[range.start + k]);
            let mean = S::matrix(|k| {
                // Column k of the mirror's transpose is the mirror's row k.
                (S::column(block, k) + S::to_local(mirror, unit(k))) * 0.5
            });
            visit(row, column, &mean);
        }
    }
}

fn add_block<S: Space>(matrix: &mut BlockCholesky, place: BlockPlace, block: &S::Matrix) {
    for j in 0..S::DIM {
        let entries = S::column(block, j).to_array3();
        matrix.add_to_column(place, j, &entries[..S::DIM]);
    }
}

/// I + Bᵀ D⁻¹ B, a node for each body that contacts can move.
#[derive(Debug)]
struct BodySpace<S: Space> {
    matrix: BlockCholesky,
    /// Where each contact's touches start; one more entry than contacts.
    touch_starts: Vec<u32>,
    touches: Vec<Touch>,
    /// Columns of B, `Touch::width` for each touch.
    columns: Vec<S::Vector>,
    /// Places of the blocks of each contact's pairs of touches, in the order of assembly.
    places: Vec<BlockPlace>,
    work: Vec<f64>,
}

/// What a contact has to do with a body.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// First unknown of the body.
    unknown: u32,
    /// First of its columns of B.
    column: u32,
    /// How many there are.
    width: u32,
}

/// Most unknowns of a body.
const MOST: usize = 6;

impl<S: Space> BodySpace<S> {
    fn new(problem: &ContactProblem<S>) -> Result<Self, FactorError> {
        let roots: Vec<MassRoot<S>> = problem.responses.iter().map(MassRoot::new).collect();
        let node_of_body = number_nodes(problem, &roots);
        let moving = node_of_body.iter().zip(&roots).filter(|(n, _)| n.is_some());
        let sizes: Vec<u32> = moving.map(|(_, root)| root.width() as u32).collect();

        let mut touch_starts = vec![0_u32];
        let mut nodes = Vec::new();
        let mut touches = Vec::new();
        let mut columns = Vec::new();
        let mut couples = Vec::new();
        for row in 0..problem.rows.len() {
            let first = nodes.len();
            for (body, own) in columns_of_row(problem, row, &roots) {
                let Some(node) = node_of_body[body] else {
                    continue;
                };
                couples.extend(nodes[first..].iter().map(|&other| (other, node)));
                nodes.push(node);
                touches.push(Touch {
                    unknown: 0,
                    column: columns.len() as u32,
                    width: own.len() as u32,
                });
                columns.extend(own);
            }
            touch_starts.push(touches.len() as u32);
        }
        let matrix = BlockCholesky::new(&sizes, couples)?;
        for (touch, &node) in touches.iter_mut().zip(&nodes) {
            touch.unknown = matrix.start(node) as u32;
        }
        let mut places = Vec::new();
        for range in touch_starts.windows(2) {
            let nodes = &nodes[range[0] as usize..range[1] as usize];
            for (k, &column) in nodes.iter().enumerate() {
                for &row in &nodes[..=k] {
                    places.extend(matrix.place(row, column));
                }
            }
        }
        let work = vec![0.0; matrix.len()];
        Ok(Self {
            matrix,
            touch_starts,
            touches,
            columns,
            places,
            work,
        })
    }

    fn columns(&self, touch: &Touch) -> &[S::Vector] {
        &self.columns[touch.column as usize..(touch.column + touch.width) as usize]
    }

    fn refactor(&mut self, shifts: &[Shift<S>]) -> Result<(), FactorError> {
        self.matrix.clear();
        for unknown in 0..self.matrix.len() {
            *self.matrix.diagonal_mut(unknown) = 1.0;
        }
        let mut places = self.places.iter();
        for (contact, shift) in shifts.iter().enumerate() {
            let range =
                self.touch_starts[contact] as usize..self.touch_starts[contact + 1] as usize;
            let touches = &self.touches[range];
            for (k, of_column) in touches.iter().enumerate() {
                let columns =
                    &self.columns[of_column.column as usize..][..of_column.width as usize];
                let mut weighted = [S::Vector::default(); MOST];
                for (weighted, column) in weighted.iter_mut().zip(columns) {
                    *weighted = S::to_world(&shift.inverse, *column);
                }
                for of_row in &touches[..=k] {
                    let Some(&place) = places.next() else { break };
                    let rows = &self.columns[of_row.column as usize..][..of_row.width as usize];
                    for (j, weighted) in weighted[..columns.len()].iter().enumerate() {
                        let mut entries = [0.0; MOST];
                        for (entry, row) in entries.iter_mut().zip(rows) {
                            *entry = row.dot(*weighted);
                        }
                        self.matrix.add_to_column(place, j, &entries[..rows.len()]);
                    }
                }
            }
        }
        // I plus something semidefinite: no exact pivot is below 1.
        self.matrix.factorize(PivotFloor {
            threshold: 0.5,
            value: 1.0,
        })
    }

    fn solve(&mut self, shifts: &[Shift<S>], b: &[S::Vector], x: &mut [S::Vector]) {
        let mut work = std::mem::take(&mut self.work);
        work.fill(0.0);
        for (contact, (shift, &b)) in shifts.iter().zip(b).enumerate() {
            let weighted = S::to_world(&shift.inverse, b);
            x[contact] = weighted;
            for touch in self.touches_of(contact) {
                let unknowns = &mut work[touch.unknown as usize..];
                for (unknown, column) in unknowns.iter_mut().zip(self.columns(touch)) {
                    *unknown += column.dot(weighted);
                }
            }
        }
        self.matrix.solve_in_place(&mut work);
        for (contact, shift) in shifts.iter().enumerate() {
            let mut velocity = S::Vector::default();
            for touch in self.touches_of(contact) {
                let unknowns = &work[touch.unknown as usize..];
                for (unknown, column) in unknowns.iter().zip(self.columns(touch)) {
                    velocity += *column * *unknown;
                }
            }
            x[contact] -= S::to_world(&shift.inverse, velocity);
        }
        self.work = work;
    }

    fn touches_of(&self, contact: usize) -> &[Touch] {
        &self.touches[self.touch_starts[contact] as usize..self.touch_starts[contact + 1] as usize]
    }
}

/// C of one body: columns that span what impulses can do to it.
#[derive(Debug)]
struct MassRoot<S: Space> {
    /// √(1/m) along each axis that is free, with the axis.
    linear: Vec<(usize, f64)>,
    /// Columns of a Cholesky factor of the inverse inertia, without zero columns.
    spin: Vec<S::Spin>,
}

impl<S: Space> MassRoot<S> {
    fn new(response: &Response<S>) -> Self {
        let linear = (0..S::DIM)
            .map(|axis| (axis, response.inv_mass.component(axis).sqrt()))
            .filter(|(_, root)| *root > 0.0)
            .collect();
        let unit = |k: usize| S::Spin::default().with_component(k, 1.0);
        let mut rest: Vec<S::Spin> = (0..S::SPIN_DIM)
            .map(|k| S::apply_inertia(&response.inv_inertia, unit(k)))
            .collect();
        let mut spin = Vec::new();
        let largest = (0..S::SPIN_DIM).fold(0.0, |l: f64, k| l.max(rest[k].component(k)));
        for k in 0..S::SPIN_DIM {
            let pivot = rest[k].component(k);
            // Of a semidefinite matrix, a zero pivot has a zero column.
            if pivot > 1e-14 * largest {
                let column = rest[k] * (1.0 / pivot.sqrt());
                for (j, rest) in rest.iter_mut().enumerate() {
                    *rest -= column * column.component(j);
                }
                spin.push(column);
            }
        }
        Self { linear, spin }
    }

    fn width(&self) -> usize {
        self.linear.len() + self.spin.len()
    }
}

/// Numbers the bodies that some contact can move, in their order.
fn number_nodes<S: Space>(problem: &ContactProblem<S>, roots: &[MassRoot<S>]) -> Vec<Option<u32>> {
    let mut touched = vec![false; roots.len()];
    for row in &problem.rows {
        for side in [&row.a, &row.b] {
            each_body(side, |body, _, _| touched[body] = roots[body].width() > 0);
        }
    }
    let mut next = 0;
    let number = |touched: bool| {
        touched.then(|| {
            next += 1;
            next - 1
        })
    };
    touched.into_iter().map(number).collect()
}

/// Rows of B = J C of one contact, body by body in rising order: what each unit of a body's
/// unknowns does to the contact's velocity. A body named twice is summed.
fn columns_of_row<S: Space>(
    problem: &ContactProblem<S>,
    row: usize,
    roots: &[MassRoot<S>],
) -> Vec<(usize, Vec<S::Vector>)> {
    let row = &problem.rows[row];
    let mut found: Vec<(usize, Vec<S::Vector>)> = Vec::with_capacity(2);
    for (side, sign) in [(&row.a, -1.0), (&row.b, 1.0)] {
        each_body(side, |body, weight, arm| {
            let root = &roots[body];
            let unit = |axis: usize, size: f64| S::Vector::default().with_component(axis, size);
            let linear = root.linear.iter().map(|&(axis, size)| unit(axis, size));
            let spin = root.spin.iter().map(|&spin| match arm {
                Some(arm) => S::spin_cross(spin, arm),
                None => S::Vector::default(),
            });
            let columns = linear
                .chain(spin)
                .map(|world| S::to_local(&row.basis, world * (sign * weight)));
            match found.iter_mut().find(|(other, _)| *other == body) {
                Some((_, sum)) => sum.iter_mut().zip(columns).for_each(|(s, c)| *s += c),
                None => found.push((body, columns.collect())),
            }
        });
    }
    found.sort_unstable_by_key(|(body, _)| *body);
    found
}

/// Calls `visit(body, weight, arm)` for the bodies that an impulse on a side acts on; only a
/// rigid body has an arm.
fn each_body<S: Space>(side: &Side<S>, mut visit: impl FnMut(usize, f64, Option<S::Vector>)) {
    match *side {
        Side::Fixed => {}
        Side::Particle { body } => visit(body as usize, 1.0, None),
        Side::Rigid { body, arm } => visit(body as usize, 1.0, Some(arm)),
        Side::Nodes { bodies, weights } => {
            for (&body, weight) in bodies.iter().zip(weights).filter(|(_, w)| *w != 0.0) {
                visit(body as usize, weight, None);
            }
        }
    }
}

/// r ↦ A r without building A, with room for the velocities on the way.
#[derive(Debug)]
pub(crate) struct Action<S: Space> {
    velocities: Velocities<S>,
}

impl<S: Space> Action<S> {
    pub(crate) fn new(problem: &ContactProblem<S>) -> Self {
        Self {
            velocities: problem.free_velocities(),
        }
    }

    /// out = A r, m/s.
    pub(crate) fn apply(
        &mut self,
        problem: &ContactProblem<S>,
        r: &[S::Vector],
        out: &mut [S::Vector],
    ) {
        self.velocities.motion.fill(Motion::default());
        self.velocities.local.fill(S::Vector::default());
        for (row, &r) in r.iter().enumerate() {
            problem.apply(row, r, &mut self.velocities);
        }
        for (row, out) in out.iter_mut().enumerate() {
            *out = problem.velocity(row, &self.velocities);
        }
    }
}
