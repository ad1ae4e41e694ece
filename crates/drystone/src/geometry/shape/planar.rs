//! Shapes in the plane.

use std::sync::Arc;

use drystone_frame::{Form, Part};
use glamx::{DPose2, DVec2};
use parry::shape::{Polyline, SharedShape};
use parry2d_f64 as parry;

use super::error::{ShapeError, size};
use super::half_space;
use super::internal_edges::{Front, InternalEdges};
use super::pairs::{ConvexKind, pair_queries};
use super::polygon::{self, LocalContact};
use super::polygon_round::{self, Rounded};
use super::queries::shape_queries;
use super::rounded_polygon;
use super::surface_pairs::{CUT_OFF, FACET, Verdict, surface_pairs};
use super::{ContactPoint, FeatureId, Geometry, MassProperties, Meeting, Pose, Skeleton};
use crate::math::algebra::{Algebra, D2};

/// A shape in the plane. Cheap to clone: the data is shared.
///
/// ```
/// use drystone::{Shape2, glam::DVec2};
/// let stone = Shape2::cuboid(DVec2::new(0.2, 0.1))?; // half of each edge, m
/// assert!(Shape2::hull(&[DVec2::ZERO, DVec2::X]).is_err());
/// # Ok::<(), drystone::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shape2 {
    pub(super) body: Arc<Body>,
}

#[derive(Debug)]
pub(super) enum Body {
    Convex(Vec<Convex>),
    Surface(Box<Surface>),
    HalfSpace(DVec2),
}

/// A convex part at a pose in the shape's axes.
#[derive(Debug, Clone)]
pub(super) struct Convex {
    pub(super) pose: DPose2,
    pub(super) form: ConvexForm,
    /// Radius around it, m; part of a disk's or capsule's own radius.
    pub(super) rounding: f64,
    /// Without the rounding.
    pub(super) core: SharedShape,
    /// With it.
    pub(super) parry: SharedShape,
}

#[derive(Debug, Clone)]
pub(super) enum ConvexForm {
    Ball(f64),
    Polygon(Vec<DVec2>, Form),
    Capsule(f64, f64),
}

/// Segments, not necessarily closed.
#[derive(Debug)]
pub(super) struct Surface {
    pub(super) parry: Polyline,
    pub(super) seams: InternalEdges,
}

impl Shape2 {
    /// A disk around the origin. `radius` in m.
    pub fn ball(radius: f64) -> Result<Self, ShapeError> {
        let radius = size("radius", radius)?;
        Ok(Self::one(
            ConvexForm::Ball(radius),
            SharedShape::ball(radius),
        ))
    }

    /// A rectangle around the origin from half of its edges in m.
    pub fn cuboid(half: DVec2) -> Result<Self, ShapeError> {
        size("half-width (x)", half.x)?;
        size("half-height (y)", half.y)?;
        let corners = vec![
            -half,
            DVec2::new(half.x, -half.y),
            half,
            DVec2::new(-half.x, half.y),
        ];
        Ok(Self::one(
            ConvexForm::Polygon(
                corners,
                Form::Box {
                    half: [half.x, half.y, 0.0],
                },
            ),
            SharedShape::cuboid(half.x, half.y),
        ))
    }

    /// A capsule along y: half the distance between the centres of its end disks, and radius.
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, ShapeError> {
        let half_length = size("half-length", half_length)?;
        let radius = size("radius", radius)?;
        Ok(Self::one(
            ConvexForm::Capsule(half_length, radius),
            SharedShape::capsule_y(half_length, radius),
        ))
    }

    /// The convex polygon around points in m, at least three of them not on one line.
    pub fn hull(points: &[DVec2]) -> Result<Self, ShapeError> {
        finite(points)?;
        let given = points.len();
        if !spans_area(points) {
            return Err(ShapeError::FlatHull {
                needed: 3,
                flat: "line",
                given,
            });
        }
        let hull = parry::shape::ConvexPolygon::from_convex_hull(points)
            .ok_or(ShapeError::Hull { given })?;
        let corners = hull.points().to_vec();
        let form = outline(&corners, true);
        let shape = Self::one(ConvexForm::Polygon(corners, form), SharedShape::new(hull));
        let mass = shape.mass_properties(1.0).map_or(0.0, |p| p.mass);
        if mass.is_finite() && mass > 0.0 {
            Ok(shape)
        } else {
            Err(ShapeError::Hull { given })
        }
    }

