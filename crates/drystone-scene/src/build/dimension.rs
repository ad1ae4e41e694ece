//! What differs between 2D and 3D when a scene is built.

use drystone::glam::{DMat3, DQuat, DRot2, DVec2, DVec3};
use drystone::{Algebra, D2, D3, Mesh, Space};

use super::check::{finite, positive, vector, wrong_length};
use super::{deformable, shape_flat, shape_solid};
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::repeat::Plane;
use crate::schema::{Inertia, Rotation, Shape, SoftShape, Spin};

/// A space that scenes can be built in.
pub(crate) trait Dimension: Space {
    /// Names of the axes, for errors.
    const AXES: &'static str;
    /// Whether things extend along z.
    const HAS_DEPTH: bool;

    /// The vector, if there are as many numbers as axes.
    fn vector(values: &[f64]) -> Option<Self::Vector>;
    /// The orientation.
    fn rotation(rotation: &Rotation, path: &FieldPath) -> Result<Self::Rotation, Flaw>;
    /// The spin.
    fn spin(spin: &Spin, path: &FieldPath) -> Result<Self::Spin, Flaw>;
    /// The inertia, positive.
    fn inertia(inertia: &Inertia, path: &FieldPath) -> Result<Self::Inertia, Flaw>;
    /// The shape.
    fn shape(shape: &Shape, path: &FieldPath) -> Result<Self::Shape, Flaw>;
    /// The mesh of a deformable's shape.
    fn soft_mesh(shape: &SoftShape, path: &FieldPath) -> Result<Mesh<Self>, Flaw>;
    /// The turn by `angle` rad in a plane: about z (upright) or about y (flat, 3D only).
    fn turn_in(plane: Plane, angle: f64) -> Self::Spin;
    /// The direction at `angle` rad in a plane.
    fn direction_in(plane: Plane, angle: f64) -> Self::Vector;
    /// An orientation from three numbers drawn evenly from 0..1, all orientations alike.
    fn rotation_by_chance(numbers: [f64; 3]) -> Self::Rotation;
    /// An orientation whose x axis is along a vector, if that has any length.
    fn along(axis: Self::Vector) -> Option<Self::Rotation>;
    /// An orientation whose x axis is along z: that of a hinge that turns in the picture.
    fn hinge_frame() -> Self::Rotation;
    /// A stone of a wall.
    fn stone(stone: &Stone) -> Result<Self::Shape, drystone::ShapeError>;
}

/// A stone of a wall: a block between two levels with corners moved inwards.
pub(crate) struct Stone {
    /// Half of its length along x, m.
    pub(crate) half_length: f64,
    /// Half of its height along y, m.
    pub(crate) half_height: f64,
    /// Half of its thickness along z at the bottom and at the top, m.
    pub(crate) half_depth: [f64; 2],
    /// How far each of the eight corners is moved inwards along x and z, m.
    pub(crate) inwards: [[f64; 2]; 8],
}

impl Stone {
    /// The corners in space.
    fn corners(&self) -> Vec<DVec3> {
        let signs = [-1.0, 1.0];
        let mut corners = Vec::with_capacity(8);
        for (level, y) in signs.into_iter().enumerate() {
            for x in signs {
                for z in signs {
                    let [dx, dz] = self.inwards.get(corners.len()).copied().unwrap_or_default();
                    let depth = self.half_depth.get(level).copied().unwrap_or_default();
                    corners.push(DVec3::new(
                        x * (self.half_length - dx),
                        y * self.half_height,
                        z * (depth - dz),
                    ));
                }
            }
        }
        corners
    }

    /// Whether it is a box.
    fn is_box(&self) -> bool {
        let all_inwards = self.inwards.iter().flatten();
        self.half_depth[0] == self.half_depth[1] && all_inwards.into_iter().all(|&x| x == 0.0)
    }

