//! Shapes in space.

mod contacts;

use std::sync::Arc;

use drystone_frame::{Form, Part};
use glamx::{DPose3, DVec3};
use parry::shape::{Cone, Cylinder, SharedShape};
use parry3d_f64 as parry;

use super::decompose::Role;
use super::error::{ShapeError, size};
use super::half_space;
use super::mpr;
use super::pairs::{ConvexKind, pair_queries};
use super::polyhedron::Polyhedron;
use super::polyhedron_sat::LocalContact;
use super::queries::shape_queries;
use super::rounded_polyhedron;
use super::spatial_surface::Surface;
use super::surface_pairs::{CUT_OFF, FACET, Verdict, surface_pairs};
use super::{ContactPoint, FeatureId, Geometry, MassProperties, Meeting, Pose, Skeleton};
use crate::math::algebra::{Algebra, D3};

/// A shape in space. Cheap to clone: the data is shared.
///
/// ```
/// use drystone::{Shape3, glam::DVec3};
/// let stone = Shape3::cuboid(DVec3::new(0.2, 0.1, 0.15))?; // half of each edge, m
/// assert!(Shape3::ball(-1.0).is_err());
/// # Ok::<(), drystone::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shape3 {
    pub(super) body: Arc<Body>,
}

#[derive(Debug)]
pub(super) enum Body {
    Convex(Vec<Convex>),
    Surface(Box<Surface>),
    HalfSpace(DVec3),
}

/// A convex part at a pose in the shape's axes.
#[derive(Debug, Clone)]
pub(super) struct Convex {
    pub(super) pose: DPose3,
    pub(super) form: ConvexForm,
    /// Radius around it, m; part of a ball's or capsule's own radius.
    pub(super) rounding: f64,
    /// What it has mass and looks for.
    pub(super) role: Role,
    /// Without the rounding.
    pub(super) core: SharedShape,
    /// With it.
    pub(super) parry: SharedShape,
}

#[derive(Debug, Clone)]
pub(super) enum ConvexForm {
    Ball(f64),
    Polytope(Box<Polyhedron>, Form),
    Capsule(f64, f64),
    Cylinder(f64, f64),
    Cone(f64, f64),
}

impl Shape3 {
    /// A ball around the origin. `radius` in m.
    pub fn ball(radius: f64) -> Result<Self, ShapeError> {
        let radius = size("radius", radius)?;
        Ok(Self::one(
            ConvexForm::Ball(radius),
            SharedShape::ball(radius),
        ))
    }

    /// A box around the origin from half of its edges in m.
    pub fn cuboid(half: DVec3) -> Result<Self, ShapeError> {
        for (what, value) in [
            ("half-width (x)", half.x),
            ("half-height (y)", half.y),
            ("half-depth (z)", half.z),
        ] {
            size(what, value)?;
        }
        Ok(Self::one(
            ConvexForm::Polytope(
                Box::new(Polyhedron::cuboid(half)),
                Form::Box {
                    half: half.to_array(),
                },
            ),
            SharedShape::cuboid(half.x, half.y, half.z),
        ))
    }

    /// A capsule along y: half the distance between the centres of its end balls, and radius.
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, ShapeError> {
        let half_length = size("half-length", half_length)?;
        let radius = size("radius", radius)?;
        Ok(Self::one(
            ConvexForm::Capsule(half_length, radius),
            SharedShape::capsule_y(half_length, radius),
        ))
    }

    /// A cylinder along y.
    pub fn cylinder(half_height: f64, radius: f64) -> Result<Self, ShapeError> {
        let half_height = size("half-height", half_height)?;
        let radius = size("radius", radius)?;
        Ok(Self::one(
            ConvexForm::Cylinder(half_height, radius),
            SharedShape::new(Cylinder::new(half_height, radius)),
        ))
    }

    /// A cone along y, its tip at +`half_height`.
    pub fn cone(half_height: f64, radius: f64) -> Result<Self, ShapeError> {
        let half_height = size("half-height", half_height)?;
        let radius = size("radius", radius)?;
        Ok(Self::one(
            ConvexForm::Cone(half_height, radius),
            SharedShape::new(Cone::new(half_height, radius)),
        ))
    }

