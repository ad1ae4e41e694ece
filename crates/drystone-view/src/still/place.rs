//! Parts of a stage at their places in one frame; what cannot be drawn is left out here.

use drystone_frame::{Form, Frame, Part, Stage};
use glamx::{DPose3, DQuat, DVec3};

/// Coordinates and sizes above this many metres are not drawn: their squares must stay finite
/// in single precision.
const FARTHEST_M: f64 = 1e15;

/// Points of the circle that stands for the rim of a cylinder or a cone in bounds.
const RIM_POINTS: usize = 12;

/// One part of one object, in the world.
pub(super) struct Placed<'a> {
    /// Index of the object.
    pub(super) object: usize,
    /// Whether the object never moves by contact.
    pub(super) fixed: bool,
    /// From the part's axes to the world.
    pub(super) pose: DPose3,
    /// Its form; lengths are finite and positive.
    pub(super) form: &'a Form,
}

/// A point with a ball around it, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoundedPoint {
    /// Centre in m.
    pub(super) centre: DVec3,
    /// Radius in m, 0 for a plain point.
    pub(super) radius: f64,
}

/// The parts that can be drawn, in the order of the stage.
pub(super) fn place<'a>(stage: &'a Stage, frame: &Frame) -> Vec<Placed<'a>> {
    let mut placed = Vec::new();
    for (index, object) in stage.objects.iter().enumerate() {
        let (Some(&position), Some(&rotation)) =
            (frame.positions.get(index), frame.rotations.get(index))
        else {
            continue;
        };
        let Some(object_pose) = pose(position, rotation) else {
            continue;
        };
        let drawable = object.parts.iter().filter(|part| is_drawable(&part.form));
        placed.extend(drawable.filter_map(|part| {
            Some(Placed {
                object: index,
                fixed: object.fixed,
                pose: object_pose * part_pose(part)?,
                form: &part.form,
            })
        }));
    }
    placed
}

fn part_pose(part: &Part) -> Option<DPose3> {
    pose(part.position, part.rotation)
}

/// The pose, or `None` where a number is not finite or too large; a rotation of zero length is
/// no rotation.
fn pose(position: [f64; 3], rotation: [f64; 4]) -> Option<DPose3> {
    let finite = position.iter().all(|x| x.abs() <= FARTHEST_M)
        && rotation.iter().all(|x| x.abs() <= FARTHEST_M);
    let rotation = DQuat::from_array(rotation);
    let rotation = if rotation.length_squared() > 1e-20 {
        rotation.normalize()
    } else {
        DQuat::IDENTITY
    };
    finite.then(|| DPose3::from_parts(DVec3::from_array(position), rotation))
}

fn is_length(length: f64) -> bool {
    length > 0.0 && length <= FARTHEST_M
}

fn is_drawable(form: &Form) -> bool {
    match form {
        Form::Ball { radius } => is_length(*radius),
        // The third length of a rectangle is ignored, so it may be 0.
        Form::Box { half } => {
            is_length(half[0]) && is_length(half[1]) && half[2].abs() <= FARTHEST_M
        }
        Form::Capsule {
            half_length,
            radius,
        } => *half_length >= 0.0 && *half_length <= FARTHEST_M && is_length(*radius),
        Form::Cylinder {
            half_height,
            radius,
        }
        | Form::Cone {
            half_height,
            radius,
        } => is_length(*half_height) && is_length(*radius),
        Form::HalfSpace { normal } => {
            let length = DVec3::from_array(*normal).length();
            length > 1e-10 && length <= FARTHEST_M
        }
        Form::Outline { points, .. } | Form::Mesh { points, .. } => {
            points.iter().copied().any(is_point)
        }
    }
}

/// Whether a point of an outline or a mesh can be drawn.
pub(super) fn is_point(point: [f64; 3]) -> bool {
    point.iter().all(|x| x.abs() <= FARTHEST_M)
}