    /// The stone in space, as a scene would have it.
    pub(crate) fn solid(&self) -> Shape {
        if self.is_box() {
            let half = [self.half_length, self.half_height, self.half_depth[0]];
            return Shape::Box {
                size: half.map(|half| 2.0 * half).to_vec(),
                rounding: None,
            };
        }
        let corners = self.corners().into_iter();
        Shape::Hull {
            points: corners.map(|corner| corner.to_array().to_vec()).collect(),
            rounding: None,
        }
    }
}

/// Degrees to rad.
pub(super) fn radians(degrees: f64) -> f64 {
    degrees * (std::f64::consts::PI / 180.0)
}

impl Dimension for D2 {
    const AXES: &'static str = "x, y";
    const HAS_DEPTH: bool = false;

    fn vector(values: &[f64]) -> Option<DVec2> {
        <[f64; 2]>::try_from(values).ok().map(DVec2::from_array)
    }

    fn along(axis: DVec2) -> Option<DRot2> {
        let length = axis.length();
        (length > 1e-9).then(|| DRot2::from_cos_sin_unchecked(axis.x / length, axis.y / length))
    }

    fn hinge_frame() -> DRot2 {
        DRot2::default()
    }

    fn rotation(rotation: &Rotation, path: &FieldPath) -> Result<DRot2, Flaw> {
        let Rotation::Angle(degrees) = rotation else {
            let flaw = Flaw::new(path.clone(), "in 2D a rotation is one angle in degrees");
            return Err(flaw.help("write, for example, `rotation = 30`"));
        };
        let angle = radians(finite(*degrees, path.clone())?);
        Ok(D2::turn(DRot2::default(), angle))
    }

    fn spin(spin: &Spin, path: &FieldPath) -> Result<f64, Flaw> {
        match spin {
            Spin::Flat(value) => finite(*value, path.clone()),
            Spin::Solid(_) => {
                let problem = "in 2D this is one number, counter-clockwise";
                Err(Flaw::new(path.clone(), problem))
            }
        }
    }

    fn inertia(inertia: &Inertia, path: &FieldPath) -> Result<f64, Flaw> {
        match inertia {
            Inertia::Flat(value) => positive(*value, "kg·m²", path.clone()),
            Inertia::Solid(_) => {
                let problem = "in 2D the inertia is one number (kg·m²)";
                Err(Flaw::new(path.clone(), problem))
            }
        }
    }

    fn shape(shape: &Shape, path: &FieldPath) -> Result<drystone::Shape2, Flaw> {
        shape_flat::shape(shape, path)
    }

    fn soft_mesh(shape: &SoftShape, path: &FieldPath) -> Result<Mesh<D2>, Flaw> {
        match shape {
            SoftShape::Rope { from, to, segments } => {
                deformable::rope((from, to), *segments, &path.key("rope"))
            }
            SoftShape::Block { size, cells } => {
                let (size, cells) = deformable::grid(size, cells, &path.key("block"))?;
                Ok(Mesh::<D2>::block(size, cells))
            }
            SoftShape::Path { points, closed } => {
                deformable::path((points, *closed), &path.key("path"))
            }
            SoftShape::Mesh { .. } => deformable::mesh(shape, &path.key("mesh")),
            SoftShape::Net { .. } | SoftShape::Cloth { .. } => {
                Err(deformable::other_dimension(shape, path))
            }
        }
    }

    fn turn_in(_plane: Plane, angle: f64) -> f64 {
        angle
    }

    fn direction_in(_plane: Plane, angle: f64) -> DVec2 {
        DVec2::new(libm::cos(angle), libm::sin(angle))
    }

    fn rotation_by_chance([first, ..]: [f64; 3]) -> DRot2 {
        D2::turn(DRot2::default(), std::f64::consts::TAU * first)
    }

    fn stone(stone: &Stone) -> Result<drystone::Shape2, drystone::ShapeError> {
        let corners = stone.corners();
        // The corners towards the viewer are every other one.
        let outline = corners.iter().step_by(2).map(|c| DVec2::new(c.x, c.y));
        drystone::Shape2::hull(&outline.collect::<Vec<_>>())
    }
}

