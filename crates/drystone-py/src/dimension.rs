//! What differs between the plane and space on the way to and from rows of numbers.

use drystone::glam::DQuat;
use drystone::{Algebra, Components, D2, D3, Pose, Space};

/// A space whose poses and motions are rows of numbers.
pub(crate) trait Dimension: Space {
    /// Numbers of a pose: position, then quaternion x, y, z, w (in the plane: angle in rad).
    const POSE: usize;

    /// The rotation of a pose's row.
    fn rotation(row: &[f64]) -> Self::Rotation;
    /// Writes a rotation to a pose's row.
    fn put_rotation(rotation: Self::Rotation, row: &mut [f64]);
}

impl Dimension for D2 {
    const POSE: usize = 3;

    fn rotation(row: &[f64]) -> Self::Rotation {
        D2::turn(
            Self::Rotation::default(),
            row.first().copied().unwrap_or(0.0),
        )
    }

    fn put_rotation(rotation: Self::Rotation, row: &mut [f64]) {
        row.fill(libm::atan2(rotation.im, rotation.re));
    }
}

impl Dimension for D3 {
    const POSE: usize = 7;

    fn rotation(row: &[f64]) -> DQuat {
        match *row {
            [x, y, z, w] => DQuat::from_xyzw(x, y, z, w),
            _ => DQuat::IDENTITY,
        }
    }

    fn put_rotation(rotation: DQuat, row: &mut [f64]) {
        row.copy_from_slice(&rotation.to_array());
    }
}

/// A vector or spin from the numbers of its components.
pub(crate) fn components<V: Components + Default>(row: &[f64]) -> V {
    let with = |v: V, (axis, &value): (usize, &f64)| v.with_component(axis, value);
    row.iter().enumerate().fold(V::default(), with)
}

/// Writes the components of a vector or spin.
pub(crate) fn put<V: Components>(v: V, row: &mut [f64]) {
    for (axis, value) in row.iter_mut().enumerate() {
        *value = v.component(axis);
    }
}

/// A pose from its row.
pub(crate) fn pose<S: Dimension>(row: &[f64]) -> Pose<S> {
    let (position, rotation) = row.split_at(S::DIM.min(row.len()));
    Pose {
        position: components(position),
        rotation: S::rotation(rotation),
    }
}

/// Writes a pose to its row.
pub(crate) fn put_pose<S: Dimension>(pose: &Pose<S>, row: &mut [f64]) {
    let (position, rotation) = row.split_at_mut(S::DIM);
    put(pose.position, position);
    S::put_rotation(pose.rotation, rotation);
}
