//! Scattered by chance.

use std::collections::HashMap;

use drystone::{Components, Geometry, Linear, Pose};

use super::super::body::Template;
use super::super::check::{not_negative, range, vector};
use super::super::dimension::Dimension;
use super::chance::Chance;
use super::{Copy, Origin, checked_count};
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::Random;

/// How often a place is drawn for a copy before the scatter is given up as too dense.
const TRIES: u32 = 500;

/// The copies, in the order in which they were drawn.
pub(super) fn copies<S: Dimension>(
    template: &Template<'_, S>,
    random: &Random,
    path: &FieldPath,
    room: u64,
) -> Result<Vec<Copy<S>>, Flaw> {
    let count = checked_count(&[random.count], room, path.key("count"))?;
    let region = vector::<S>(&random.region, &path.key("region"))?;
    for (axis, &edge) in random.region.iter().enumerate() {
        not_negative(edge, "m", path.key("region").index(axis))?;
    }
    let sizes = match random.sizes {
        Some(sizes) => Some(range(sizes, "without unit", &path.key("sizes"))?),
        None => None,
    };
    let given = template.shapes()?;
    let unscaled = super::shapes(template)?;
    let largest = unscaled
        .iter()
        .map(|s| s.radius_about(S::Vector::default()))
        .fold(0.0, f64::max);
    let mut crowd = Crowd::<S>::new(largest * sizes.map_or(1.0, |[_, most]| most));
    let mut chance = Chance::new(random.seed);
    let mut copies = Vec::new();
    for index in 0..count as usize {
        let choice = chance.index(given.len());
        let (Some((shape, shape_path)), Some(made)) = (given.get(choice), unscaled.get(choice))
        else {
            continue;
        };
        let factor = sizes.map(|sizes| chance.between(sizes));
        let made = match factor {
            Some(factor) => S::shape(&shape.scaled(factor), shape_path)?,
            None => made.clone(),
        };
        let radius = made.radius_about(S::Vector::default());
        let mut draw = || template.pose.position + point_in::<S>(region, &mut chance);
        let mut position = draw();
        if random.apart {
            let mut tries = 1;
            while !crowd.has_room(position, radius) {
                if tries == TRIES {
                    return Err(no_room(index + 1, count, path));
                }
                position = draw();
                tries += 1;
            }
            crowd.add(position, radius);
        }
        let rotation = if random.turned {
            S::rotation_by_chance([chance.unit(), chance.unit(), chance.unit()])
        } else {
            template.pose.rotation
        };
        copies.push(Copy {
            number: Some(index + 1),
            pose: Pose { position, rotation },
            shape: made,
            origin: Origin::Listed(choice, factor),
        });
    }
    Ok(copies)
}

fn point_in<S: Dimension>(region: S::Vector, chance: &mut Chance) -> S::Vector {
    (0..S::DIM).fold(S::Vector::default(), |point, axis| {
        let edge = region.component(axis);
        point.with_component(axis, chance.between([-0.5 * edge, 0.5 * edge]))
    })
}

fn no_room(number: usize, count: u64, path: &FieldPath) -> Flaw {
    let problem = format!("found no room for copy {number} of {count} in {TRIES} tries");
    Flaw::new(path.key("region"), problem).help(
        "make the region larger, `count` or `sizes` smaller, or allow overlap: `apart = false`",
    )
}

/// Balls that must not overlap, in cells as wide as the largest of them.
struct Crowd<S: Dimension> {
    cell: f64,
    balls: HashMap<[i64; 3], Vec<(S::Vector, f64)>>,
}

impl<S: Dimension> Crowd<S> {
    fn new(largest_radius: f64) -> Self {
        let cell = 2.0 * largest_radius;
        Self {
            cell: if cell.is_finite() && cell > 0.0 {
                cell
            } else {
                1.0
            },
            balls: HashMap::new(),
        }
    }

    fn cell_of(&self, position: S::Vector) -> [i64; 3] {
        // A cast of a float saturates: far away, cells are shared, which is slow but right.
        position.to_array3().map(|x| (x / self.cell).floor() as i64)
    }

    fn has_room(&self, position: S::Vector, radius: f64) -> bool {
        let [x, y, z] = self.cell_of(position);
        let depth = if S::HAS_DEPTH { -1..=1 } else { 0..=0 };
        let near = |center: i64, offset: i64| center.saturating_add(offset);
        (-1..=1).all(|dx| {
            (-1..=1).all(|dy| {
                depth.clone().all(|dz| {
                    let cell = [near(x, dx), near(y, dy), near(z, dz)];
                    self.balls.get(&cell).is_none_or(|balls| {
                        balls
                            .iter()
                            .all(|(other, r)| (*other - position).length() >= radius + r)
                    })
                })
            })
        })
    }

    fn add(&mut self, position: S::Vector, radius: f64) {
        let cell = self.cell_of(position);
        self.balls.entry(cell).or_default().push((position, radius));
    }
}
