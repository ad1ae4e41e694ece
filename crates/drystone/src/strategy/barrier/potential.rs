//! The incremental potential of a step: its value, its slope and its curvature.

use super::Barrier;
use super::contact_terms::{Friction, Term, Touch};
use super::coordinates::{Columns, Coordinates, MOST};
use super::spin_inertia::Spun;
use crate::contact::primitives::{Encounter, Primitives, Witness};
use crate::contact::rules::PairRules;
use crate::geometry::Space;
use crate::math::algebra::Components;
use crate::math::block_cholesky::{BlockCholesky, PivotFloor};
use crate::model::body::{Bodies, Motion};
use crate::model::deformable::element::{Curvature, Element, Local, MOST as MOST_OF_ELEMENT};
use crate::model::deformable::{Deformables, Soft};
use crate::model::material::Materials;
use glamx::{DMat3, DVec3};

/// By how much diagonals grow, in turn, where rounding has spoilt a pivot: contacts squeezed to
/// nothing are stiffer than masses by more digits than there are.
const HELP: [f64; 5] = [0.0, 1e-12, 1e-10, 1e-8, 1e-6];

/// Masses keep exact pivots positive.
const FLOOR: PivotFloor = PivotFloor {
    threshold: 0.0,
    value: 0.0,
};

/// Where everything is on the way through the step.
#[derive(Clone, Debug)]
pub(super) struct State<S: Space> {
    /// How far each body went since the start, m and rad.
    pub(super) way: Vec<Motion<S>>,
    pub(super) places: Vec<[f64; 3]>,
    pub(super) jacobians: Vec<DMat3>,
}

/// The incremental potential, times h²:
/// $\tfrac12(q-q^*)^TM(q-q^*) + h^2(\Psi + B + D) + \tfrac h2\,\Delta x^TD_0\Delta x$.
pub(super) struct Potential<'a, S: Space> {
    pub(super) bodies: &'a Bodies<S>,
    pub(super) deformables: &'a Deformables,
    pub(super) materials: &'a Materials,
    pub(super) rules: &'a PairRules<'a, S>,
    pub(super) primitives: &'a Primitives<S>,
    pub(super) options: &'a Barrier,
    pub(super) coordinates: Coordinates,
    pub(super) dt: f64,
    /// q*: how far bodies would go without contact and elasticity.
    pub(super) goal: Vec<Motion<S>>,
    /// How each unknown body resists turning, where that is not ½(θ − θ*)ᵀI(θ − θ*).
    pub(super) spun: Vec<Option<Spun>>,
    pub(super) start: State<S>,
    /// Damping of all elements at the start, one after the other, N·s/m.
    pub(super) damping: Vec<f64>,
    pub(super) frictions: Vec<Friction>,
}