    /// Everything below the line through the origin with this normal (made unit length).
    /// For fixed bodies: floors and walls.
    pub fn half_space(normal: DVec2) -> Result<Self, ShapeError> {
        let unit = (normal.is_finite() && normal.length() > 1e-6).then(|| normal.normalize());
        let unit = unit.ok_or_else(|| ShapeError::Normal(normal.to_string()))?;
        Ok(Self {
            body: Arc::new(Body::HalfSpace(unit)),
        })
    }

    /// A line through points, solid from either side. For fixed bodies.
    pub fn polyline(points: Vec<DVec2>) -> Result<Self, ShapeError> {
        Self::surface(points, Front::Both)
    }

    /// A line through points that holds only what is in front of it, which is on its left; what
    /// comes from the right passes. For fixed bodies.
    pub fn one_sided_polyline(points: Vec<DVec2>) -> Result<Self, ShapeError> {
        Self::surface(points, Front::One)
    }

    /// The surface of solid ground: heights (along y, m) around the origin, `spacing` metres
    /// apart along x. For fixed bodies.
    ///
    /// Whatever touches it is pushed up, also where its middle is below the surface.
    pub fn height_field(spacing: f64, heights: &[f64]) -> Result<Self, ShapeError> {
        size("spacing", spacing)?;
        if heights.len() < 2 {
            return Err(ShapeError::Grid {
                heights: heights.len(),
                columns: heights.len(),
            });
        }
        let middle = 0.5 * (heights.len() as f64 - 1.0);
        let place = |(k, &y): (usize, &f64)| DVec2::new((k as f64 - middle) * spacing, y);
        Self::surface(
            heights.iter().enumerate().map(place).collect(),
            Front::Ground,
        )
    }

    fn surface(points: Vec<DVec2>, front: Front) -> Result<Self, ShapeError> {
        finite(&points)?;
        if points.len() < 2 {
            return Err(ShapeError::Empty { what: "polyline" });
        }
        if let Some(element) = points.windows(2).position(|w| w[0] == w[1]) {
            return Err(ShapeError::Degenerate {
                what: "segment",
                element,
                flat: "point",
            });
        }
        let last = points.len() as u32 - 1;
        let segments = (0..last).map(|k| [k, k + 1, k]);
        let seams = InternalEdges::new::<D2>(&points, segments, front);
        Ok(Self {
            body: Arc::new(Body::Surface(Box::new(Surface {
                parry: Polyline::new(points, None),
                seams,
            }))),
        })
    }

    /// Several solids as one, each at a pose in the compound's axes.
    pub fn compound(parts: &[(Pose<D2>, Shape2)]) -> Result<Self, ShapeError> {
        if parts.is_empty() {
            return Err(ShapeError::Empty { what: "compound" });
        }
        let mut all = Vec::new();
        for (index, (pose, shape)) in parts.iter().enumerate() {
            let Body::Convex(inner) = &*shape.body else {
                return Err(ShapeError::Part { index });
            };
            let outer = DPose2::from_parts(pose.position, pose.rotation);
            all.extend(inner.iter().map(|part| Convex {
                pose: outer * part.pose,
                ..part.clone()
            }));
        }
        Ok(Self {
            body: Arc::new(Body::Convex(all)),
        })
    }

    /// The solid with all that is within `radius` m of it: corners become round, and everything
    /// reaches further by `radius`.
    pub fn rounded(&self, radius: f64) -> Result<Self, ShapeError> {
        let radius = size("rounding", radius)?;
        let Body::Convex(parts) = &*self.body else {
            return Err(ShapeError::NotSolid);
        };
        let parts = parts.iter().map(|part| part.rounded(radius)).collect();
        Ok(Self {
            body: Arc::new(Body::Convex(parts)),
        })
    }

