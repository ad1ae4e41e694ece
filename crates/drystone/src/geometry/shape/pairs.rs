//! The questions about shapes whose answer reads the same in the plane and in space.
//!
//! `parry2d_f64` and `parry3d_f64` are two crates with the same names in them, so what is
//! written once here is stamped out for each by [`pair_queries!`].

/// Which of our own contact routines serves a convex part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ConvexKind {
    /// A ball of this radius.
    Ball(f64),
    /// All that is near a segment.
    Capsule,
    /// Corners and flat faces.
    Polytope,
    /// All that is near one of these.
    Rounded,
    /// Cylinders and cones: parry's routines.
    Other,
}

macro_rules! pair_queries {
    ($Shape:ident, $space:ty, $parry:ident, $Vector:ty, $RigidPose:ty) => {
        /// Mass properties of several solids as one.
        fn together(parts: Vec<MassProperties<$space>>) -> MassProperties<$space> {
            let mass: f64 = parts.iter().map(|part| part.mass).sum();
            let weighted = parts.iter().map(|part| part.center * part.mass);
            let center = weighted.fold(<$Vector>::ZERO, |sum, part| sum + part) * (1.0 / mass);
            let about = |part: &MassProperties<$space>| {
                part.inertia + inertia_at(part.mass, part.center - center)
            };
            MassProperties {
                mass,
                center,
                inertia: parts
                    .iter()
                    .fold(<$space>::NO_INERTIA, |sum, part| sum + about(part)),
            }
        }

        impl Geometry<$space> for $Shape {
            fn of_radius(radius: f64) -> Result<Self, crate::geometry::shape::ShapeError> {
                Self::ball(radius)
            }
            fn mass_properties(&self, density: f64) -> Option<MassProperties<$space>> {
                let Body::Convex(parts) = &*self.body else {
                    return None;
                };
                let of = |part: &Convex| {
                    let own = part.mass_properties(density);
                    // Moving an exact result by nothing would only add rounding.
                    if part.pose == <$RigidPose>::IDENTITY {
                        return own;
                    }
                    MassProperties {
                        mass: own.mass,
                        center: part.pose.transform_point(own.center),
                        inertia: <$space>::world_inertia(part.pose.rotation, &own.inertia),
                    }
                };
                match parts.as_slice() {
                    [one] => Some(of(one)),
                    many => Some(together(many.iter().map(of).collect())),
                }
            }

            fn bounds(&self, pose: &Pose<$space>) -> Option<super::Bounds<$space>> {
                let pose = pose_of(pose);
                let to_bounds = |b: $parry::bounding_volume::Aabb| super::Bounds {
                    lower: b.mins,
                    upper: b.maxs,
                };
                match &*self.body {
                    Body::Convex(parts) => parts
                        .iter()
                        .map(|part| to_bounds(part.parry.compute_aabb(&(pose * part.pose))))
                        .reduce(super::Bounds::union),
                    Body::Surface(surface) => Some(to_bounds(surface.parry.aabb(&pose))),
                    Body::HalfSpace(_) => None,
                }
            }

            fn radius_about(&self, center: $Vector) -> f64 {
                match &*self.body {
                    Body::Convex(parts) => parts.iter().fold(0.0, |most: f64, part| {
                        let ball = part.parry.compute_bounding_sphere(&part.pose);
                        most.max((ball.center() - center).length() + ball.radius())
                    }),
                    Body::Surface(surface) => surface
                        .points()
                        .iter()
                        .fold(0.0, |most: f64, p| most.max((*p - center).length())),
                    Body::HalfSpace(_) => f64::INFINITY,
                }
            }

            fn ball_radius(&self) -> Option<f64> {
                match &*self.body {
                    Body::Convex(parts) => match parts.as_slice() {
                        [
                            Convex {
                                form: ConvexForm::Ball(radius),
                                pose,
                                ..
                            },
                        ] if pose.translation == <$Vector>::ZERO => Some(*radius),
                        _ => None,
                    },
                    _ => None,
                }
            }

            fn contacts(
                a: (&Self, &Pose<$space>),
                b: (&Self, &Pose<$space>),
                margin: f64,
                out: &mut Vec<ContactPoint<$space>>,
            ) {
                let (pose_a, pose_b) = (pose_of(a.1), pose_of(b.1));
                match (&*a.0.body, &*b.0.body) {
                    (Body::Convex(of_a), Body::Convex(of_b)) => {
                        convex_on_convex((of_a, &pose_a), (of_b, &pose_b), margin, out);
                    }
                    (Body::Surface(surface), Body::Convex(parts)) => {
                        convex_on_surface((surface, &pose_a), (parts, &pose_b), margin, out);
                    }
                    (Body::Convex(parts), Body::Surface(surface)) => {
                        let start = out.len();
                        convex_on_surface((surface, &pose_b), (parts, &pose_a), margin, out);
                        swap_sides(&mut out[start..]);
                    }
                    (Body::HalfSpace(normal), Body::Convex(parts)) => {
                        convex_on_half_space((*normal, &pose_a), (parts, &pose_b), margin, out);
                    }
                    (Body::Convex(parts), Body::HalfSpace(normal)) => {
                        let start = out.len();
                        convex_on_half_space((*normal, &pose_b), (parts, &pose_a), margin, out);
                        swap_sides(&mut out[start..]);
                    }
                    // Surfaces and half-spaces are fixed: they never meet each other.
                    _ => {}
                }
            }

            fn closest_point(&self, pose: &Pose<$space>, point: $Vector) -> ($Vector, f64) {
                let (on, distance) = self.nearest_point(pose.local_point(point));
                (pose.point(on), distance)
            }

            fn is_solid(&self) -> bool {
                matches!(&*self.body, Body::Convex(_))
            }

            fn cast_ray(
                &self,
                pose: &Pose<$space>,
                origin: $Vector,
                direction: $Vector,
                limit: f64,
            ) -> Option<super::Meeting<$space>> {
                let local = pose_of(pose).rotation.inverse() * direction;
                self.meet_ray(pose.local_point(origin), local, limit)
                    .map(|met| met.seen_from(&pose_of(pose)))
            }

            fn cast(
                &self,
                pose: &Pose<$space>,
                mover: (&Self, &Pose<$space>),
                direction: $Vector,
                limit: f64,
            ) -> Option<super::Meeting<$space>> {
                let Body::Convex(parts) = &*mover.0.body else {
                    return None;
                };
                let pose = pose_of(pose);
                let between = pose.inverse() * pose_of(mover.1);
                self.meet_parts(parts, &between, pose.rotation.inverse() * direction, limit)
                    .map(|met| met.seen_from(&pose))
            }

            fn overlaps(&self, pose: &Pose<$space>, solid: (&Self, &Pose<$space>)) -> bool {
                let Body::Convex(parts) = &*solid.0.body else {
                    return false;
                };
                self.overlaps_parts(parts, &(pose_of(pose).inverse() * pose_of(solid.1)))
            }

            fn separation(
                a: (&Self, &Pose<$space>),
                b: (&Self, &Pose<$space>),
            ) -> Option<super::Separation<$space>> {
                let (pose_a, pose_b) = (pose_of(a.1), pose_of(b.1));
                let of_a = a.0.as_parry();
                let of_b = b.0.as_parry();
                let mut least: Option<super::Separation<$space>> = None;
                for (shape_a, offset_a) in &of_a {
                    for (shape_b, offset_b) in &of_b {
                        let found = $parry::query::contact(
                            &(pose_a * *offset_a),
                            &**shape_a,
                            &(pose_b * *offset_b),
                            &**shape_b,
                            f64::MAX,
                        );
                        if let Ok(Some(contact)) = found
                            && least.as_ref().is_none_or(|l| contact.dist < l.distance)
                        {
                            least = Some(super::Separation {
                                point_a: contact.point1,
                                point_b: contact.point2,
                                normal: contact.normal1,
                                distance: contact.dist,
                            });
                        }
                    }
                }
                least
            }

            fn clearance(
                a: (&Self, &Pose<$space>),
                b: (&Self, &Pose<$space>),
                limit: f64,
            ) -> Option<super::Clearance<$space>> {
                let (pose_a, pose_b) = (pose_of(a.1), pose_of(b.1));
                let between = pose_a.inverse() * pose_b;
                let found = match (&*a.0.body, &*b.0.body) {
                    (_, Body::Convex(parts)) => a.0.clearance_of(parts, &between, limit),
                    (Body::Convex(parts), _) => {
                        let found = b.0.clearance_of(parts, &between.inverse(), limit);
                        found.map(|(distance, normal)| (distance, between.rotation * -normal))
                    }
                    _ => None,
                };
                let (distance, normal) = found?;
                Some(super::Clearance {
                    distance,
                    normal: pose_a.rotation * normal,
                })
            }

            fn parts(&self) -> Vec<Part> {
                let at_origin = |form| Part {
                    position: [0.0; 3],
                    rotation: [0.0, 0.0, 0.0, 1.0],
                    form,
                };
                match &*self.body {
                    Body::Convex(parts) => parts
                        .iter()
                        .filter_map(|part| {
                            Some(Part {
                                position: crate::math::algebra::Components::to_array3(
                                    part.pose.translation,
                                ),
                                rotation: <$space as crate::math::algebra::Algebra>::quaternion(
                                    part.pose.rotation,
                                ),
                                form: part.drawn()?,
                            })
                        })
                        .collect(),
                    Body::Surface(surface) => vec![at_origin(surface.form())],
                    Body::HalfSpace(normal) => vec![at_origin(drystone_frame::Form::HalfSpace {
                        normal: crate::math::algebra::Components::to_array3(*normal),
                    })],
                }
            }

            fn skeletons(&self) -> Vec<super::Skeleton> {
                match &*self.body {
                    Body::Convex(parts) => parts
                        .iter()
                        .map(|part| part.skeleton().placed(&part.pose))
                        .collect(),
                    Body::Surface(surface) => vec![surface.skeleton()],
                    Body::HalfSpace(_) => Vec::new(),
                }
            }
        }

        impl $Shape {
            /// The shape as parry's, in pieces with their poses.
            fn as_parry(&self) -> Vec<($parry::shape::SharedShape, $RigidPose)> {
                use $parry::shape::SharedShape;
                match &*self.body {
                    Body::Convex(parts) => parts
                        .iter()
                        .map(|part| (part.parry.clone(), part.pose))
                        .collect(),
                    Body::Surface(surface) => vec![(
                        SharedShape::new(surface.parry.clone()),
                        <$RigidPose>::IDENTITY,
                    )],
                    Body::HalfSpace(normal) => {
                        vec![(SharedShape::halfspace(*normal), <$RigidPose>::IDENTITY)]
                    }
                }
            }
        }

        fn swap_sides(points: &mut [ContactPoint<$space>]) {
            for point in points {
                point.normal = -point.normal;
                point.feature = FeatureId {
                    part_a: point.feature.part_b,
                    part_b: point.feature.part_a,
                    feature_a: point.feature.feature_b,
                    feature_b: point.feature.feature_a,
                };
            }
        }

        fn convex_on_convex(
            a: (&[Convex], &$RigidPose),
            b: (&[Convex], &$RigidPose),
            margin: f64,
            out: &mut Vec<ContactPoint<$space>>,
        ) {
            let several = a.0.len() * b.0.len() > 1;
            for (i, part_a) in a.0.iter().enumerate() {
                let pose_a = *a.1 * part_a.pose;
                for (j, part_b) in b.0.iter().enumerate() {
                    let pose_b = *b.1 * part_b.pose;
                    if several {
                        use $parry::bounding_volume::BoundingVolume as _;
                        let box_a = part_a.parry.compute_aabb(&pose_a).loosened(margin);
                        if !box_a.intersects(&part_b.parry.compute_aabb(&pose_b)) {
                            continue;
                        }
                    }
                    let start = out.len();
                    part_on_part((part_a, &pose_a), (part_b, &pose_b), margin, out);
                    for point in &mut out[start..] {
                        point.feature.part_a = i as u32;
                        point.feature.part_b = j as u32;
                    }
                }
            }
        }

        /// The half-space is A.
        fn convex_on_half_space(
            a: ($Vector, &$RigidPose),
            b: (&[Convex], &$RigidPose),
            margin: f64,
            out: &mut Vec<ContactPoint<$space>>,
        ) {
            let normal = a.1.rotation * a.0;
            for (j, part) in b.0.iter().enumerate() {
                let pose = *b.1 * part.pose;
                let down = pose.rotation.inverse() * -normal;
                let (points, radius) = part.supports(down);
                for (local, feature_b) in points {
                    let point = pose.transform_point(local);
                    let separation = normal.dot(point - a.1.translation) - radius;
                    if separation <= margin {
                        out.push(ContactPoint {
                            position: point - normal * (radius + 0.5 * separation),
                            normal,
                            separation,
                            feature: FeatureId {
                                part_a: 0,
                                part_b: j as u32,
                                feature_a: 0,
                                feature_b,
                            },
                        });
                    }
                }
            }
        }

        fn part_on_part(
            a: (&Convex, &$RigidPose),
            b: (&Convex, &$RigidPose),
            margin: f64,
            out: &mut Vec<ContactPoint<$space>>,
        ) {
            match (a.0.kind(), b.0.kind()) {
                (ConvexKind::Ball(radius_a), ConvexKind::Ball(radius_b)) => {
                    out.extend(super::ball_on_ball::<$space>(
                        (a.1.translation, radius_a),
                        (b.1.translation, radius_b),
                        margin,
                    ));
                }
                (ConvexKind::Other, _) | (_, ConvexKind::Other) => {
                    parry_contacts(a, b, margin, out);
                }
                _ => {
                    let between = a.1.inverse() * *b.1;
                    let start = out.len();
                    let mut emit = |p: LocalContact| {
                        out.push(ContactPoint {
                            position: a.1.transform_point(p.position),
                            normal: <$Vector>::ZERO,
                            separation: p.separation,
                            feature: FeatureId {
                                part_a: 0,
                                part_b: 0,
                                feature_a: p.feature_a,
                                feature_b: p.feature_b,
                            },
                        });
                    };
                    let normal = Convex::own_contacts([a.0, b.0], &between, margin, &mut emit);
                    let normal = a.1.rotation * normal.unwrap_or_default();
                    for point in &mut out[start..] {
                        point.normal = normal;
                    }
                }
            }
        }

        /// Contact by parry, from scratch: a manifold kept from the last step would make this
        /// step's result depend on more than this step's state.
        fn parry_contacts(
            a: (&Convex, &$RigidPose),
            b: (&Convex, &$RigidPose),
            margin: f64,
            out: &mut Vec<ContactPoint<$space>>,
        ) {
            use $parry::query::{
                ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher as _,
            };
            let between = a.1.inverse() * *b.1;
            let mut manifold: ContactManifold<(), ()> = ContactManifold::new();
            let (r, q) = (a.0.rounding, b.0.rounding);
            let found = DefaultQueryDispatcher.contact_manifold_convex_convex(
                &between,
                &*a.0.core,
                &*b.0.core,
                None,
                None,
                margin + r + q,
                &mut manifold,
            );
            if found.is_err() {
                return;
            }
            let normal = a.1.rotation * manifold.local_n1;
            for point in &manifold.points {
                let separation = point.dist - (r + q);
                if separation > margin || !separation.is_finite() {
                    continue;
                }
                let on_a = a.1.transform_point(point.local_p1);
                out.push(ContactPoint {
                    position: on_a + normal * (r + 0.5 * separation),
                    normal,
                    separation,
                    feature: FeatureId {
                        part_a: 0,
                        part_b: 0,
                        feature_a: point.fid1.0,
                        feature_b: point.fid2.0,
                    },
                });
            }
        }
    };
}

pub(crate) use pair_queries;