impl<S: Space> Potential<'_, S> {
    pub(super) fn state(&self, mut way: Vec<Motion<S>>) -> State<S> {
        self.coordinates.carriers.carry(self.bodies, &mut way);
        State {
            places: self.primitives.places(self.bodies, &way),
            jacobians: self.coordinates.jacobians(&way),
            way,
        }
    }

    pub(super) fn witness(&self, encounter: &Encounter, state: &State<S>) -> Option<Witness> {
        self.primitives
            .witness(encounter, (self.bodies, &state.way), &state.places)
    }

    /// Damping of all elements at the start of the step.
    pub(super) fn damping_at_start(bodies: &Bodies<S>, deformables: &Deformables) -> Vec<f64> {
        let mut damping = Vec::new();
        let mut local = Local::zero();
        for soft in deformables.iter() {
            for element in &soft.elements {
                let n = element.nodes().len() * S::DIM;
                element.linearise(
                    S::DIM,
                    &soft.places(bodies, element),
                    Curvature::Projected,
                    &mut local,
                );
                damping.extend_from_slice(&local.damping[..n * n]);
            }
        }
        damping
    }

    /// Displacements and places of an element's nodes.
    fn nodes_at(
        &self,
        soft: &Soft,
        element: &Element,
        state: &State<S>,
    ) -> [[f64; MOST_OF_ELEMENT]; 2] {
        let mut x = soft.places(self.bodies, element);
        let mut moved = [0.0; MOST_OF_ELEMENT];
        for (k, &node) in element.nodes().iter().enumerate() {
            let way = state.way[soft.nodes[node as usize] as usize].linear;
            for axis in 0..S::DIM {
                moved[k * S::DIM + axis] = way.component(axis);
                x[k * S::DIM + axis] += way.component(axis);
            }
        }
        [moved, x]
    }

    /// The potential (times h²) with these pairs near each other; infinite where something meets.
    pub(super) fn energy(&self, near: &[Encounter], state: &State<S>) -> f64 {
        let square = self.dt * self.dt;
        let mut sum = 0.0;
        for (n, &k) in self.coordinates.bodies.iter().enumerate() {
            let k = k as usize;
            let size = self.coordinates.sizes[n] as usize;
            let off = self.off(n, k, state);
            let mass = self.coordinates.mass::<S>(n);
            let spun = &self.spun[n];
            let size = spun.map_or(size, |_| S::DIM);
            for i in 0..size {
                for j in 0..size {
                    sum += 0.5 * off[i] * mass[i][j] * off[j];
                }
            }
            sum += spun.map_or(0.0, |spun| spun.energy(turn_of(&state.way[k])));
        }
        sum += self.carried_energy(state);
        let mut at = 0;
        for soft in self.deformables.iter() {
            for element in &soft.elements {
                let n = element.nodes().len() * S::DIM;
                let [moved, x] = self.nodes_at(soft, element, state);
                sum += square * element.energy(S::DIM, &x);
                let damping = &self.damping[at..at + n * n];
                sum += 0.5
                    * self.dt
                    * (0..n)
                        .map(|i| moved[i] * row_dot(damping, n, i, &moved))
                        .sum::<f64>();
                at += n * n;
            }
        }
        for encounter in near {
            sum += square * self.barrier_energy(encounter, state);
            if !sum.is_finite() {
                return f64::INFINITY;
            }
        }
        for friction in &self.frictions {
            sum += square * self.friction_energy(friction, state);
        }
        sum
    }

    /// q − q* of an unknown body.
    fn off(&self, n: usize, k: usize, state: &State<S>) -> [f64; MOST] {
        let [now, goal] = [&state.way[k], &self.goal[k]].map(|m| self.coordinates.flat(n, m));
        let mut off = [0.0; MOST];
        for (i, off) in off.iter_mut().enumerate() {
            *off = now[i] - goal[i];
        }
        off
    }

    /// Newton's step at a state, while scripted bodies go `ahead`. `None` where it can't be found.
    pub(super) fn direction(
        &self,
        system: &mut Option<System>,
        state: &State<S>,
        touches: &[Touch],
        ahead: &[Motion<S>],
    ) -> Option<Vec<Motion<S>>> {
        let mut terms: Vec<Term> = touches
            .iter()
            .map(|t| self.barrier_term(t, state))
            .collect();
        terms.extend(self.frictions.iter().map(|f| self.friction_term(f, state)));
        terms.extend(self.carried_terms(state));
        let couples = self.couples(&terms);
        if system
            .as_ref()
            .is_none_or(|system| system.couples != couples)
        {
            let matrix = BlockCholesky::new(&self.coordinates.sizes, couples.clone()).ok()?;
            *system = Some(System { matrix, couples });
        }
        let matrix = &mut system.as_mut()?.matrix;
        matrix.clear();
        let mut slope = vec![0.0; matrix.len()];
        let mut scripted = vec![0.0; matrix.len()];
        self.add_masses(matrix, state, &mut slope);
        self.add_elements(matrix, state, ahead, (&mut slope, &mut scripted));
        for term in &terms {
            self.add_term(matrix, term, state, ahead, (&mut slope, &mut scripted));
        }
        let is_factorised = HELP.iter().any(|help| {
            for unknown in 0..matrix.len() {
                *matrix.diagonal_mut(unknown) *= 1.0 + help;
            }
            matrix.factorize(FLOOR).is_ok()
        });
        if !is_factorised {
            return None;
        }
        let mut step: Vec<f64> = slope.iter().zip(&scripted).map(|(g, s)| -g - s).collect();
        if !step.is_empty() {
            matrix.solve_in_place(&mut step);
        }
        let mut way = ahead.to_vec();
        for (n, &k) in self.coordinates.bodies.iter().enumerate() {
            let start = matrix.start(n as u32);
            let size = self.coordinates.sizes[n] as usize;
            way[k as usize] = self.coordinates.motion(n, &step[start..start + size]);
        }
        Some(way)
    }

    /// Pairs of unknown bodies that share an element or a contact, sorted.
    fn couples(&self, terms: &[Term]) -> Vec<(u32, u32)> {
        let mut couples = Vec::new();
        let unknown = |body: u32| self.coordinates.unknown[body as usize];
        let mut add = |list: &[u32]| {
            for (k, &a) in list.iter().enumerate() {
                for &b in &list[k + 1..] {
                    if let (Some(a), Some(b)) = (unknown(a), unknown(b))
                        && a != b
                    {
                        couples.push((a.min(b), a.max(b)));
                    }
                }
            }
        };
        let mut list = Vec::new();
        for soft in self.deformables.iter() {
            for element in &soft.elements {
                list.clear();
                list.extend(
                    element
                        .nodes()
                        .iter()
                        .map(|&node| soft.nodes[node as usize]),
                );
                add(&list);
            }
        }
        for term in terms {
            list.clear();
            list.extend(term.sides.iter().map(|(body, _)| *body));
            add(&list);
        }
        couples.sort_unstable();
        couples.dedup();
        couples
    }

    fn add_masses(&self, matrix: &mut BlockCholesky, state: &State<S>, slope: &mut [f64]) {
        for (n, &k) in self.coordinates.bodies.iter().enumerate() {
            let size = self.coordinates.sizes[n] as usize;
            let mut mass = self.coordinates.mass::<S>(n);
            let off = self.off(n, k as usize, state);
            let start = matrix.start(n as u32);
            let Some(place) = matrix.place(n as u32, n as u32) else {
                continue;
            };
            let mut own = [0.0; MOST];
            for (own, row) in own.iter_mut().zip(&mass) {
                *own = row.iter().zip(&off).map(|(m, q)| m * q).sum();
            }
            if let Some(spun) = &self.spun[n] {
                // Along each component of θ the body turns by a column of the Jacobian.
                let turn = turn_of(&state.way[k as usize]);
                let jacobian = state.jacobians[k as usize].transpose();
                let slope = jacobian * spun.slope(turn);
                let curvature = jacobian * spun.curvature(turn) * jacobian.transpose();
                for i in 0..S::SPIN_DIM {
                    own[S::DIM + i] = slope[i];
                    for j in 0..S::SPIN_DIM {
                        mass[S::DIM + i][S::DIM + j] = curvature.col(j)[i];
                    }
                }
            }
            for (i, row) in mass.iter().enumerate().take(size) {
                // Symmetric: a row is a column.
                matrix.add_to_column(place, i, &row[..size]);
                slope[start + i] += own[i];
            }
        }
    }

    fn add_elements(
        &self,
        matrix: &mut BlockCholesky,
        state: &State<S>,
        ahead: &[Motion<S>],
        (slope, scripted): (&mut [f64], &mut [f64]),
    ) {
        let (dim, square) = (S::DIM, self.dt * self.dt);
        let mut local = Local::zero();
        let mut at = 0;
        for soft in self.deformables.iter() {
            for element in &soft.elements {
                let nodes = element.nodes();
                let n = nodes.len() * dim;
                let [moved, x] = self.nodes_at(soft, element, state);
                element.linearise(dim, &x, Curvature::Projected, &mut local);
                let damping = &self.damping[at..at + n * n];
                at += n * n;
                let entry = |i: usize, j: usize| {
                    square * local.stiffness[i * n + j] + self.dt * damping[i * n + j]
                };
                if nodes.iter().any(|&node| self.is_carried(soft, node)) {
                    let bodies = nodes.iter().map(|&node| soft.nodes[node as usize]);
                    let piece = self.piece(bodies.collect(), (&local, damping), &moved);
                    self.add_piece(matrix, &piece, state, ahead, (slope, scripted));
                    continue;
                }
                for (p, &row) in nodes.iter().enumerate() {
                    let Some(row) = self.coordinates.unknown[soft.nodes[row as usize] as usize]
                    else {
                        continue;
                    };
                    let start = matrix.start(row);
                    for i in 0..dim {
                        let at = p * dim + i;
                        slope[start + i] +=
                            square * local.gradient[at] + self.dt * row_dot(damping, n, at, &moved);
                    }
                    for (q, &column) in nodes.iter().enumerate() {
                        let body = soft.nodes[column as usize] as usize;
                        match self.coordinates.unknown[body] {
                            Some(column) if row <= column => {
                                let Some(place) = matrix.place(row, column) else {
                                    continue;
                                };
                                for j in 0..dim {
                                    let mut entries = [0.0; 3];
                                    for (i, value) in entries.iter_mut().enumerate().take(dim) {
                                        *value = entry(p * dim + i, q * dim + j);
                                    }
                                    matrix.add_to_column(place, j, &entries[..dim]);
                                }
                            }
                            Some(_) => {}
                            None => {
                                for i in 0..dim {
                                    for j in 0..dim {
                                        scripted[start + i] += entry(p * dim + i, q * dim + j)
                                            * ahead[body].linear.component(j);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn add_term(
        &self,
        matrix: &mut BlockCholesky,
        term: &Term,
        state: &State<S>,
        ahead: &[Motion<S>],
        (slope, scripted): (&mut [f64], &mut [f64]),
    ) {
        let square = self.dt * self.dt;
        let mut carried = DVec3::ZERO;
        for (body, columns) in &term.sides {
            self.add_scripted_way(*body, columns, ahead, &mut carried);
        }
        let carried = term.curvature * carried;
        for (a, columns_a) in &term.sides {
            let Some(row) = self.coordinates.unknown[*a as usize] else {
                continue;
            };
            let start = matrix.start(row);
            let size = self.coordinates.sizes[row as usize] as usize;
            for (i, column) in columns_a.iter().enumerate().take(size) {
                slope[start + i] += square * column.dot(term.slope);
                scripted[start + i] += square * column.dot(carried);
            }
            for (b, columns_b) in &term.sides {
                let Some(column) = self.coordinates.unknown[*b as usize] else {
                    continue;
                };
                if row > column {
                    continue;
                }
                let Some(place) = matrix.place(row, column) else {
                    continue;
                };
                let width = self.coordinates.sizes[column as usize] as usize;
                for (j, of_b) in columns_b.iter().enumerate().take(width) {
                    let pushed = term.curvature * *of_b * square;
                    let mut entries = [0.0; MOST];
                    for (i, of_a) in columns_a.iter().enumerate().take(size) {
                        entries[i] = of_a.dot(pushed);
                    }
                    matrix.add_to_column(place, j, &entries[..size]);
                }
            }
        }
        self.add_turning(matrix, term, state);
        for (v, force) in &term.extra {
            let vertex = &self.primitives.vertices[*v as usize];
            let Some(row) = self.coordinates.unknown[vertex.body as usize] else {
                continue;
            };
            let place = DVec3::from_array(state.places[*v as usize]);
            let jacobian = &state.jacobians[vertex.body as usize];
            let columns =
                self.coordinates
                    .columns(vertex.body, (self.bodies, &state.way), place, jacobian);
            let start = matrix.start(row);
            let size = self.coordinates.sizes[row as usize] as usize;
            for (i, column) in columns.iter().enumerate().take(size) {
                slope[start + i] += square * column.dot(*force);
            }
        }
    }

    /// Adds what the turning of a contact's normal stiffens.
    fn add_turning(&self, matrix: &mut BlockCholesky, term: &Term, state: &State<S>) {
        let Some(turning) = &term.turning else {
            return;
        };
        let square = self.dt * self.dt;
        let bodies: Vec<(Option<u32>, Columns)> = turning
            .vertices
            .iter()
            .map(|&v| {
                let vertex = &self.primitives.vertices[v as usize];
                let k = vertex.body as usize;
                let place = DVec3::from_array(state.places[v as usize]);
                let way = (self.bodies, &state.way[..]);
                let columns =
                    self.coordinates
                        .columns(vertex.body, way, place, &state.jacobians[k]);
                (self.coordinates.unknown[k], columns)
            })
            .collect();
        for (i, (row, columns_i)) in bodies.iter().enumerate() {
            for (j, (column, columns_j)) in bodies.iter().enumerate() {
                let (Some(row), Some(column)) = (*row, *column) else {
                    continue;
                };
                if row > column {
                    continue;
                }
                let Some(place) = matrix.place(row, column) else {
                    continue;
                };
                let size = self.coordinates.sizes[row as usize] as usize;
                let width = self.coordinates.sizes[column as usize] as usize;
                for (at, of_j) in columns_j.iter().enumerate().take(width) {
                    let pushed = turning.answer(i, j, *of_j) * square;
                    let mut entries = [0.0; MOST];
                    for (entry, of_i) in entries.iter_mut().zip(columns_i).take(size) {
                        *entry = of_i.dot(pushed);
                    }
                    matrix.add_to_column(place, at, &entries[..size]);
                }
            }
        }
    }

    /// Impulse of elastic and damping forces on each body in the step, N·s.
    pub(super) fn elastic_impulses(&self, state: &State<S>) -> Vec<S::Vector> {
        let mut impulses = vec![S::Vector::default(); self.bodies.len()];
        let mut local = Local::zero();
        let mut at = 0;
        for soft in self.deformables.iter() {
            for element in &soft.elements {
                let n = element.nodes().len() * S::DIM;
                let [moved, x] = self.nodes_at(soft, element, state);
                element.linearise(S::DIM, &x, Curvature::Projected, &mut local);
                let damping = &self.damping[at..at + n * n];
                at += n * n;
                for (p, &node) in element.nodes().iter().enumerate() {
                    let impulse = &mut impulses[soft.nodes[node as usize] as usize];
                    for axis in 0..S::DIM {
                        let row = p * S::DIM + axis;
                        let push = self.dt * local.gradient[row] + row_dot(damping, n, row, &moved);
                        *impulse = impulse.with_component(axis, impulse.component(axis) - push);
                    }
                }
            }
        }
        impulses
    }
}

/// By what a body turned, rad.
fn turn_of<S: Space>(way: &Motion<S>) -> DVec3 {
    DVec3::from_array(way.spin.to_array3())
}

/// The matrix of the last step of Newton's method, whose pattern may do again.
pub(super) struct System {
    matrix: BlockCholesky,
    couples: Vec<(u32, u32)>,
}

pub(super) fn row_dot(matrix: &[f64], n: usize, row: usize, x: &[f64]) -> f64 {
    matrix[row * n..(row + 1) * n]
        .iter()
        .zip(x)
        .map(|(a, b)| a * b)
        .sum()
}