    fn one(form: ConvexForm, parry: SharedShape) -> Self {
        Self {
            body: Arc::new(Body::Convex(vec![Convex {
                pose: DPose2::IDENTITY,
                form,
                rounding: 0.0,
                core: parry.clone(),
                parry,
            }])),
        }
    }
}

fn finite(points: &[DVec2]) -> Result<(), ShapeError> {
    match points.iter().position(|p| !p.is_finite()) {
        Some(index) => Err(ShapeError::Point { index }),
        None => Ok(()),
    }
}

/// Whether three of the points make a triangle that is not a sliver.
fn spans_area(points: &[DVec2]) -> bool {
    let Some(&origin) = points.first() else {
        return false;
    };
    let along = points
        .iter()
        .map(|&p| p - origin)
        .fold(DVec2::ZERO, |best, d| {
            if d.length() > best.length() { d } else { best }
        });
    let length = along.length();
    length > 0.0
        && points
            .iter()
            .any(|&p| (p - origin).perp_dot(along).abs() > 1e-6 * length * length)
}

fn outline(points: &[DVec2], closed: bool) -> Form {
    Form::Outline {
        points: points.iter().map(|p| [p.x, p.y, 0.0]).collect(),
        closed,
    }
}

impl Surface {
    /// The convex piece `index`: a polygon of two corners.
    pub(super) fn piece(&self, index: u32) -> Option<Convex> {
        let segment = self.parry.segment(index);
        let parry = SharedShape::new(segment);
        Some(Convex {
            pose: DPose2::IDENTITY,
            // Backwards, so that its first side is the one on the left.
            form: ConvexForm::Polygon(vec![segment.b, segment.a], Form::Ball { radius: 0.0 }),
            rounding: 0.0,
            core: parry.clone(),
            parry,
        })
    }

    /// The convex piece `index`, in the place of another one.
    pub(super) fn piece_into(&self, index: u32, slot: &mut Option<Convex>) -> bool {
        *slot = self.piece(index);
        slot.is_some()
    }

    pub(super) fn form(&self) -> Form {
        outline(self.parry.vertices(), false)
    }

    pub(super) fn skeleton(&self) -> Skeleton {
        let mut skeleton = Skeleton::of_outline(self.parry.vertices(), false, 0.0);
        skeleton.edges = self.parry.indices().to_vec();
        skeleton
    }

    pub(super) fn points(&self) -> &[DVec2] {
        self.parry.vertices()
    }

    /// Whether a point on a piece is on its joints, and all of those are inside of its facet.
    fn is_inside_facet(&self, index: u32, point: DVec2) -> bool {
        let [from, to] = self.vertices(index).map(|k| self.points()[k as usize]);
        let along = (to - from).dot(point - from) / (to - from).length_squared();
        let is_at = |end: usize, place: f64| {
            (along - place).abs() <= 1e-6 && self.seams.is_flat(index, end)
        };
        is_at(0, 0.0) || is_at(1, 1.0)
    }

    /// Vertices of the piece `index`.
    fn vertices(&self, index: u32) -> [u32; 2] {
        let segments = self.parry.indices();
        segments.get(index as usize).copied().unwrap_or_default()
    }
}

impl Convex {
    fn rounded(&self, radius: f64) -> Self {
        let mut part = self.clone();
        match &mut part.form {
            ConvexForm::Ball(own) => {
                *own += radius;
                part.parry = SharedShape::ball(*own);
                part.core = part.parry.clone();
            }
            ConvexForm::Capsule(half, own) => {
                *own += radius;
                part.parry = SharedShape::capsule_y(*half, *own);
                part.core = part.parry.clone();
            }
            ConvexForm::Polygon(..) => {
                part.rounding += radius;
                part.parry = around(&part.core, part.rounding);
            }
        }
        part
    }

    /// What the part is built around, in its own axes.
    pub(super) fn skeleton(&self) -> Skeleton {
        match &self.form {
            ConvexForm::Ball(radius) => Skeleton::of_rod(0.0, *radius),
            ConvexForm::Polygon(corners, _) => Skeleton::of_outline(corners, true, self.rounding),
            ConvexForm::Capsule(half, radius) => Skeleton::of_rod(*half, *radius),
        }
    }

