//! Rays, casts, nearest points and overlap of shapes, in the plane and in space.
//!
//! As in [`super::pairs`], what is written once here is stamped out for both of parry's crates.
//! The mathematics is in [`super::linear_cast`]; parry gives closest points of convex parts and rays
//! on surfaces. All is computed in the axes of the shape that is asked, so that a scene far from
//! the origin loses no digits.

macro_rules! shape_queries {
    ($Shape:ident, $space:ty, $parry:ident, $Vector:ty, $RigidPose:ty) => {
        /// The skin of two meeting parts against the smaller one's radius: thin, and still wide
        /// enough for closest points to have a direction.
        const SKIN: f64 = 1e-7;
        /// The same where a part is a cylinder or a cone: next to round faces parry's closest
        /// points lose their direction some micrometres before touch.
        const ROUND_SKIN: f64 = 1e-4;
        /// The same for rays, where the closest point is a closed form.
        const RAY_SKIN: f64 = 1e-9;

        impl $Shape {
            pub(super) fn meet_ray(
                &self,
                origin: $Vector,
                direction: $Vector,
                limit: f64,
            ) -> Option<super::Meeting<$space>> {
                let hit = match &*self.body {
                    Body::Convex(parts) => {
                        let mut first: Option<(f64, $Vector, usize)> = None;
                        for (k, part) in parts.iter().enumerate() {
                            if let Some((at, normal)) = part.meet_ray(origin, direction)
                                && first.is_none_or(|best| at < best.0)
                            {
                                first = Some((at, normal, k));
                            }
                        }
                        first
                    }
                    Body::Surface(surface) => {
                        use $parry::query::RayCast as _;
                        let ray = $parry::query::Ray::new(origin, direction);
                        // Finite, so that products of it stay numbers.
                        let far = limit.min(1e150);
                        surface
                            .parry
                            .cast_local_ray_and_get_normal(&ray, far, false)
                            .map(|hit| {
                                // A polyline's end can be met from either side.
                                let towards = hit.normal.dot(direction) > 0.0;
                                let normal = if towards { -hit.normal } else { hit.normal };
                                (hit.time_of_impact, normal, hit.subshape as usize)
                            })
                    }
                    Body::HalfSpace(normal) => super::linear_cast::ray_on_planes::<$space>(
                        origin,
                        direction,
                        std::iter::once((*normal, <$Vector>::ZERO)),
                    )
                    .map(|(at, normal)| (at, normal, 0))
                    .or_else(|| {
                        // Along the plane or out of it: met only if it starts below.
                        (normal.dot(origin) <= 0.0).then_some((0.0, -direction, 0))
                    }),
                };
                let (distance, normal, part) = hit.filter(|hit| hit.0 <= limit)?;
                Some(super::Meeting {
                    distance,
                    point: origin + direction * distance,
                    normal,
                    separation: 0.0,
                    part: part as u32,
                })
            }

            pub(super) fn nearest_point(&self, point: $Vector) -> ($Vector, f64) {
                use $parry::query::PointQuery as _;
                match &*self.body {
                    Body::Convex(parts) => {
                        let mut nearest = (point, f64::INFINITY);
                        for part in parts {
                            let found =
                                part.nearest_point(part.pose.inverse_transform_point(point));
                            if found.1 < nearest.1 {
                                nearest = (part.pose.transform_point(found.0), found.1);
                            }
                        }
                        nearest
                    }
                    Body::Surface(surface) => {
                        let on = surface.parry.project_local_point(point, false).point;
                        (on, (on - point).length())
                    }
                    Body::HalfSpace(normal) => {
                        let height = normal.dot(point);
                        (point - *normal * height, height)
                    }
                }
            }

            /// `between` is the mover's pose in this shape's axes.
            pub(super) fn meet_parts(
                &self,
                mover: &[Convex],
                between: &$RigidPose,
                direction: $Vector,
                limit: f64,
            ) -> Option<super::Meeting<$space>> {
                let mut first: Option<super::Meeting<$space>> = None;
                let mut take = |met: Option<super::Meeting<$space>>, part: usize| {
                    // Overlaps compete by depth, everything else by distance.
                    let key = |m: &super::Meeting<$space>| (m.distance, m.separation);
                    if let Some(met) = met
                        && first.as_ref().is_none_or(|best| key(&met) < key(best))
                    {
                        let part = part as u32;
                        first = Some(super::Meeting { part, ..met });
                    }
                };
                for part in mover {
                    let at = *between * part.pose;
                    match &*self.body {
                        Body::Convex(targets) => {
                            for (k, target) in targets.iter().enumerate() {
                                let seen = target.pose.inverse() * at;
                                let along = target.pose.rotation.inverse() * direction;
                                let met = part_meets_part(target, (part, &seen), along, limit);
                                take(met.map(|m| m.seen_from(&target.pose)), k);
                            }
                        }
                        Body::Surface(surface) => {
                            for index in surface.near_path(part, &at, direction, limit) {
                                if let Some(piece) = surface.piece(index) {
                                    let met =
                                        part_meets_part(&piece, (part, &at), direction, limit);
                                    take(met, index as usize);
                                }
                            }
                        }
                        Body::HalfSpace(normal) => {
                            let met = part_meets_half_space(*normal, (part, &at), direction, limit);
                            take(met, 0);
                        }
                    }
                }
                first
            }

            /// Least distance of a solid, at `between` in this shape's axes, and the direction to
            /// it.
            pub(super) fn clearance_of(
                &self,
                solid: &[Convex],
                between: &$RigidPose,
                limit: f64,
            ) -> Option<(f64, $Vector)> {
                use $parry::bounding_volume::BoundingVolume as _;
                let mut least: Option<(f64, $Vector)> = None;
                let mut take = |distance: f64, normal: $Vector| {
                    if distance <= limit && least.is_none_or(|best| distance < best.0) {
                        least = Some((distance, normal));
                    }
                };
                for part in solid {
                    let at = *between * part.pose;
                    let near = part.parry.compute_aabb(&at).loosened(limit);
                    match &*self.body {
                        Body::Convex(targets) => {
                            for target in targets {
                                if !near.intersects(&target.parry.compute_aabb(&target.pose)) {
                                    continue;
                                }
                                let seen = target.pose.inverse() * at;
                                if let Some(contact) = closest(target, (part, &seen)) {
                                    take(contact.dist, target.pose.rotation * contact.normal1);
                                }
                            }
                        }
                        Body::Surface(surface) => {
                            let center = at.transform_point(part.center());
                            for index in surface.parry.bvh().intersect_aabb(&near) {
                                let Some(piece) = surface.piece(index) else {
                                    continue;
                                };
                                let passes = surface.seams.front
                                    == super::internal_edges::Front::One
                                    && surface.is_behind(&piece, center);
                                if !passes && let Some(contact) = closest(&piece, (part, &at)) {
                                    take(contact.dist, contact.normal1);
                                }
                            }
                        }
                        Body::HalfSpace(normal) => {
                            take(lowest(*normal, (part, &at)).0, *normal);
                        }
                    }
                }
                least
            }

            /// `between` is the other solid's pose in this shape's axes.
            pub(super) fn overlaps_parts(&self, other: &[Convex], between: &$RigidPose) -> bool {
                other.iter().any(|part| {
                    let at = *between * part.pose;
                    match &*self.body {
                        Body::Convex(targets) => targets.iter().any(|target| {
                            let seen = target.pose.inverse() * at;
                            parts_overlap(target, (part, &seen))
                        }),
                        Body::Surface(surface) => surface
                            .near_path(part, &at, <$Vector>::ZERO, 0.0)
                            .into_iter()
                            .filter_map(|index| surface.piece(index))
                            .any(|piece| parts_overlap(&piece, (part, &at))),
                        Body::HalfSpace(normal) => lowest(*normal, (part, &at)).0 <= 0.0,
                    }
                })
            }
        }

        impl super::Meeting<$space> {
            /// A meeting given in the axes of `pose`, in the axes that `pose` is given in.
            fn seen_from(self, pose: &$RigidPose) -> Self {
                Self {
                    point: pose.transform_point(self.point),
                    normal: pose.rotation * self.normal,
                    ..self
                }
            }
        }

        impl Surface {
            /// The pieces that a part can meet on its way, in the surface's order.
            fn near_path(
                &self,
                part: &Convex,
                at: &$RigidPose,
                direction: $Vector,
                limit: f64,
            ) -> Vec<u32> {
                use $parry::bounding_volume::BoundingVolume as _;
                let start = part.parry.compute_aabb(at);
                let way = direction * limit.min(1e150);
                let end = $parry::bounding_volume::Aabb::new(start.mins + way, start.maxs + way);
                let mut pieces: Vec<u32> = self
                    .parry
                    .bvh()
                    .intersect_aabb(&start.merged(&end))
                    .collect();
                pieces.sort_unstable();
                pieces
            }
        }

        impl Convex {
            /// Where a ray given in the axes of the shape enters, and the normal there.
            fn meet_ray(&self, origin: $Vector, direction: $Vector) -> Option<(f64, $Vector)> {
                let origin = self.pose.inverse_transform_point(origin);
                let direction = self.pose.rotation.inverse() * direction;
                let (at, normal) = match self.kind() {
                    ConvexKind::Ball(radius) => {
                        super::linear_cast::ray_on_ball::<$space>(origin, direction, radius)
                    }
                    ConvexKind::Polytope => super::linear_cast::ray_on_planes::<$space>(
                        origin,
                        direction,
                        self.planes(),
                    ),
                    ConvexKind::Capsule | ConvexKind::Rounded | ConvexKind::Other => {
                        self.meet_ray_by_planes(origin, direction)
                    }
                }?;
                Some((at, self.pose.rotation * normal))
            }

            /// The same in the part's own axes, by separating planes.
            fn meet_ray_by_planes(
                &self,
                origin: $Vector,
                direction: $Vector,
            ) -> Option<(f64, $Vector)> {
                let radius = self.reach();
                // From the bounding sphere on all numbers are of the part's own size.
                let (skip, _) =
                    super::linear_cast::ray_on_ball::<$space>(origin, direction, radius)?;
                let start = origin + direction * skip;
                if self.nearest_point(start).1 <= 0.0 {
                    return Some((skip, -direction));
                }
                let met = super::linear_cast::advance::<$space>(
                    direction,
                    2.0 * radius,
                    RAY_SKIN * radius,
                    |way| {
                        let at = start + direction * way;
                        let (on, signed) = self.nearest_point(at);
                        let apart = at - on;
                        let width = apart.length();
                        (signed > 0.0 && width > 0.0).then(|| super::linear_cast::Gap {
                            normal: apart * (1.0 / width),
                            width,
                            point: on,
                        })
                    },
                )?;
                Some((skip + met.distance, met.normal))
            }

            /// What a capsule or a rounded part is built around, with the radius; other parts
            /// themselves.
            fn core(&self) -> (&dyn $parry::shape::Shape, f64) {
                match self.parry.as_capsule() {
                    Some(capsule) => (&capsule.segment, capsule.radius),
                    None => (&*self.core, self.rounding),
                }
            }

            /// How thin a skin may be against the smaller part's radius, for this part's sake.
            fn skin(&self) -> f64 {
                if self.kind() == ConvexKind::Other {
                    ROUND_SKIN
                } else {
                    SKIN
                }
            }

            /// The middle of the part.
            fn center(&self) -> $Vector {
                self.parry.compute_local_bounding_sphere().center()
            }

            /// The largest distance of a point from the part's own origin, m.
            fn reach(&self) -> f64 {
                let ball = self.parry.compute_local_bounding_sphere();
                ball.center().length() + ball.radius()
            }

            /// The point of the surface nearest to a point, and the signed distance.
            fn nearest_point(&self, point: $Vector) -> ($Vector, f64) {
                let (on, distance) = self.nearest_of_core(point);
                if self.rounding == 0.0 {
                    return (on, distance);
                }
                // Out of the core, through its surface and on.
                let away = (point - on) * if distance < 0.0 { -1.0 } else { 1.0 };
                let outward = away.try_normalize().unwrap_or(<$Vector>::Y);
                (on + outward * self.rounding, distance - self.rounding)
            }

            fn nearest_of_core(&self, point: $Vector) -> ($Vector, f64) {
                if matches!(self.kind(), ConvexKind::Polytope | ConvexKind::Rounded) {
                    // Inside, the nearest face is the one that is least below.
                    let mut highest = (f64::NEG_INFINITY, <$Vector>::ZERO);
                    for (normal, on) in self.planes() {
                        let height = normal.dot(point - on);
                        if height > highest.0 {
                            highest = (height, normal);
                        }
                    }
                    if highest.0 <= 0.0 && highest.0.is_finite() {
                        return (point - highest.1 * highest.0, highest.0);
                    }
                }
                let on = self.core.project_local_point(point, false);
                let distance = (on.point - point).length();
                let sign = if on.is_inside { -1.0 } else { 1.0 };
                (on.point, sign * distance)
            }
        }

        /// The closest (or deepest) points of two parts, in the axes of `target`; none if parry
        /// finds no direction between them, as may be at touch.
        fn closest(
            target: &Convex,
            (mover, at): (&Convex, &$RigidPose),
        ) -> Option<$parry::query::Contact> {
            use $parry::query::QueryDispatcher as _;
            let between = |a: &dyn $parry::shape::Shape, b: &dyn $parry::shape::Shape| {
                $parry::query::DefaultQueryDispatcher
                    .contact(at, a, b, f64::MAX)
                    .ok()
                    .flatten()
                    .filter(|contact| contact.dist.is_finite() && contact.normal1.length() > 0.5)
            };
            if !at.translation.is_finite() {
                return None;
            }
            // A capsule is all that is near its segment. Segments stay apart where capsules
            // touch, so that the direction between them is never lost.
            let ((a, r), (b, q)) = (target.core(), mover.core());
            if r + q > 0.0
                && let Some(mut contact) = between(a, b)
                && contact.dist > 0.0
            {
                contact.dist -= r + q;
                contact.point1 += contact.normal1 * r;
                contact.point2 += contact.normal2 * q;
                return Some(contact);
            }
            between(&*target.parry, &*mover.parry)
        }

        /// The plane across the closest points, as wide as the shapes really leave it.
        fn gap(
            target: &Convex,
            (mover, at): (&Convex, &$RigidPose),
        ) -> Option<super::linear_cast::Gap<$Vector>> {
            let contact = closest(target, (mover, at));
            let of_target = target.parry.as_support_map()?;
            let of_mover = mover.parry.as_support_map()?;
            let across = |normal: $Vector| {
                let top = of_target.local_support_point(normal);
                super::linear_cast::Gap {
                    normal,
                    width: normal.dot(of_mover.support_point(at, -normal) - top),
                    point: contact.map_or(top, |contact| contact.point1),
                }
            };
            let between_centers = at.translation.try_normalize();
            let mut widest = across(contact.map(|c| c.normal1).or(between_centers)?);
            let mut consider = |normal: Option<$Vector>| {
                if let Some(gap) = normal.map(across)
                    && gap.width > widest.width
                {
                    widest = gap;
                }
            };
            // Near touch parry may stop with good points and the normal of a step before, and
            // at touch without any. Faces and edges have theirs always.
            consider(
                contact.and_then(|c| (at.transform_point(c.point2) - c.point1).try_normalize()),
            );
            if contact.is_none_or(|c| c.dist <= SKIN * target.reach().max(mover.reach())) {
                consider(Convex::polytope_contacts(
                    [target, mover],
                    at,
                    f64::MAX,
                    &mut |_| {},
                ));
                target
                    .planes()
                    .for_each(|(normal, _)| consider(Some(normal)));
                mover
                    .planes()
                    .for_each(|(normal, _)| consider(Some(at.rotation * -normal)));
            }
            Some(widest)
        }

        fn part_meets_part(
            target: &Convex,
            (mover, at): (&Convex, &$RigidPose),
            direction: $Vector,
            limit: f64,
        ) -> Option<super::Meeting<$space>> {
            // From where the bounding spheres meet on, all numbers are of the parts' own size.
            let (r, q) = (target.reach(), mover.reach());
            let start = at.translation;
            let (skip, _) = super::linear_cast::ray_on_ball::<$space>(start, direction, r + q)?;
            let moved =
                |way: f64| <$RigidPose>::from_parts(start + direction * (skip + way), at.rotation);
            // Next to nothing against both, and more than rounding against the larger.
            let thin = r.min(q) + 1e-5 * r.max(q);
            // Of all planes the one least deep in the overlap says how deep it is.
            if skip == 0.0
                && let Some(start) = gap(target, (mover, at))
                && start.width < -SKIN * thin
            {
                return Some(super::Meeting {
                    distance: 0.0,
                    point: start.point,
                    normal: start.normal,
                    separation: start.width,
                    part: 0,
                });
            }
            let any_ball = [target, mover]
                .map(|p| p.parry.as_ball().is_some())
                .contains(&true);
            let skin = if any_ball {
                SKIN
            } else {
                target.skin().max(mover.skin())
            };
            let mut met = super::linear_cast::advance::<$space>(
                direction,
                limit - skip,
                skin * thin,
                |way| gap(target, (mover, &moved(way))),
            )?;
            if skin > SKIN {
                met = last_stretch(target, (mover, &moved(met.distance)), direction, met)?;
            }
            let distance = skip + met.distance;
            (distance <= limit).then_some(super::Meeting { distance, ..met })
        }

        fn parts_overlap(target: &Convex, (other, at): (&Convex, &$RigidPose)) -> bool {
            use $parry::query::QueryDispatcher as _;
            $parry::query::DefaultQueryDispatcher
                .intersection_test(at, &*target.parry, &*other.parry)
                .is_ok_and(|found| found.intersecting)
        }

        /// Height of the lowest point of a part over the plane, and that point.
        fn lowest(normal: $Vector, (part, at): (&Convex, &$RigidPose)) -> (f64, $Vector) {
            let (points, radius) = part.supports(at.rotation.inverse() * -normal);
            let mut lowest = (f64::INFINITY, at.translation);
            for (local, _) in points {
                let point = at.transform_point(local) - normal * radius;
                let height = normal.dot(point);
                if height < lowest.0 {
                    lowest = (height, point);
                }
            }
            lowest
        }

        fn part_meets_half_space(
            normal: $Vector,
            (part, at): (&Convex, &$RigidPose),
            direction: $Vector,
            limit: f64,
        ) -> Option<super::Meeting<$space>> {
            let (height, point) = lowest(normal, (part, at));
            let below = height < -SKIN * part.reach();
            let closing = -normal.dot(direction);
            if !below && closing <= super::linear_cast::ALONG {
                return None;
            }
            let distance = if below {
                0.0
            } else {
                height.max(0.0) / closing
            };
            let landed = point + direction * distance;
            (distance <= limit).then(|| super::Meeting {
                distance,
                point: landed - normal * normal.dot(landed),
                normal,
                separation: if below { height } else { 0.0 },
                part: 0,
            })
        }
    };
}

pub(crate) use shape_queries;
