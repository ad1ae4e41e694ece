//! Oriented bounding boxes: a lower bound of the distance of two bodies.

use crate::geometry::shape::{Bounds, Pose};
use crate::math::algebra::{Algebra, Components, Linear};

/// A box around a body in the body's own axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OrientedBounds<S: Algebra> {
    middle: S::Vector,
    axes: S::Matrix,
    half: S::Vector,
}

impl<S: Algebra> OrientedBounds<S> {
    /// The case of a body at a pose of its centre of mass.
    pub(crate) fn new(bounds: &Bounds<S>, center: &Pose<S>) -> Self {
        let axis = |k: usize| S::Vector::default().with_component(k, 1.0);
        Self {
            middle: center.point((bounds.lower + bounds.upper) * 0.5),
            axes: S::matrix(|k| S::rotate(center.rotation, axis(k))),
            half: (bounds.upper - bounds.lower) * 0.5,
        }
    }

    /// How far two cases are apart at least, m: the widest gap between a face of one and the other.
    pub(crate) fn apart(&self, other: &Self) -> f64 {
        let between = other.middle - self.middle;
        let mut taken_of_other = [0.0; 3];
        let mut widest = f64::NEG_INFINITY;
        for i in 0..S::DIM {
            let axis = S::column(&self.axes, i);
            let mut taken = self.half.component(i);
            for (j, taken_of_other) in taken_of_other.iter_mut().enumerate().take(S::DIM) {
                let along = axis.dot(S::column(&other.axes, j)).abs();
                taken += along * other.half.component(j);
                *taken_of_other += along * self.half.component(i);
            }
            widest = widest.max(axis.dot(between).abs() - taken);
        }
        for (j, taken) in taken_of_other.into_iter().enumerate().take(S::DIM) {
            let along = S::column(&other.axes, j).dot(between).abs();
            widest = widest.max(along - other.half.component(j) - taken);
        }
        widest
    }
}
