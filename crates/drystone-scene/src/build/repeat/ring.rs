//! Around a circle or along an arc.

use drystone::{Components, Pose};

use super::super::body::Template;
use super::super::check::{finite, positive, share};
use super::super::dimension::{Dimension, radians};
use super::checked_count;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::Ring;
use crate::schema::repeat::Plane;

/// Where the copies are: row by row from below, along the arc.
pub(super) fn poses<S: Dimension>(
    template: &Template<'_, S>,
    ring: &Ring,
    path: &FieldPath,
    room: u64,
) -> Result<Vec<Pose<S>>, Flaw> {
    if ring.plane == Plane::Flat && !S::HAS_DEPTH {
        let flaw = Flaw::new(path.key("plane"), "a 2D scene has no x-z plane");
        return Err(flaw.help("remove it, or write \"upright\""));
    }
    checked_count(&[ring.count], room, path.key("count"))?;
    checked_count(&[ring.rows], room, path.key("rows"))?;
    checked_count(&[ring.count, ring.rows], room, path.key("count"))?;
    positive(ring.radius, "m", path.key("radius"))?;
    share(ring.brick, path.key("brick"))?;
    finite(ring.rise, path.key("rise"))?;
    let from = finite(ring.from, path.key("from"))?;
    let to = finite(ring.to, path.key("to"))?;
    if from == to {
        let flaw = Flaw::new(path.key("to"), "the arc must not end where it starts");
        return Err(flaw.help("write a full circle as from = 0, to = 360"));
    }
    let part = (to - from) / f64::from(ring.count);
    let mut poses = Vec::new();
    for row in 0..ring.rows {
        let shift = if row % 2 == 1 { ring.brick } else { 0.0 };
        let rise = S::Vector::default().with_component(1, ring.rise * f64::from(row));
        for k in 0..ring.count {
            let angle = from + part * (f64::from(k) + 0.5 + shift);
            let out = S::direction_in(ring.plane, radians(angle));
            poses.push(Pose {
                position: template.pose.position + out * ring.radius + rise,
                rotation: if ring.oriented {
                    S::turn(template.pose.rotation, facing::<S>(ring.plane, angle))
                } else {
                    template.pose.rotation
                },
            });
        }
    }
    Ok(poses)
}

/// The turn that makes y (upright) or x (flat) point outwards at `angle` degrees.
fn facing<S: Dimension>(plane: Plane, angle: f64) -> S::Spin {
    let outwards = match plane {
        Plane::Upright => angle - 90.0,
        Plane::Flat => angle,
    };
    S::turn_in(plane, radians(outwards))
}