    pub(super) fn kind(&self) -> ConvexKind {
        match self.form {
            ConvexForm::Ball(radius) => ConvexKind::Ball(radius),
            ConvexForm::Polygon(..) if self.rounding > 0.0 => ConvexKind::Rounded,
            ConvexForm::Polygon(..) => ConvexKind::Polytope,
            ConvexForm::Capsule(..) => ConvexKind::Capsule,
        }
    }

    /// Points that can be lowest along `down` (this part's axes), with a radius around each.
    pub(super) fn supports(&self, _down: DVec2) -> (Vec<half_space::Support<DVec2>>, f64) {
        match &self.form {
            ConvexForm::Ball(radius) => (vec![(DVec2::ZERO, 0)], *radius),
            ConvexForm::Polygon(corners, _) => {
                let corners = corners.iter().copied().zip(0..);
                (corners.collect(), self.rounding)
            }
            ConvexForm::Capsule(half, radius) => (
                vec![(DVec2::Y * *half, 0), (DVec2::NEG_Y * *half, 1)],
                *radius,
            ),
        }
    }

    /// The flat sides as outward unit normals and points: of a polygon all of its border.
    fn planes(&self) -> impl Iterator<Item = (DVec2, DVec2)> {
        let corners: &[DVec2] = match &self.form {
            ConvexForm::Polygon(corners, _) => corners,
            _ => &[],
        };
        corners
            .iter()
            .enumerate()
            .filter_map(|(k, &corner)| Some((polygon::outward(corners, k)?, corner)))
    }

    /// Corners of what the part is built around, in the axes that `pose` is given in, and the
    /// radius around it.
    fn core_at(&self, pose: &DPose2) -> (Vec<DVec2>, f64) {
        let at = |point: DVec2| pose.transform_point(point);
        match &self.form {
            ConvexForm::Ball(radius) => (vec![at(DVec2::ZERO)], *radius),
            ConvexForm::Polygon(corners, _) => {
                (corners.iter().map(|&c| at(c)).collect(), self.rounding)
            }
            ConvexForm::Capsule(half, radius) => {
                let end = DVec2::Y * *half;
                (vec![at(end), at(-end)], *radius)
            }
        }
    }

    /// Contact of two parts, `b` at `between` in `a`'s axes.
    pub(super) fn own_contacts(
        [a, b]: [&Self; 2],
        between: &DPose2,
        margin: f64,
        emit: &mut dyn FnMut(LocalContact),
    ) -> Option<DVec2> {
        if a.kind() == ConvexKind::Polytope && b.kind() == ConvexKind::Polytope {
            return Self::polytope_contacts([a, b], between, margin, emit);
        }
        let (core_a, radius_a) = a.core_at(&DPose2::IDENTITY);
        let (core_b, radius_b) = b.core_at(between);
        let of_a = Rounded {
            core: &core_a,
            radius: radius_a,
        };
        let of_b = Rounded {
            core: &core_b,
            radius: radius_b,
        };
        polygon_round::contacts(of_a, of_b, margin, emit)
    }

    /// Contact with one side of a segment by the side's own normal: what of the part is over it.
    fn face_contacts(
        (segment, side): (&Self, usize),
        (part, between): (&Self, &DPose2),
        margin: f64,
        emit: &mut dyn FnMut(LocalContact),
    ) -> Option<DVec2> {
        let ConvexForm::Polygon(ends, _) = &segment.form else {
            return None;
        };
        let (core, radius) = part.core_at(between);
        let of_part = Rounded {
            core: &core,
            radius,
        };
        polygon_round::over_edge((ends, side), of_part, margin, emit)
    }

    /// Contact of two polygons, `b` at `between` in `a`'s axes.
    pub(super) fn polytope_contacts(
        [a, b]: [&Self; 2],
        between: &DPose2,
        margin: f64,
        emit: &mut dyn FnMut(LocalContact),
    ) -> Option<DVec2> {
        let (ConvexForm::Polygon(p, _), ConvexForm::Polygon(q, _)) = (&a.form, &b.form) else {
            return None;
        };
        let q: Vec<DVec2> = q.iter().map(|&c| between.transform_point(c)).collect();
        let mut points = Vec::new();
        let normal = polygon::contacts(p, &q, margin, &mut points);
        points.into_iter().for_each(emit);
        normal
    }