    /// The convex hull of points in m, at least four of them not in one plane.
    pub fn hull(points: &[DVec3]) -> Result<Self, ShapeError> {
        finite(points)?;
        if !spans_volume(points) {
            return Err(ShapeError::FlatHull {
                needed: 4,
                flat: "plane",
                given: points.len(),
            });
        }
        let given = points.len();
        let (vertices, triangles) = parry::transformation::try_convex_hull(points)
            .map_err(|_| ShapeError::Hull { given })?;
        let hull = parry::shape::ConvexPolyhedron::from_convex_mesh(vertices.clone(), &triangles)
            .ok_or(ShapeError::Hull { given })?;
        let faces = hull
            .faces()
            .iter()
            .map(|face| {
                let start = face.first_vertex_or_edge as usize;
                let end = start + face.num_vertices_or_edges as usize;
                (
                    face.normal,
                    hull.vertices_adj_to_face()[start..end].to_vec(),
                )
            })
            .collect();
        let form = Form::Mesh {
            points: vertices.iter().map(DVec3::to_array).collect(),
            triangles,
        };
        Self::one(
            ConvexForm::Polytope(
                Box::new(Polyhedron::new(hull.points().to_vec(), faces)),
                form,
            ),
            SharedShape::new(hull),
        )
        .with_volume(given)
    }

    /// Everything below the plane through the origin with this normal (made unit length).
    /// For fixed bodies: floors and walls.
    pub fn half_space(normal: DVec3) -> Result<Self, ShapeError> {
        let unit = (normal.is_finite() && normal.length() > 1e-6).then(|| normal.normalize());
        let unit = unit.ok_or_else(|| ShapeError::Normal(normal.to_string()))?;
        Ok(Self {
            body: Arc::new(Body::HalfSpace(unit)),
        })
    }

    /// Several solids as one, each at a pose in the compound's axes.
    pub fn compound(parts: &[(Pose<D3>, Shape3)]) -> Result<Self, ShapeError> {
        if parts.is_empty() {
            return Err(ShapeError::Empty { what: "compound" });
        }
        let mut all = Vec::new();
        for (index, (pose, shape)) in parts.iter().enumerate() {
            let Body::Convex(inner) = &*shape.body else {
                return Err(ShapeError::Part { index });
            };
            let outer = DPose3::from_parts(pose.position, pose.rotation);
            all.extend(inner.iter().map(|part| Convex {
                pose: outer * part.pose,
                ..part.clone()
            }));
        }
        Ok(Self {
            body: Arc::new(Body::Convex(all)),
        })
    }

    /// The solid with all that is within `radius` m of it: edges and corners become round, and
    /// everything reaches further by `radius`.
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

    /// Refuses a hull whose volume is lost in rounding.
    fn with_volume(self, given: usize) -> Result<Self, ShapeError> {
        let mass = self.mass_properties(1.0).map_or(0.0, |p| p.mass);
        if mass.is_finite() && mass > 0.0 {
            Ok(self)
        } else {
            Err(ShapeError::Hull { given })
        }
    }

    fn one(form: ConvexForm, parry: SharedShape) -> Self {
        Self {
            body: Arc::new(Body::Convex(vec![Convex {
                pose: DPose3::IDENTITY,
                form,
                rounding: 0.0,
                role: Role::Itself,
                core: parry.clone(),
                parry,
            }])),
        }
    }
}

#[cfg(test)]
impl Shape3 {
    /// The corners and faces of a hull or a box.
    pub(super) fn polyhedron(&self) -> Option<&Polyhedron> {
        match &*self.body {
            Body::Convex(parts) => match &parts.as_slice()[0].form {
                ConvexForm::Polytope(hull, _) => Some(hull),
                _ => None,
            },
            _ => None,
        }
    }
}

pub(super) fn finite(points: &[DVec3]) -> Result<(), ShapeError> {
    match points.iter().position(|p| !p.is_finite()) {
        Some(index) => Err(ShapeError::Point { index }),
        None => Ok(()),
    }
}

/// Whether four of the points make a tetrahedron that is not a sliver: each next point is the
/// one furthest from what the earlier ones span, and must be a millionth of the size away.
fn spans_volume(points: &[DVec3]) -> bool {
    let Some(&origin) = points.first() else {
        return false;
    };
    let furthest = |measure: &dyn Fn(DVec3) -> f64| {
        points
            .iter()
            .map(|&p| (measure(p - origin), p - origin))
            .fold((0.0, DVec3::ZERO), |best, next| {
                if next.0 > best.0 { next } else { best }
            })
    };
    let (length, along) = furthest(&|d| d.length());
    if length <= 0.0 {
        return false;
    }
    let along = along / length;
    let (width, across) = furthest(&|d| d.cross(along).length());
    if width <= 1e-6 * length {
        return false;
    }
    let normal = along.cross(across).normalize();
    furthest(&|d| d.dot(normal).abs()).0 > 1e-6 * length
}