impl Dimension for D3 {
    const AXES: &'static str = "x, y, z";
    const HAS_DEPTH: bool = true;

    fn vector(values: &[f64]) -> Option<DVec3> {
        <[f64; 3]>::try_from(values).ok().map(DVec3::from_array)
    }

    fn along(axis: DVec3) -> Option<DQuat> {
        axis.try_normalize()
            .map(|axis| DQuat::from_rotation_arc(DVec3::X, axis))
    }

    fn hinge_frame() -> DQuat {
        DQuat::from_rotation_y(-std::f64::consts::FRAC_PI_2)
    }

    fn rotation(rotation: &Rotation, path: &FieldPath) -> Result<DQuat, Flaw> {
        match rotation {
            Rotation::Angle(_) => {
                let flaw = Flaw::new(path.clone(), "in 3D a rotation needs an axis");
                Err(flaw.help(
                    "write { axis = [0, 1, 0], angle = 30 }, { euler = [0, 30, 0] } in degrees, \
                     or a quaternion [x, y, z, w]",
                ))
            }
            Rotation::Quaternion(values) => quaternion(values, path),
            Rotation::AxisAngle { axis, angle } => {
                let axis = vector::<Self>(axis, &path.key("axis"))?;
                let angle = radians(finite(*angle, path.key("angle"))?);
                let length = axis.length();
                if !(length > 1e-9 && length.is_finite()) {
                    let problem = "an axis must be longer than 1e-9";
                    return Err(Flaw::new(path.key("axis"), problem));
                }
                Ok(D3::turn(DQuat::IDENTITY, axis * (angle / length)))
            }
            Rotation::Euler { euler } => {
                let angles = vector::<Self>(euler, &path.key("euler"))?;
                let turns = [
                    DVec3::X * angles.x,
                    DVec3::Y * angles.y,
                    DVec3::Z * angles.z,
                ];
                Ok(turns
                    .into_iter()
                    .fold(DQuat::IDENTITY, |q, turn| D3::turn(q, turn * radians(1.0))))
            }
        }
    }

    fn spin(spin: &Spin, path: &FieldPath) -> Result<DVec3, Flaw> {
        match spin {
            Spin::Flat(_) => Err(wrong_length::<Self>(1, path)),
            Spin::Solid(values) => vector::<Self>(values, path),
        }
    }

    fn inertia(inertia: &Inertia, path: &FieldPath) -> Result<DMat3, Flaw> {
        let values = match inertia {
            Inertia::Solid(values) => values.as_slice(),
            Inertia::Flat(_) => &[],
        };
        let (xx, yy, zz, xy, xz, yz) = match *values {
            [xx, yy, zz] => (xx, yy, zz, 0.0, 0.0, 0.0),
            [xx, yy, zz, xy, xz, yz] => (xx, yy, zz, xy, xz, yz),
            _ => {
                let problem = "in 3D the inertia is three or six numbers (kg·m²)";
                let help = "give Ixx, Iyy, Izz, or Ixx, Iyy, Izz, Ixy, Ixz, Iyz";
                return Err(Flaw::new(path.clone(), problem).help(help));
            }
        };
        // Positive definite by its leading minors; and no solid has one principal moment
        // greater than the sum of the others, of which the diagonal shows the grossest cases.
        let minor = xx * yy - xy * xy;
        let determinant = minor * zz + 2.0 * xy * xz * yz - xx * yz * yz - yy * xz * xz;
        let is_solid = values.iter().all(|value| value.is_finite())
            && xx > 0.0
            && minor > 0.0
            && determinant > 0.0
            && determinant.is_finite();
        if !is_solid {
            let problem = "the inertia must be finite and positive definite (kg·m²)";
            return Err(Flaw::new(path.clone(), problem));
        }
        Ok(DMat3::from_cols(
            DVec3::new(xx, xy, xz),
            DVec3::new(xy, yy, yz),
            DVec3::new(xz, yz, zz),
        ))
    }

