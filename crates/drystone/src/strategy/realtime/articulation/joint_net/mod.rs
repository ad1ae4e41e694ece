//! Nets of ball joints that touch nothing, eight joints in SIMD lanes.
//!
//! A net has too many loops to be factorised. It moves in many short **substeps** of h seconds
//! instead, with one sweep over its joints in each. With x the displacements of bodies since the
//! start of the stride, inertia and forces take them to
//!
//! $$ x' = x + (x - x^-)\,\delta + h^2\delta\,a , $$
//!
//! x⁻ being where they were a substep ago, δ what damping leaves, a what forces do. Then every joint
//! in turn moves its two bodies so far that it is closed, by an impulse (over h) that both feel:
//!
//! $$ g + u = 0, \quad u = l_b - l_a + \rho(\theta_b, r_b) - \rho(\theta_a, r_a), \qquad
//!    P = -K^{-1}(g + u) , $$
//!
//! where g is its gap at the start, $\rho(\theta, r) = \theta\times r + \tfrac12\theta\times(\theta
//! \times r)$ what a turn moves an arm by, and K what a unit impulse moves (of the stride's start: it
//! only has to be near). The impulse acts at the arms of the present x: with those of the start, what
//! swings fast under its load would swing ever more. A sweep that starts from
//! no force loses a little energy and makes none; what it leaves open shrinks with h², so short
//! substeps do more than many sweeps: under a load of n joints' weight a joint stays open by about
//! 2 n g h².
//!
//! Joints of one **colour** share no body that moves, so eight of them are done side by side, in
//! single precision: all numbers are small, since gaps are taken in double precision. Threads share
//! out the groups of every colour ([`stepper`]).

mod kernels;
mod stepper;

use std::ops::Range;

use super::linkage::JointRows;
use crate::geometry::Space;
use crate::math::simd::{Column, LANES};
use crate::model::body::Bodies;
use crate::model::joint::rows::{Coordinate, Role};

/// Where things are among the numbers of eight joints.
struct Layout<S>(std::marker::PhantomData<S>);

impl<S: Space> Layout<S> {
    /// From the centres of mass, m; A's, then B's.
    const ARM: usize = 0;
    /// g, m.
    const GAP: usize = 2 * S::DIM;
    /// Inverse inertia (xx, yy, zz, xy, xz, yz); A's, then B's.
    const INERTIA: usize = 3 * S::DIM;
    const INERTIA_SIZE: usize = S::SPIN_DIM * (S::SPIN_DIM + 1) / 2;
    /// Inverse mass along the axes; A's, then B's.
    const MASS: usize = Self::INERTIA + 2 * Self::INERTIA_SIZE;
    /// K⁻¹, lower triangle by rows.
    const INVERSE: usize = Self::MASS + 2 * S::DIM;
    /// Sum of P over all substeps of a stride.
    const PULL: usize = Self::INVERSE + S::DIM * (S::DIM + 1) / 2;
    const COUNT: usize = Self::PULL + S::DIM;
}

/// Eight joints of one colour.
#[derive(Clone, Debug)]
struct Group {
    /// Places in the columns of bodies; 0 for nothing.
    ends: [[u32; LANES]; 2],
    /// Places in the linkage's list of joints.
    joints: Vec<u32>,
}

/// A net as the kernels see it.
#[derive(Clone, Debug, Default)]
pub(super) struct JointNet {
    groups: Vec<Group>,
    /// Groups of each colour.
    colors: Vec<Range<usize>>,
    /// Of each group, see [`Layout`].
    numbers: Vec<Column>,
    /// Whose the columns of bodies are, from the second on: places in the linkage's list. What does
    /// not move has a column for each of its joints, so that no two joints of a colour share one.
    owners: Vec<u32>,
    // Of bodies; the first belongs to nothing.
    /// x and x⁻.
    x: Vec<Column>,
    before: Vec<Column>,
    /// δ and h² δ a.
    keep: Vec<Column>,
    push: Vec<Column>,
    /// Inverse mass, and inverse inertia (xx, yy, zz, xy, xz, yz).
    mass: Vec<Column>,
    inertia: Vec<Column>,
}

impl JointNet {
    /// Looks at a net; `None` unless all of its joints are ball joints.
    pub(super) fn new<S: Space>(
        bodies: &Bodies<S>,
        list: &[u32],
        joints: &[JointRows<S>],
    ) -> Option<Self> {
        let is_ball = |joint: &JointRows<S>| {
            let mut roles = joint.roles.iter();
            joint.roles.len() == S::DIM
                && roles.all(|role| matches!(role, (Coordinate::Linear(_), Role::Lock)))
        };
        if !joints.iter().all(is_ball) {
            return None;
        }
        let moves = |end: u32| bodies.is_dynamic(list[end as usize] as usize);
        let mut owners: Vec<u32> = (0..list.len() as u32).collect();
        let (mut groups, mut ranges) = (Vec::new(), Vec::new());
        for color in colors(joints, list.len(), moves) {
            let first = groups.len();
            for eight in color.chunks(LANES) {
                let mut ends = [[0; LANES]; 2];
                for (lane, &joint) in eight.iter().enumerate() {
                    for (side, end) in joints[joint as usize].ends.into_iter().enumerate() {
                        ends[side][lane] = end + 1;
                        if !moves(end) {
                            owners.push(end);
                            ends[side][lane] = owners.len() as u32;
                        }
                    }
                }
                let joints = eight.to_vec();
                groups.push(Group { ends, joints });
            }
            ranges.push(first..groups.len());
        }
        let empty = vec![Column::default(); owners.len() + 1];
        Some(Self {
            numbers: vec![Column::default(); groups.len() * Layout::<S>::COUNT],
            groups,
            colors: ranges,
            owners,
            x: empty.clone(),
            before: empty.clone(),
            keep: empty.clone(),
            push: empty.clone(),
            mass: empty.clone(),
            inertia: empty,
        })
    }
}

/// Joints of each colour: each gets the lowest that no joint before it has on a body they share.
fn colors<S: Space>(
    joints: &[JointRows<S>],
    bodies: usize,
    moves: impl Fn(u32) -> bool,
) -> Vec<Vec<u32>> {
    let mut colors: Vec<Vec<u32>> = Vec::new();
    let mut taken: Vec<Vec<bool>> = vec![Vec::new(); bodies];
    for (k, joint) in joints.iter().enumerate() {
        let is_taken = |color: usize| {
            let mut ends = joint.ends.iter();
            ends.any(|&end| taken[end as usize].get(color).copied().unwrap_or(false))
        };
        let free = (0..).find(|&color| !is_taken(color)).unwrap_or(0);
        for end in joint.ends.into_iter().filter(|&end| moves(end)) {
            let own = &mut taken[end as usize];
            own.resize(own.len().max(free + 1), false);
            own[free] = true;
        }
        if free == colors.len() {
            colors.push(Vec::new());
        }
        colors[free].push(k as u32);
    }
    colors
}