impl Convex {
    fn rounded(&self, radius: f64) -> Self {
        let mut part = self.clone();
        // The radius belongs to the parts, not to the mesh that they were cut from.
        part.role = Role::Itself;
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
            _ => {
                part.rounding += radius;
                part.parry = around(&part.core, part.rounding);
            }
        }
        part
    }

    pub(super) fn kind(&self) -> ConvexKind {
        match self.form {
            ConvexForm::Ball(radius) => ConvexKind::Ball(radius),
            ConvexForm::Polytope(..) if self.rounding > 0.0 => ConvexKind::Rounded,
            ConvexForm::Polytope(..) => ConvexKind::Polytope,
            ConvexForm::Capsule(..) => ConvexKind::Capsule,
            _ => ConvexKind::Other,
        }
    }

    /// Points that can be lowest along `down` (this part's axes), with a radius around each.
    pub(super) fn supports(&self, down: DVec3) -> (Vec<half_space::Support<DVec3>>, f64) {
        match &self.form {
            ConvexForm::Ball(radius) => (vec![(DVec3::ZERO, 0)], *radius),
            ConvexForm::Polytope(hull, _) => {
                let corners = hull.points.iter().copied().zip(0..);
                (corners.collect(), self.rounding)
            }
            ConvexForm::Capsule(half, radius) => (
                vec![(DVec3::Y * *half, 0), (DVec3::NEG_Y * *half, 1)],
                *radius,
            ),
            ConvexForm::Cylinder(half, radius) => {
                (half_space::cylinder(*half, *radius, down), self.rounding)
            }
            ConvexForm::Cone(half, radius) => {
                (half_space::cone(*half, *radius, down), self.rounding)
            }
        }
    }

    /// The flat faces as outward unit normals and points: of a polytope all of its surface.
    fn planes(&self) -> impl Iterator<Item = (DVec3, DVec3)> {
        let up = |half: f64| Some((DVec3::Y, DVec3::Y * half));
        let down = |half: f64| Some((DVec3::NEG_Y, DVec3::NEG_Y * half));
        let (hull, ends) = match &self.form {
            ConvexForm::Polytope(hull, _) => (Some(hull), [None, None]),
            ConvexForm::Cylinder(half, _) => (None, [up(*half), down(*half)]),
            ConvexForm::Cone(half, _) => (None, [None, down(*half)]),
            ConvexForm::Ball(_) | ConvexForm::Capsule(..) => (None, [None, None]),
        };
        let faces = hull.into_iter().flat_map(|hull| {
            let corners = hull.faces().map(|face| face.first());
            hull.normals
                .iter()
                .zip(corners)
                .filter_map(|(&normal, corner)| Some((normal, hull.point(*corner?))))
        });
        faces.chain(ends.into_iter().flatten())
    }

    /// What the part is built around, in its own axes.
    pub(super) fn skeleton(&self) -> Skeleton {
        let rounding = self.rounding;
        match &self.form {
            ConvexForm::Ball(radius) => Skeleton::of_rod(0.0, *radius),
            ConvexForm::Polytope(hull, _) => Skeleton::of_polyhedron(hull, rounding),
            ConvexForm::Capsule(half, radius) => Skeleton::of_rod(*half, *radius),
            ConvexForm::Cylinder(half, radius) => {
                Skeleton::of_revolution(*half, *radius, false, rounding)
            }
            ConvexForm::Cone(half, radius) => {
                Skeleton::of_revolution(*half, *radius, true, rounding)
            }
        }
    }

    /// What is drawn for the part, if something is.
    pub(super) fn drawn(&self) -> Option<Form> {
        match &self.role {
            Role::Itself => Some(self.form()),
            Role::All(whole) => Some(whole.form.clone()),
            Role::Silent => None,
        }
    }

    fn form(&self) -> Form {
        if self.rounding > 0.0
            && let Some(form) = self.rounded_form()
        {
            return form;
        }
        match &self.form {
            ConvexForm::Ball(radius) => Form::Ball { radius: *radius },
            ConvexForm::Polytope(_, form) => form.clone(),
            ConvexForm::Capsule(half_length, radius) => Form::Capsule {
                half_length: *half_length,
                radius: *radius,
            },
            ConvexForm::Cylinder(half_height, radius) => Form::Cylinder {
                half_height: *half_height,
                radius: *radius,
            },
            ConvexForm::Cone(half_height, radius) => Form::Cone {
                half_height: *half_height,
                radius: *radius,
            },
        }
    }
}