/// The corners of a mesh's triangle, or `None` where an index or a point is bad.
pub(super) fn mesh_triangle(points: &[[f64; 3]], corners: [u32; 3]) -> Option<[DVec3; 3]> {
    let corner = |index: u32| {
        let point = *points.get(index as usize)?;
        is_point(point).then(|| DVec3::from_array(point))
    };
    Some([
        corner(corners[0])?,
        corner(corners[1])?,
        corner(corners[2])?,
    ])
}

impl Placed<'_> {
    /// Points with radii whose hull holds the part; empty for half-spaces, which have no bounds.
    pub(super) fn bounds(&self) -> Vec<RoundedPoint> {
        let (points, radius) = local_bounds(self.form);
        let to_world = |point| RoundedPoint {
            centre: self.pose * point,
            radius,
        };
        points.into_iter().map(to_world).collect()
    }
}

fn local_bounds(form: &Form) -> (Vec<DVec3>, f64) {
    let up = DVec3::Y;
    match form {
        Form::Ball { radius } => (vec![DVec3::ZERO], *radius),
        Form::Box { half } => {
            let sign = |bit: usize, corner: usize| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let corner =
                |c| DVec3::from_array(*half) * DVec3::new(sign(0, c), sign(1, c), sign(2, c));
            ((0..8).map(corner).collect(), 0.0)
        }
        Form::Capsule {
            half_length,
            radius,
        } => (vec![-up * *half_length, up * *half_length], *radius),
        Form::Cylinder {
            half_height,
            radius,
        } => {
            let mut points = rim(-*half_height, *radius);
            points.extend(rim(*half_height, *radius));
            (points, 0.0)
        }
        Form::Cone {
            half_height,
            radius,
        } => {
            let mut points = rim(-*half_height, *radius);
            points.push(up * *half_height);
            (points, 0.0)
        }
        Form::HalfSpace { .. } => (Vec::new(), 0.0),
        Form::Outline { points, .. } | Form::Mesh { points, .. } => {
            let drawable = points.iter().copied().filter(|&point| is_point(point));
            (drawable.map(DVec3::from_array).collect(), 0.0)
        }
    }
}

fn rim(height: f64, radius: f64) -> Vec<DVec3> {
    let point = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / RIM_POINTS as f64;
        DVec3::new(radius * libm::cos(angle), height, radius * libm::sin(angle))
    };
    (0..RIM_POINTS).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_frame::Object;

    fn one(form: Form, position: [f64; 3]) -> (Stage, Frame) {
        let part = Part {
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            form,
        };
        let stage = Stage {
            dimension: 3,
            objects: vec![Object {
                name: "one".into(),
                fixed: false,
                parts: vec![part],
            }],
            ..Stage::default()
        };
        let frame = Frame {
            positions: vec![position],
            rotations: vec![[0.0, 0.0, 0.0, 1.0]],
            ..Frame::default()
        };
        (stage, frame)
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        let ball = Form::Ball { radius: 1.0 };
        for position in [
            [f64::NAN, 0.0, 0.0],
            [0.0, f64::INFINITY, 0.0],
            [1e300, 0.0, 0.0],
        ] {
            let (stage, frame) = one(ball.clone(), position);
            assert!(place(&stage, &frame).is_empty());
        }
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let (stage, frame) = one(Form::Ball { radius }, [0.0; 3]);
            assert!(place(&stage, &frame).is_empty());
        }
        let (stage, frame) = one(ball.clone(), [0.0; 3]);
        assert_eq!(place(&stage, &frame).len(), 1);
        assert!(place(&stage, &Frame::default()).is_empty());
    }

    #[test]
    fn bad_mesh_indices_give_no_triangle() {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, f64::NAN, 0.0]];
        assert!(mesh_triangle(&points, [0, 1, 1]).is_some());
        assert!(mesh_triangle(&points, [0, 1, 2]).is_none());
        assert!(mesh_triangle(&points, [0, 1, 3]).is_none());
    }
}