    fn shape(shape: &Shape, path: &FieldPath) -> Result<drystone::Shape3, Flaw> {
        shape_solid::shape(shape, path)
    }

    fn soft_mesh(shape: &SoftShape, path: &FieldPath) -> Result<Mesh<D3>, Flaw> {
        match shape {
            SoftShape::Rope { from, to, segments } => {
                deformable::rope((from, to), *segments, &path.key("rope"))
            }
            SoftShape::Net { size, cells } => {
                let (size, cells) = deformable::grid(size, cells, &path.key("net"))?;
                Ok(Mesh::net(size, cells))
            }
            SoftShape::Cloth { size, cells } => {
                let (size, cells) = deformable::grid(size, cells, &path.key("cloth"))?;
                Ok(Mesh::cloth(size, cells))
            }
            SoftShape::Block { size, cells } => {
                let (size, cells) = deformable::grid(size, cells, &path.key("block"))?;
                Ok(Mesh::<D3>::block(size, cells))
            }
            SoftShape::Path { points, closed } => {
                deformable::path((points, *closed), &path.key("path"))
            }
            SoftShape::Mesh { .. } => deformable::mesh(shape, &path.key("mesh")),
        }
    }

    fn turn_in(plane: Plane, angle: f64) -> DVec3 {
        match plane {
            Plane::Upright => DVec3::Z * angle,
            Plane::Flat => DVec3::Y * angle,
        }
    }

    fn direction_in(plane: Plane, angle: f64) -> DVec3 {
        let (sin, cos) = libm::sincos(angle);
        match plane {
            Plane::Upright => DVec3::new(cos, sin, 0.0),
            // Counter-clockwise seen from above: from +x towards -z.
            Plane::Flat => DVec3::new(cos, 0.0, -sin),
        }
    }

    /// Shoemake's uniform quaternion.
    fn rotation_by_chance([u, v, w]: [f64; 3]) -> DQuat {
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        let (sin_v, cos_v) = libm::sincos(std::f64::consts::TAU * v);
        let (sin_w, cos_w) = libm::sincos(std::f64::consts::TAU * w);
        DQuat::from_xyzw(a * sin_v, a * cos_v, b * sin_w, b * cos_w)
    }

    fn stone(stone: &Stone) -> Result<drystone::Shape3, drystone::ShapeError> {
        if stone.is_box() {
            return drystone::Shape3::cuboid(DVec3::new(
                stone.half_length,
                stone.half_height,
                stone.half_depth[0],
            ));
        }
        drystone::Shape3::hull(&stone.corners())
    }
}

fn quaternion(values: &[f64], path: &FieldPath) -> Result<DQuat, Flaw> {
    let Ok([x, y, z, w]) = <[f64; 4]>::try_from(values) else {
        let problem = format!("a quaternion has four numbers, not {}", values.len());
        let help = "give x, y, z, w, or write { axis = [0, 1, 0], angle = 30 } in degrees";
        return Err(Flaw::new(path.clone(), problem).help(help));
    };
    let quaternion = DQuat::from_xyzw(x, y, z, w);
    // What has unit length but for rounding keeps its bits: it was written by a program.
    if (quaternion.length() - 1.0).abs() < 1e-15 {
        return Ok(quaternion);
    }
    if D3::is_near_unit(quaternion) {
        return Ok(D3::normalize(quaternion));
    }
    let length = quaternion.length();
    let flaw = Flaw::new(
        path.clone(),
        format!("a quaternion must be within 1e-3 of length 1; this one has length {length}"),
    );
    Err(if length.is_finite() && length > 1e-6 {
        let [x, y, z, w] = [x, y, z, w].map(|value| value / length);
        flaw.help(format!("normalised it is [{x:.6}, {y:.6}, {z:.6}, {w:.6}]"))
    } else {
        flaw
    })
}
