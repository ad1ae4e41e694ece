//! Contacts of convex parts in space: which routine serves which pair.

use drystone_frame::Form;
use glamx::{DPose3, DVec3};

use super::{Convex, ConvexForm, closest};
use crate::geometry::shape::box_box;
use crate::geometry::shape::polyhedron_clip;
use crate::geometry::shape::polyhedron_round;
use crate::geometry::shape::polyhedron_round::Block;
use crate::geometry::shape::polyhedron_sat;
use crate::geometry::shape::polyhedron_sat::{LocalContact, Placement};
use crate::geometry::shape::segment_segment;
use crate::geometry::shape::segment_segment::Rod;
use crate::math::algebra::D3;

impl Convex {
    /// The segment that a ball or capsule is built around, in the axes that `pose` is given in.
    pub(super) fn rod_at(&self, pose: &DPose3) -> Option<Rod<DVec3>> {
        let (half, radius) = match self.form {
            ConvexForm::Ball(radius) => (0.0, radius),
            ConvexForm::Capsule(half, radius) => (half, radius),
            _ => return None,
        };
        let end = pose.rotation * (DVec3::Y * half);
        Some(Rod {
            ends: [pose.translation + end, pose.translation - end],
            radius,
        })
    }

    pub(super) fn block(&self) -> Option<Block<'_>> {
        let ConvexForm::Polytope(hull, form) = &self.form else {
            return None;
        };
        let half = match form {
            Form::Box { half } => Some(DVec3::from_array(*half)),
            _ => None,
        };
        Some(Block {
            hull,
            half,
            rounding: self.rounding,
        })
    }

    /// Contact of two parts, `b` at `between` in `a`'s axes.
    pub(in crate::geometry::shape) fn own_contacts(
        [a, b]: [&Self; 2],
        between: &DPose3,
        margin: f64,
        emit: &mut dyn FnMut(LocalContact),
    ) -> Option<DVec3> {
        if let (Some(block), Some(rod)) = (a.block(), b.rod_at(between)) {
            return polyhedron_round::contacts(&block, &rod, margin, emit);
        }
        let back = between.inverse();
        if let (Some(rod), Some(block)) = (a.rod_at(&back), b.block()) {
            let normal = polyhedron_round::contacts(&block, &rod, margin, &mut |c| {
                emit(LocalContact {
                    position: between.transform_point(c.position),
                    ..c.swapped()
                });
            })?;
            return Some(between.rotation * -normal);
        }
        if let (Some(one), Some(other)) = (a.rod_at(&DPose3::IDENTITY), b.rod_at(between)) {
            let across = || {
                let [d, e] = [one, other].map(|rod| rod.ends[1] - rod.ends[0]);
                let cross = d.cross(e).try_normalize();
                cross.unwrap_or_else(|| {
                    let along = d.try_normalize().or(e.try_normalize());
                    along.unwrap_or(DVec3::X).any_orthonormal_vector()
                })
            };
            return segment_segment::contacts::<D3>([&one, &other], margin, across, &mut |c| {
                emit(LocalContact {
                    position: c.position,
                    separation: c.separation,
                    feature_a: c.feature.feature_a,
                    feature_b: c.feature.feature_b,
                });
            });
        }
        if a.rounding + b.rounding > 0.0 {
            return Self::rounded_contacts([a, b], between, margin, emit);
        }
        Self::polytope_contacts([a, b], between, margin, emit)
    }

    /// Contact of polytopes of which one is rounded at least. Where a face or two edges are
    /// nearest, it is that of the cores; otherwise a corner is, and the contact is one point.
    fn rounded_contacts(
        [a, b]: [&Self; 2],
        between: &DPose3,
        margin: f64,
        emit: &mut dyn FnMut(LocalContact),
    ) -> Option<DVec3> {
        let radii = a.rounding + b.rounding;
        let mut points = Vec::new();
        let mut normal = Self::polytope_contacts([a, b], between, margin + radii, &mut |p| {
            points.push(p);
        })?;
        let lowest = points.iter().map(|p| p.separation);
        let lowest = lowest.fold(f64::INFINITY, f64::min);
        let size = a.reach().min(b.reach());
        let near = closest(a, (b, between)).filter(|c| c.dist + radii > 1e-9 * size);
        if let Some(near) = near
            && (near.dist + radii - lowest).abs() > polyhedron_sat::FACE_PREFERENCE * size
        {
            normal = near.normal1;
            let on_a = near.point1 - normal * a.rounding;
            points = vec![LocalContact {
                position: on_a + normal * (0.5 * (near.dist + radii)),
                separation: near.dist + radii,
                feature_a: polyhedron_sat::CORNER,
                feature_b: polyhedron_sat::CORNER,
            }];
        }
        for point in points {
            if point.separation - radii <= margin {
                emit(LocalContact {
                    position: point.position + normal * (0.5 * (a.rounding - b.rounding)),
                    separation: point.separation - radii,
                    ..point
                });
            }
        }
        Some(normal)
    }

    /// Contact with one face of a sheet by the face's own normal: what of the part is over it.
    pub(in crate::geometry::shape) fn face_contacts(
        (sheet, face): (&Self, usize),
        (part, between): (&Self, &DPose3),
        margin: f64,
        emit: &mut dyn FnMut(LocalContact),
    ) -> Option<DVec3> {
        let ConvexForm::Polytope(hull, _) = &sheet.form else {
            return None;
        };
        let normal = hull.normals[face];
        if let Some(block) = part.block() {
            let (placed, r) = (Placement::of(between), block.rounding);
            polyhedron_clip::clip(hull, face, (block.hull, &placed), margin + r, |c| {
                emit(LocalContact {
                    position: c.position - normal * (0.5 * r),
                    separation: c.separation - r,
                    ..c
                });
            });
            return Some(normal);
        }
        let plane = normal.dot(hull.point(hull.face(face)[0]));
        let mut hold = |on: DVec3, radius: f64, features: [u32; 2]| {
            let height = normal.dot(on) - plane;
            if height - radius <= margin {
                emit(LocalContact {
                    position: on - normal * (0.5 * (height + radius)),
                    separation: height - radius,
                    feature_a: features[0],
                    feature_b: features[1],
                });
            }
        };
        if let Some(rod) = part.rod_at(between) {
            let stretch = polyhedron_round::clip_to_column(hull, face, rod.ends)?;
            let is_ball = rod.ends[0] == rod.ends[1];
            for (along, cut) in stretch.into_iter().take(if is_ball { 1 } else { 2 }) {
                let features = [cut.unwrap_or(face as u32), Rod::<DVec3>::feature(along)];
                hold(rod.at(along), rod.radius, features);
            }
            return Some(normal);
        }
        let (points, radius) = part.supports(between.rotation.inverse() * -normal);
        for (local, feature) in points {
            let on = between.transform_point(local);
            if polyhedron_round::clip_to_column(hull, face, [on; 2]).is_some() {
                hold(on, radius, [face as u32, feature]);
            }
        }
        Some(normal)
    }

    /// Contact of two polytopes, `b` at `between` in `a`'s axes.
    pub(in crate::geometry::shape) fn polytope_contacts(
        [a, b]: [&Self; 2],
        between: &DPose3,
        margin: f64,
        emit: &mut dyn FnMut(LocalContact),
    ) -> Option<DVec3> {
        let (ConvexForm::Polytope(p, of_a), ConvexForm::Polytope(q, of_b)) = (&a.form, &b.form)
        else {
            return None;
        };
        if let (Form::Box { half: ha }, Form::Box { half: hb }) = (of_a, of_b) {
            let half = [DVec3::from_array(*ha), DVec3::from_array(*hb)];
            return box_box::contacts(half, between, margin, emit);
        }
        polyhedron_sat::contacts(p, q, between, margin, emit)
    }
}
