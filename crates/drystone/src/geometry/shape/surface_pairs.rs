//! Contact of solids with surfaces, piece by piece and yet as one: see [`super::internal_edges`].
//!
//! Written once for the plane and for space, as [`super::pairs`] is.

/// What features of points that are cut off at an edge have in common.
pub(crate) const CUT_OFF: u32 = 1 << 30;

/// What a surface makes of a contact that one of its pieces has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is a contact with an edge or corner of the surface.
    Keep,
    /// It has the normal of the piece's face,
    Face,
    /// or of its back.
    Back,
    /// Its normal is none of the surface, or there is no contact.
    Other,
}

/// Tells facets of a surface from its pieces, in a part's number.
pub(crate) const FACET: u32 = 1 << 31;

macro_rules! surface_pairs {
    ($space:ty, $parry:ident, $Vector:ty, $RigidPose:ty) => {
        /// The surface is A.
        fn convex_on_surface(
            a: (&Surface, &$RigidPose),
            b: (&[Convex], &$RigidPose),
            margin: f64,
            out: &mut Vec<ContactPoint<$space>>,
        ) {
            use $parry::bounding_volume::BoundingVolume as _;
            for (j, part) in b.0.iter().enumerate() {
                let pose_b = *b.1 * part.pose;
                let nearby = part
                    .parry
                    .compute_aabb(&(a.1.inverse() * pose_b))
                    .loosened(margin);
                // The tree's order is its own; the order of contacts must be the mesh's.
                let mut pieces: Vec<u32> = a.0.parry.bvh().intersect_aabb(&nearby).collect();
                pieces.sort_unstable();
                let between = a.1.inverse() * pose_b;
                let center = between.transform_point(part.center());
                let first = out.len();
                let reach = part.reach();
                let mut spare = Vec::new();
                let mut slot = None;
                for index in pieces {
                    if !a.0.piece_into(index, &mut slot) {
                        continue;
                    }
                    let Some(piece) = &slot else { continue };
                    let start = out.len();
                    let is_behind = a.0.is_behind(piece, center);
                    if is_behind && a.0.seams.front == super::internal_edges::Front::One {
                        continue;
                    }
                    part_on_part((piece, a.1), (part, &pose_b), margin, out);
                    // Only ground pushes up what is all below it.
                    let is_ground = a.0.seams.front == super::internal_edges::Front::Ground;
                    if out.len() == start && !is_ground {
                        continue;
                    }
                    let normal = out.get(start).map(|p| a.1.rotation.inverse() * p.normal);
                    let is_apart = out[start..].iter().all(|p| p.separation > 0.0);
                    let verdict = a.0.verdict(index, piece, normal);
                    if verdict != Verdict::Keep {
                        let found = out.split_off(start);
                        on_face(
                            (a.0, piece, a.1),
                            (part, &between, reach),
                            (verdict, is_apart),
                            margin,
                            out,
                        );
                        if part.kind() == ConvexKind::Other && verdict != Verdict::Other {
                            let end = spare.len();
                            spare.extend(found);
                            a.0.as_facet((index, piece, a.1), end, &mut spare);
                        }
                    }
                    for point in &mut out[start..] {
                        point.feature.part_a = index;
                        point.feature.part_b = j as u32;
                    }
                    a.0.as_facet((index, piece, a.1), start, out);
                }
                for point in &mut spare {
                    point.feature.part_b = j as u32;
                }
                fill_and_sort(first, &spare, out);
            }
        }

        /// Adds the spare contacts of facets that have no others (a rim may lie around a facet and
        /// hold no point over it), and brings the contacts from `first` on into an order in which
        /// those of a facet come one after the other, each once.
        fn fill_and_sort(
            first: usize,
            spare: &[ContactPoint<$space>],
            out: &mut Vec<ContactPoint<$space>>,
        ) {
            let held = first..out.len();
            for point in spare {
                let is_same = |k: usize| out[k].feature.part_a == point.feature.part_a;
                if !held.clone().any(is_same) {
                    out.push(*point);
                }
            }
            out[first..].sort_by_key(|point| point.feature.part_a);
            let (mut kept, mut of_part) = (first, first);
            for k in first..out.len() {
                let name = out[k].feature;
                if out[of_part].feature.part_a != name.part_a {
                    of_part = kept;
                }
                let is_known = out[of_part..kept].iter().any(|p| p.feature == name);
                if name.part_a < FACET || !is_known {
                    out[kept] = out[k];
                    kept += 1;
                }
            }
            out.truncate(kept);
        }

        /// Contact with the face of a surface's piece by the face's own normal.
        ///
        /// Where a body overlaps a joint sideways by more than it overlaps the face, it is the
        /// business of another piece; so what is deep is left out, unless the face was found. What is
        /// apart from the piece may lie behind the face's plane, beside the face or over its other
        /// side, and is no contact of its front at all.
        fn on_face(
            (surface, piece, pose): (&Surface, &Convex, &$RigidPose),
            (part, between, reach): (&Convex, &$RigidPose, f64),
            (verdict, is_apart): (Verdict, bool),
            margin: f64,
            out: &mut Vec<ContactPoint<$space>>,
        ) {
            use super::internal_edges::Front;
            let center = between.transform_point(part.center());
            let is_below = surface.is_behind(piece, center);
            let side = match verdict {
                _ if surface.seams.front != Front::Both => 0,
                Verdict::Back => 1,
                Verdict::Face => 0,
                _ => usize::from(is_below),
            };
            let deepest = match (verdict, surface.seams.front) {
                (Verdict::Face | Verdict::Back, _) => f64::INFINITY,
                (_, Front::Ground) => 2.0 * reach,
                _ if is_apart => 1e-9 * reach,
                _ => 0.1 * reach,
            };
            let start = out.len();
            let mut emit = |p: LocalContact| {
                if p.separation >= -deepest {
                    out.push(ContactPoint {
                        position: pose.transform_point(p.position),
                        normal: <$Vector>::ZERO,
                        separation: p.separation,
                        feature: FeatureId {
                            feature_a: p.feature_a,
                            feature_b: p.feature_b,
                            ..FeatureId::default()
                        },
                    });
                }
            };
            let normal = Convex::face_contacts((piece, side), (part, between), margin, &mut emit);
            let normal = pose.rotation * normal.unwrap_or_default();
            for point in &mut out[start..] {
                point.normal = normal;
            }
        }

        impl Surface {
            /// Whether a point is behind the plane of a piece.
            fn is_behind(&self, piece: &Convex, point: $Vector) -> bool {
                piece
                    .planes()
                    .next()
                    .is_some_and(|(normal, on)| normal.dot(point - on) < 0.0)
            }

            /// Makes the contacts of a piece from `start` on that have its face's normal contacts
            /// of its facet, and leaves out those at joints inside of it.
            fn as_facet(
                &self,
                (index, piece, pose): (u32, &Convex, &$RigidPose),
                start: usize,
                out: &mut Vec<ContactPoint<$space>>,
            ) {
                let Some((face, _)) = piece.planes().next() else {
                    return;
                };
                let face = pose.rotation * face;
                if out
                    .get(start)
                    .is_none_or(|p| p.normal.dot(face).abs() < 1.0 - 1e-12)
                {
                    return;
                }
                let mut kept = start;
                for k in start..out.len() {
                    let mut point = out[k];
                    point.feature.part_a = FACET | self.seams.facet(index);
                    if point.feature.feature_a >= CUT_OFF {
                        if self.is_inside_facet(index, pose.inverse_transform_point(point.position))
                        {
                            continue;
                        }
                        // Two pieces may be cut off by the same edge of a body.
                        point.feature.feature_a = CUT_OFF | index;
                    } else {
                        point.feature.feature_a = 0;
                    }
                    out[kept] = point;
                    kept += 1;
                }
                out.truncate(kept);
            }

            /// What to make of a contact of a piece with this normal.
            fn verdict(&self, index: u32, piece: &Convex, normal: Option<$Vector>) -> Verdict {
                use super::internal_edges::Front;
                let (Some(normal), Some((face, _))) = (normal, piece.planes().next()) else {
                    return Verdict::Other;
                };
                let along = face.dot(normal);
                if along < 0.0 && self.seams.front != Front::Both {
                    return Verdict::Other;
                }
                if along.abs() >= 1.0 - 1e-12 {
                    return if along > 0.0 {
                        Verdict::Face
                    } else {
                        Verdict::Back
                    };
                }
                let vertices = self.vertices(index);
                if self
                    .seams
                    .admits::<$space>(self.points(), &vertices, normal)
                {
                    Verdict::Keep
                } else {
                    Verdict::Other
                }
            }
        }
    };
}

pub(crate) use surface_pairs;
