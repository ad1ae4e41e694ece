//! One on the other.

use drystone::{Components, Geometry, Pose};

use super::super::body::Template;
use super::super::check::{finite, positive};
use super::super::dimension::{Dimension, radians};
use super::{Copy, Origin, checked_count, shapes};
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::Stack;
use crate::schema::repeat::Plane;

/// The copies from below: each rests on the one before it.
pub(super) fn copies<S: Dimension>(
    template: &Template<'_, S>,
    stack: &Stack,
    path: &FieldPath,
    room: u64,
) -> Result<Vec<Copy<S>>, Flaw> {
    let count = checked_count(&[stack.count], room, path.key("count"))?;
    let twist = radians(finite(stack.twist, path.key("twist"))?);
    if twist != 0.0 && !S::HAS_DEPTH {
        return Err(Flaw::new(
            path.key("twist"),
            "a 2D stack can't twist about y",
        ));
    }
    let spacing = match stack.spacing {
        Some(spacing) => Some(positive(spacing, "m", path.key("spacing"))?),
        None => None,
    };
    let shapes = shapes(template)?;
    let mut height = 0.0;
    let mut copies = Vec::new();
    let choices = shapes.iter().enumerate().cycle();
    for (index, (choice, shape)) in (0..count as usize).zip(choices) {
        let turned = Pose {
            position: S::Vector::default(),
            rotation: S::turn(
                template.pose.rotation,
                S::turn_in(Plane::Flat, twist * index as f64),
            ),
        };
        let (below, above) = match (spacing, shape.bounds(&turned)) {
            (Some(spacing), _) => (0.0, spacing),
            (None, Some(bounds)) => (-bounds.lower.component(1), bounds.upper.component(1)),
            (None, None) => {
                let flaw = Flaw::new(path.clone(), "this shape has no height to stack");
                return Err(flaw.help("give `spacing` (m)"));
            }
        };
        // The first stands at the body's position whatever it is.
        height += if index == 0 { 0.0 } else { below };
        let rise = S::Vector::default().with_component(1, height);
        height += above;
        copies.push(Copy {
            number: Some(index + 1),
            pose: Pose {
                position: template.pose.position + rise,
                ..turned
            },
            shape: shape.clone(),
            origin: Origin::Listed(choice, None),
        });
    }
    Ok(copies)
}
