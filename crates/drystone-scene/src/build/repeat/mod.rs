//! Copies of a body: where each is, and which shape it has.

mod chance;
mod grid;
mod random;
mod ring;
mod stack;
mod wall;

use drystone::Pose;

use super::MAX_BODIES;
use super::body::Template;
use super::dimension::Dimension;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::{Repeat, Shape};

/// One copy of a body.
pub(super) struct Copy<S: Dimension> {
    /// Its number from 1; `None` if the body is not repeated.
    pub(super) number: Option<usize>,
    pub(super) pose: Pose<S>,
    pub(super) shape: S::Shape,
    /// What the shape was made of.
    pub(super) origin: Origin,
}

/// What the shape of a copy was made of.
pub(super) enum Origin {
    /// The body's shape of that number, all lengths times a factor if there is one.
    Listed(usize, Option<f64>),
    /// A shape that the scene does not list.
    Own(Shape),
}

/// All copies of a body, at most `room` of them.
pub(super) fn copies<S: Dimension>(
    template: &Template<'_, S>,
    room: u64,
) -> Result<Vec<Copy<S>>, Flaw> {
    let path = template.path.key("repeat");
    match &template.body.repeat {
        None => single(template),
        Some(Repeat::Grid(grid)) => {
            let path = path.key("grid");
            in_turn(template, grid::poses(template, grid, &path, room)?)
        }
        Some(Repeat::Ring(ring)) => {
            let path = path.key("ring");
            in_turn(template, ring::poses(template, ring, &path, room)?)
        }
        Some(Repeat::Stack(stack)) => stack::copies(template, stack, &path.key("stack"), room),
        Some(Repeat::Random(random)) => random::copies(template, random, &path.key("random"), room),
        Some(Repeat::Wall(wall)) => wall::copies(template, wall, &path.key("wall"), room),
    }
}

fn single<S: Dimension>(template: &Template<'_, S>) -> Result<Vec<Copy<S>>, Flaw> {
    let mut copies = in_turn(template, vec![template.pose])?;
    for copy in &mut copies {
        copy.number = None;
    }
    Ok(copies)
}

/// The body's shapes as the engine has them.
fn shapes<S: Dimension>(template: &Template<'_, S>) -> Result<Vec<S::Shape>, Flaw> {
    let given = template.shapes()?;
    given
        .iter()
        .map(|(shape, path)| S::shape(shape, path))
        .collect()
}

/// Copies at poses, which take the body's shapes in turn.
fn in_turn<S: Dimension>(
    template: &Template<'_, S>,
    poses: Vec<Pose<S>>,
) -> Result<Vec<Copy<S>>, Flaw> {
    let shapes = shapes(template)?;
    let choices = shapes.iter().enumerate().cycle();
    let copies = poses.into_iter().zip(choices).enumerate();
    Ok(copies
        .map(|(index, (pose, (choice, shape)))| Copy {
            number: Some(index + 1),
            pose,
            shape: shape.clone(),
            origin: Origin::Listed(choice, None),
        })
        .collect())
}

/// How many copies a count asks for: at least one, at most `room`.
fn checked_count(counts: &[u32], room: u64, path: FieldPath) -> Result<u64, Flaw> {
    let product = counts
        .iter()
        .fold(1_u64, |all, &count| all.saturating_mul(u64::from(count)));
    match product {
        0 => Err(Flaw::new(path, "must be 1 or more")),
        _ if product > room => Err(too_many(path)),
        _ => Ok(product),
    }
}

/// The error for more bodies than a scene may have.
pub(super) fn too_many(path: FieldPath) -> Flaw {
    let problem = format!("a scene has at most {MAX_BODIES} bodies, and this makes more");
    Flaw::new(path, problem).help("repeat less often")
}
