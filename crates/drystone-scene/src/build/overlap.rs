//! Bodies that overlap at the start.
//!
//! Two bodies at the same pose that overlap deeply are a mistake, and an error; that they touch is
//! none, since other programs write meshes where they stand and leave all poses alone. Any other
//! deep overlap is allowed, because the engine pushes bodies apart at a bounded speed, but it is
//! rarely meant and is told as a [`Warning`].

use std::fmt;
use std::ops::ControlFlow;

use drystone::model::range;
use drystone::{Components, Geometry, Linear, Pose, World};

use super::dimension::Dimension;
use crate::error::Flaw;
use crate::path::FieldPath;

/// The most warnings that are told one by one.
const MOST_TOLD: usize = 10;

/// An overlap is deep from this part of the thinner body's half thickness on.
const DEEP: f64 = 0.02;

/// Pairs that may overlap deeply at the start, and more of them for each body: a heap that was poured
/// by another program has a few for each, bodies that are all in one place have half the square.
const MOST_DEEP: usize = 100_000;
const MOST_DEEP_A_BODY: usize = 4;

/// Something in a scene that can be simulated but may not be meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// The warning, a complete sentence.
    pub message: String,
    /// Names of the two bodies it is about, where it is about two.
    pub bodies: Option<[String; 2]>,
    /// How deep they overlap, m.
    pub depth_m: f64,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What is remembered of each body while a scene is built.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Added {
    /// The scene's entry it comes from.
    pub(super) entry: usize,
    /// Half of its smallest extent, m; infinite where it has none.
    pub(super) thickness: f64,
}

impl Added {
    /// A body of an entry, with this shape at this pose.
    pub(super) fn new<S: Dimension>(entry: usize, shape: &S::Shape, pose: &Pose<S>) -> Self {
        let extent = shape.bounds(pose).map(|b| (b.upper - b.lower) * 0.5);
        let smallest = |extent: S::Vector| {
            let sides = (0..S::DIM).map(|axis| extent.component(axis));
            sides
                .filter(|&side| side > 0.0)
                .fold(f64::INFINITY, f64::min)
        };
        Self {
            entry,
            thickness: extent.map_or(f64::INFINITY, smallest),
        }
    }
}

/// Looks at all pairs that touch at the start; `added` has the world's bodies in order.
pub(super) fn check<S: Dimension>(world: &World<S>, added: &[Added]) -> Result<Vec<Warning>, Flaw> {
    let slop = world.settings().contact.slop;
    let thickness = |k: usize| added.get(k).copied().unwrap_or_default().thickness;
    let most = MOST_DEEP + MOST_DEEP_A_BODY * world.bodies().len();
    let mut deep: Vec<((usize, usize), f64)> = Vec::new();
    let flaw = world.for_each_overlap(|a, b, depth| {
        if depth <= slop.max(DEEP * thickness(a).min(thickness(b))) {
            return ControlFlow::Continue(());
        }
        deep.push(((a, b), depth));
        let entry = added.get(b).copied().unwrap_or_default().entry;
        let path = FieldPath::default().key("bodies").index(entry);
        let (name_a, name_b) = (world.bodies().name(a), world.bodies().name(b));
        if is_same_pose(world, a, b) {
            let problem = format!("bodies `{name_a}` and `{name_b}` are at the same pose");
            return ControlFlow::Break(Flaw::new(path, problem).help("move or remove one of them"));
        }
        if deep.len() > most {
            return ControlFlow::Break(too_many(path, [name_a, name_b], most));
        }
        ControlFlow::Continue(())
    });
    if let Some(flaw) = flaw {
        return Err(flaw);
    }
    // Deepest first; equals stay in the order of the bodies.
    deep.sort_by(|x, y| y.1.total_cmp(&x.1));
    Ok(tell(world, &deep))
}

fn too_many(path: FieldPath, [a, b]: [&str; 2], most: usize) -> Flaw {
    let problem = format!(
        "more than {most} pairs of bodies overlap deeply at the start, the most that a scene of so \
         many bodies may have ({MOST_DEEP} and {MOST_DEEP_A_BODY} a body); the last one looked at is \
         `{a}` and `{b}`"
    );
    Flaw::new(path, problem).help("move the bodies apart, or let them not meet: `meets`, `groups`")
}

/// Refuses masses and sizes of bodies that move whose ratio double precision can't tell.
pub(super) fn check_ratios<S: Dimension>(world: &World<S>, added: &[Added]) -> Result<(), Flaw> {
    let bodies = world.bodies();
    let moving = || (0..bodies.len()).filter(|&k| bodies.is_dynamic(k));
    let masses = moving().map(|k| (k, bodies.mass(k)));
    let sizes = moving().map(|k| (k, bodies.size(k)));
    let apart = [
        (
            "kg",
            "mass",
            range::MASS_RATIO,
            range::too_far_apart(masses, range::MASS_RATIO),
        ),
        (
            "m",
            "size",
            range::SIZE_RATIO,
            range::too_far_apart(sizes, range::SIZE_RATIO),
        ),
    ];
    for (unit, what, most, ends) in apart {
        if let Some([(a, greatest), (b, least)]) = ends {
            let entry = added.get(b).copied().unwrap_or_default().entry;
            let path = FieldPath::default().key("bodies").index(entry);
            let (a, b) = (bodies.name(a), bodies.name(b));
            let problem = format!(
                "the {what} of `{a}`, {greatest:e} {unit}, is more than {most:e} times that of `{b}`, \
                 {least:e} {unit}: more than double precision can tell apart"
            );
            return Err(Flaw::new(path, problem));
        }
    }
    Ok(())
}

fn is_same_pose<S: Dimension>(world: &World<S>, a: usize, b: usize) -> bool {
    let (a, b) = (world.bodies().origin(a), world.bodies().origin(b));
    let scale = 1.0 + a.position.length();
    (a.position - b.position).length() <= 1e-9 * scale
        && S::turn_between(a.rotation, b.rotation).length() <= 1e-9
}

fn tell<S: Dimension>(world: &World<S>, deep: &[((usize, usize), f64)]) -> Vec<Warning> {
    let speed = world.settings().contact.repair_speed;
    let mut warnings: Vec<_> = deep
        .iter()
        .take(MOST_TOLD)
        .map(|&((a, b), depth_m)| {
            let [a, b] = [a, b].map(|k| world.bodies().name(k).to_owned());
            Warning {
                message: format!(
                    "bodies `{a}` and `{b}` overlap by {depth_m:.3} m at the start; \
                     they will be pushed apart at no more than {speed} m/s"
                ),
                bodies: Some([a, b]),
                depth_m,
            }
        })
        .collect();
    if let Some((_, depth_m)) = deep.get(MOST_TOLD) {
        let more = deep.len() - MOST_TOLD;
        warnings.push(Warning {
            message: format!("{more} more pairs overlap by up to {depth_m:.3} m at the start"),
            bodies: None,
            depth_m: *depth_m,
        });
    }
    warnings
}
