//! A dry-stone wall: courses of stones by chance, each stone over a joint of the course below.

use drystone::{Components, Pose};

use super::super::body::Template;
use super::super::check::{not_negative, positive, range};
use super::super::dimension::{Dimension, Stone};
use super::chance::Chance;
use super::{Copy, Origin, checked_count};
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::Wall;

/// How many ways to lay a course are drawn; the one that bonds best is taken.
const CANDIDATES: usize = 12;

/// The stones, course by course from below, each from left to right.
pub(super) fn copies<S: Dimension>(
    template: &Template<'_, S>,
    wall: &Wall,
    path: &FieldPath,
    room: u64,
) -> Result<Vec<Copy<S>>, Flaw> {
    let depth = checked_wall::<S>(template, wall, path, room)?;
    let mut chance = Chance::new(wall.seed);
    let mut copies = Vec::new();
    let mut joints_below: Vec<f64> = Vec::new();
    let mut bottom = 0.0;
    for height in fill(wall.height, wall.heights, &mut chance) {
        let lengths = bonded_course(wall, &joints_below, &mut chance);
        let thickness = |y: f64| depth[0] + (depth[1] - depth[0]) * (y / wall.height);
        let mut left = -0.5 * wall.length;
        joints_below.clear();
        for length in lengths {
            let stone = Stone {
                half_length: 0.5 * length,
                half_height: 0.5 * height,
                half_depth: [thickness(bottom), thickness(bottom + height)].map(|t| 0.5 * t),
                inwards: [[0.0; 2]; 8]
                    .map(|_| [chance.unit(), chance.unit()].map(|u| u * wall.rough)),
            };
            let place = S::Vector::default()
                .with_component(0, left + stone.half_length)
                .with_component(1, bottom + stone.half_height);
            copies.push(Copy {
                number: Some(copies.len() + 1),
                pose: Pose::at(template.pose.position + place),
                shape: S::stone(&stone)
                    .map_err(|error| Flaw::new(path.clone(), error.to_string()))?,
                origin: Origin::Own(stone.solid()),
            });
            left += length;
            joints_below.push(left);
        }
        bottom += height;
    }
    Ok(copies)
}

/// Thickness at the foot and at the top, with everything checked.
fn checked_wall<S: Dimension>(
    template: &Template<'_, S>,
    wall: &Wall,
    path: &FieldPath,
    room: u64,
) -> Result<[f64; 2], Flaw> {
    let body = template.body;
    if body.shape.is_some() || !body.shapes.is_empty() {
        let key = if body.shape.is_some() {
            "shape"
        } else {
            "shapes"
        };
        let problem = "a wall makes its own stones";
        return Err(Flaw::new(template.path.key(key), problem).help("remove it"));
    }
    if body.rotation.is_some() {
        let flaw = Flaw::new(template.path.key("rotation"), "a wall can't be turned");
        return Err(flaw.help("it runs along x"));
    }
    positive(wall.length, "m", path.key("length"))?;
    positive(wall.height, "m", path.key("height"))?;
    let [shortest, _] = range(wall.lengths, "m", &path.key("lengths"))?;
    let [lowest, _] = range(wall.heights, "m", &path.key("heights"))?;
    not_negative(wall.rough, "m", path.key("rough"))?;
    let depth = match (wall.depth, S::HAS_DEPTH) {
        (Some(depth), true) => positive(depth, "m", path.key("depth"))?,
        (None, false) => f64::INFINITY,
        (None, true) => {
            let flaw = Flaw::new(path.clone(), "a wall in 3D needs its `depth` along z");
            return Err(flaw.help("add, for example, `depth = 0.5` (m)"));
        }
        (Some(_), false) => {
            return Err(Flaw::new(path.key("depth"), "a wall in 2D has no depth"));
        }
    };
    let top = match wall.top_depth {
        Some(top) => positive(top, "m", path.key("top_depth"))?,
        None => depth,
    };
    // Stones are stretched or squeezed to fit, by a third at most.
    let thinnest = (0.6 * shortest).min(depth).min(top);
    if wall.rough >= 0.5 * thinnest {
        let problem = format!(
            "corners moved by {} m would turn stones inside out",
            wall.rough
        );
        return Err(Flaw::new(path.key("rough"), problem).help("make it much less than a stone"));
    }
    let most = |whole: f64, part: f64| (whole / part + 1.0).min(f64::from(u32::MAX)) as u32;
    let counts = [most(wall.length, shortest), most(wall.height, lowest)];
    checked_count(&counts, room, path.clone())?;
    Ok(if S::HAS_DEPTH {
        [depth, top]
    } else {
        [1.0, 1.0]
    })
}

/// Parts of random size that fill `whole` exactly.
fn fill(whole: f64, sizes: [f64; 2], chance: &mut Chance) -> Vec<f64> {
    let mut parts = Vec::new();
    let mut sum = 0.0;
    while sum < whole {
        let part = chance.between(sizes);
        parts.push(part);
        sum += part;
    }
    // Without the last part the rest may fit with less stretching.
    if let Some(&last) = parts.last()
        && parts.len() > 1
        && sum - whole > whole - (sum - last)
    {
        parts.pop();
        sum -= last;
    }
    parts.iter().map(|part| part * (whole / sum)).collect()
}

/// A course whose joints stay away from those below: "one over two, two over one".
fn bonded_course(wall: &Wall, joints_below: &[f64], chance: &mut Chance) -> Vec<f64> {
    let mut best = (f64::NEG_INFINITY, Vec::new());
    for _ in 0..CANDIDATES {
        let lengths = fill(wall.length, wall.lengths, chance);
        let mut joint = -0.5 * wall.length;
        let mut nearest = f64::INFINITY;
        for length in lengths.iter().take(lengths.len().saturating_sub(1)) {
            joint += length;
            let inner = joints_below
                .split_last()
                .map_or(&[][..], |(_, inner)| inner);
            let distances = inner.iter().map(|below| (below - joint).abs());
            nearest = distances.fold(nearest, f64::min);
        }
        if nearest > best.0 {
            best = (nearest, lengths);
        }
    }
    best.1
}