impl Convex {
    pub(super) fn mass_properties(&self, density: f64) -> MassProperties<D3> {
        let moments = match &self.form {
            ConvexForm::Polytope(hull, _) => rounded_polyhedron::of_polyhedron(hull, self.rounding),
            ConvexForm::Cylinder(half, radius) => rounded_polyhedron::of_revolution(
                &rounded_polyhedron::cylinder_outline(*half, *radius, self.rounding),
            ),
            ConvexForm::Cone(half, radius) => rounded_polyhedron::of_revolution(
                &rounded_polyhedron::cone_outline(*half, *radius, self.rounding),
            ),
            ConvexForm::Ball(_) | ConvexForm::Capsule(..) => rounded_polyhedron::Moments::default(),
        };
        // parry finds principal axes first, and finds wrong ones where two moments are equal; of what
        // it knows in closed form these are the shape's own axes.
        let is_hull = self.parry.as_convex_polyhedron().is_some();
        let moments = match &self.role {
            Role::Silent => return nothing(),
            Role::All(whole) => whole.moments,
            Role::Itself if self.rounding == 0.0 && !is_hull || moments.volume <= 0.0 => {
                let properties = self.parry.mass_properties(density);
                return MassProperties {
                    mass: properties.mass(),
                    center: properties.local_com,
                    inertia: properties.reconstruct_inertia_matrix(),
                };
            }
            Role::Itself => moments,
        };
        let (center, inertia) = moments.center_and_inertia();
        MassProperties {
            mass: moments.volume * density,
            center,
            inertia: inertia * density,
        }
    }

    /// A rounded part as triangles, to draw.
    fn rounded_form(&self) -> Option<Form> {
        let (points, triangles) = match &self.form {
            ConvexForm::Polytope(hull, _) => {
                let points = rounded_polyhedron::draw_points(hull, self.rounding);
                parry::transformation::try_convex_hull(&points).ok()?
            }
            ConvexForm::Cylinder(half, radius) => rounded_polyhedron::draw_revolution(
                &rounded_polyhedron::cylinder_outline(*half, *radius, self.rounding),
            ),
            ConvexForm::Cone(half, radius) => rounded_polyhedron::draw_revolution(
                &rounded_polyhedron::cone_outline(*half, *radius, self.rounding),
            ),
            ConvexForm::Ball(_) | ConvexForm::Capsule(..) => return None,
        };
        Some(Form::Mesh {
            points: points.iter().map(DVec3::to_array).collect(),
            triangles,
        })
    }
}

/// The shape with a radius around it, for parry's queries.
fn around(core: &SharedShape, radius: f64) -> SharedShape {
    use parry::shape::RoundShape;
    macro_rules! rounded {
        ($inner:expr) => {
            SharedShape::new(RoundShape {
                inner_shape: $inner.clone(),
                border_radius: radius,
            })
        };
    }
    if let Some(cuboid) = core.as_cuboid() {
        rounded!(cuboid)
    } else if let Some(cylinder) = core.as_cylinder() {
        rounded!(cylinder)
    } else if let Some(cone) = core.as_cone() {
        rounded!(cone)
    } else if let Some(hull) = core.as_convex_polyhedron() {
        rounded!(hull)
    } else {
        core.clone()
    }
}

/// A portal looks for normals within about 45° of the one it starts from; grazing may need more.
const GRAZING_RESTARTS: usize = 4;

/// Goes on from where separating planes led a cast of cylinders or cones: [`mpr`].
fn last_stretch(
    target: &Convex,
    (mover, at): (&Convex, &DPose3),
    direction: DVec3,
    met: Meeting<D3>,
) -> Option<Meeting<D3>> {
    let of_target = target.parry.as_support_map()?;
    let of_mover = mover.parry.as_support_map()?;
    let size = target.reach() + mover.reach();
    let support = |normal: DVec3| {
        let on_target = of_target.local_support_point(normal);
        Some(mpr::Pair {
            on_target,
            between: of_mover.support_point(at, -normal) - on_target,
        })
    };
    let from = |normal: DVec3| mpr::touch((direction, normal), size, 1e-10 * size, support);
    let mut touch = from(met.normal)?;
    for _ in 0..GRAZING_RESTARTS {
        if touch.is_bounded {
            break;
        }
        touch = from(touch.normal)?;
    }
    // Bounded by nothing and far from where the planes led: the two only nearly meet.
    if !touch.is_bounded && touch.way > 1e-3 * size {
        return None;
    }
    Some(Meeting {
        distance: met.distance + touch.way.max(0.0),
        point: touch.point,
        normal: touch.normal,
        ..met
    })
}

/// Mass properties of what weighs nothing: the default matrix is the identity.
fn nothing() -> MassProperties<D3> {
    MassProperties {
        mass: 0.0,
        center: DVec3::ZERO,
        inertia: D3::NO_INERTIA,
    }
}

/// Inertia of a point mass (kg) at the end of an arm (m), kg·m².
fn inertia_at(mass: f64, arm: DVec3) -> glamx::DMat3 {
    let outer = glamx::DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
    (glamx::DMat3::from_diagonal(DVec3::splat(arm.dot(arm))) - outer) * mass
}

fn pose_of(pose: &Pose<D3>) -> DPose3 {
    DPose3::from_parts(pose.position, pose.rotation)
}

pair_queries!(Shape3, D3, parry3d_f64, DVec3, DPose3);
shape_queries!(Shape3, D3, parry3d_f64, DVec3, DPose3);
surface_pairs!(D3, parry3d_f64, DVec3, DPose3);