    /// What is drawn for the part.
    #[allow(clippy::unnecessary_wraps)] // Its twin in space may have another part drawn for it.
    pub(super) fn drawn(&self) -> Option<Form> {
        Some(match &self.form {
            ConvexForm::Ball(radius) => Form::Ball { radius: *radius },
            ConvexForm::Polygon(corners, _) if self.rounding > 0.0 => {
                outline(&rounded_polygon::draw(corners, self.rounding), true)
            }
            ConvexForm::Polygon(_, form) => form.clone(),
            ConvexForm::Capsule(half_length, radius) => Form::Capsule {
                half_length: *half_length,
                radius: *radius,
            },
        })
    }
}

impl Convex {
    pub(super) fn mass_properties(&self, density: f64) -> MassProperties<D2> {
        let properties = match &self.form {
            ConvexForm::Capsule(half, radius) => capsule_mass(*half, *radius, density),
            ConvexForm::Polygon(corners, _) if self.rounding > 0.0 => {
                let moments = rounded_polygon::of_polygon(corners, self.rounding);
                let (center, inertia) = moments.center_and_inertia();
                parry::mass_properties::MassProperties::new(
                    center,
                    moments.area * density,
                    inertia * density,
                )
            }
            _ => self.parry.mass_properties(density),
        };
        MassProperties {
            mass: properties.mass(),
            center: properties.local_com,
            inertia: properties.principal_inertia(),
        }
    }
}

/// The shape with a radius around it, for parry's queries.
fn around(core: &SharedShape, radius: f64) -> SharedShape {
    use parry::shape::RoundShape;
    if let Some(cuboid) = core.as_cuboid() {
        SharedShape::new(RoundShape {
            inner_shape: *cuboid,
            border_radius: radius,
        })
    } else if let Some(hull) = core.as_convex_polygon() {
        SharedShape::new(RoundShape {
            inner_shape: hull.clone(),
            border_radius: radius,
        })
    } else {
        core.clone()
    }
}

/// Mass of a flat capsule: a rectangle and two half disks. parry's inertia of it is off by some
/// percent. A half disk has ½ m r² about the middle of its flat side and its centroid 4r/3π from
/// there; moved out by `half`, the two add M (½ r² + half² + 2 · half · 4r/3π).
fn capsule_mass(half: f64, radius: f64, density: f64) -> parry::mass_properties::MassProperties {
    use std::f64::consts::PI;
    let tube = density * 4.0 * half * radius;
    let disk = density * PI * radius * radius;
    let centroid = 4.0 * radius / (3.0 * PI);
    let of_tube = tube * (half * half + radius * radius) / 3.0;
    let of_caps = disk * (0.5 * radius * radius + half * half + 2.0 * half * centroid);
    parry::mass_properties::MassProperties::new(DVec2::ZERO, tube + disk, of_tube + of_caps)
}

/// In the plane no part is so round that a cast needs to go on after separating planes.
#[allow(clippy::unnecessary_wraps)] // Its twin in space may find that the two pass each other.
fn last_stretch(
    _target: &Convex,
    _mover: (&Convex, &DPose2),
    _direction: DVec2,
    met: Meeting<D2>,
) -> Option<Meeting<D2>> {
    Some(met)
}

/// Inertia of a point mass (kg) at the end of an arm (m), kg·m².
fn inertia_at(mass: f64, arm: DVec2) -> f64 {
    mass * arm.dot(arm)
}

fn pose_of(pose: &Pose<D2>) -> DPose2 {
    DPose2::from_parts(pose.position, pose.rotation)
}

pair_queries!(Shape2, D2, parry2d_f64, DVec2, DPose2);
shape_queries!(Shape2, D2, parry2d_f64, DVec2, DPose2);
surface_pairs!(D2, parry2d_f64, DVec2, DPose2);
