//! What all readers make bodies of: solids at poses, and masses at poses.
//!
//! Links that are fixed to each other become one body. With masses mᵢ at centres cᵢ and inertias
//! Iᵢ about them, the whole has m = Σ mᵢ, c = Σ mᵢ cᵢ / m, and by the parallel-axis theorem
//!
//! I = Σ Iᵢ + mᵢ (|dᵢ|² 1 − dᵢ dᵢᵀ), dᵢ = cᵢ − c.

use drystone::glam::{DMat3, DQuat, DVec3};
use drystone::{D3, Pose};

use crate::schema::{
    Body, Inertia, JointFrame, Kind, MassProperties, Part, Rotation, Scene, Shape,
};

pub(super) type Pose3 = Pose<D3>;

/// Largest angle that a joint can be limited to, rad: the engine's bound. Beyond it a hinge
/// is free.
pub(super) const MOST_ANGLE: f64 = 3.1;

/// A pose given in the axes of another, in the axes of that one's parent.
pub(super) fn then(outer: &Pose3, inner: &Pose3) -> Pose3 {
    Pose3 {
        position: outer.position + outer.rotation * inner.position,
        rotation: (outer.rotation * inner.rotation).normalize(),
    }
}

/// The pose that undoes this one.
pub(super) fn inverse(pose: &Pose3) -> Pose3 {
    let rotation = pose.rotation.conjugate();
    Pose3 {
        position: -(rotation * pose.position),
        rotation,
    }
}

/// Turns worlds with z up into ours with y up: (x, y, z) becomes (x, z, −y).
pub(super) fn upright() -> Pose3 {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    Pose3 {
        position: DVec3::ZERO,
        rotation: DQuat::from_xyzw(-half, 0.0, 0.0, half),
    }
}

/// Turns our axis of revolution, y, into z.
pub(super) fn y_to_z() -> DQuat {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    DQuat::from_xyzw(half, 0.0, 0.0, half)
}

/// Turns by an angle about an axis of unit length, with the same bits on every platform.
pub(super) fn turn(axis: DVec3, angle: f64) -> DQuat {
    let (sine, cosine) = libm::sincos(0.5 * angle);
    let v = axis * sine;
    DQuat::from_xyzw(v.x, v.y, v.z, cosine)
}

/// As a list, as scenes have it.
pub(super) fn list(vector: DVec3) -> Vec<f64> {
    // Adding 0 makes one of the two zeros.
    vector.to_array().map(|x| x + 0.0).to_vec()
}

/// As scenes have it; `None` for no rotation.
pub(super) fn rotation(rotation: DQuat) -> Option<Rotation> {
    let is_none = rotation.x == 0.0 && rotation.y == 0.0 && rotation.z == 0.0;
    let numbers = || rotation.to_array().map(|x| x + 0.0).to_vec();
    (!is_none).then(|| Rotation::Quaternion(numbers()))
}

/// As scenes have it; `None` for the origin.
pub(super) fn position(position: DVec3) -> Option<Vec<f64>> {
    (position != DVec3::ZERO).then(|| list(position))
}

/// Mass, its centre and the inertia about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lump {
    /// kg.
    pub(super) mass: f64,
    /// m.
    pub(super) center: DVec3,
    /// kg·m².
    pub(super) inertia: DMat3,
}

impl Lump {
    /// In the axes that `pose` is given in.
    pub(super) fn placed(&self, pose: &Pose3) -> Self {
        let turn = DMat3::from_quat(pose.rotation);
        Self {
            mass: self.mass,
            center: pose.point(self.center),
            inertia: turn * self.inertia * turn.transpose(),
        }
    }

    /// With so many times the mass.
    pub(super) fn times(&self, factor: f64) -> Self {
        Self {
            mass: self.mass * factor,
            center: self.center,
            inertia: self.inertia * factor,
        }
    }

    /// All as one; `None` without mass.
    pub(super) fn joined(lumps: &[Self]) -> Option<Self> {
        let mass: f64 = lumps.iter().map(|lump| lump.mass).sum();
        if mass.is_nan() || mass <= 0.0 {
            return None;
        }
        let moment: DVec3 = lumps.iter().map(|lump| lump.center * lump.mass).sum();
        let center = if let [only] = lumps {
            only.center
        } else {
            moment / mass
        };
        let mut inertia = DMat3::ZERO;
        for lump in lumps {
            let d = lump.center - center;
            let outer = DMat3::from_cols(d * d.x, d * d.y, d * d.z);
            let steiner = (DMat3::IDENTITY * d.length_squared() - outer) * lump.mass;
            inertia += lump.inertia + steiner;
        }
        Some(Self {
            mass,
            center,
            inertia,
        })
    }

    /// Of a shape with a mass or, without one, a density (kg/m³); `None` for a shape that has no
    /// volume or is none.
    pub(super) fn of_shape(shape: &Shape, mass: Option<f64>, density: f64) -> Option<Self> {
        let solid = crate::build::mass_properties(shape, 1.0)?;
        let factor = mass.map_or(density, |mass| mass / solid.mass);
        Some(Self {
            mass: solid.mass * factor,
            center: solid.center,
            inertia: solid.inertia * factor,
        })
    }

    /// As scenes have it.
    pub(super) fn schema(&self) -> MassProperties {
        let [x, y, z] = [
            self.inertia.x_axis,
            self.inertia.y_axis,
            self.inertia.z_axis,
        ];
        let mut values = vec![x.x, y.y, z.z];
        if x.y != 0.0 || x.z != 0.0 || y.z != 0.0 {
            values.extend([x.y, x.z, y.z]);
        }
        MassProperties {
            mass: self.mass,
            center: position(self.center),
            inertia: Inertia::Solid(values),
        }
    }
}

/// How far a hinge goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Angles {
    /// Farther than can be limited, to both sides.
    Free,
    /// From and to, rad, counted from `middle`.
    Limited {
        limits: [f64; 2],
        /// Which angle from the start on the limits are counted from, rad.
        middle: f64,
        /// Whether one end is nearer than it should be.
        is_narrowed: bool,
    },
}

/// Limits of a hinge, rad. The engine sees angles within half a turn: where limits go beyond, they
/// are counted from their middle. Of a range of more than a turn, the end that is met within half
/// a turn stays where it is, and the other is as far away as can be.
pub(super) fn angles([low, high]: [f64; 2]) -> Angles {
    let is_near = |angle: f64| angle.abs() <= MOST_ANGLE;
    let most = 2.0 * MOST_ANGLE;
    let (ends, is_narrowed) = match (is_near(low), is_near(high)) {
        (true, true) => {
            return Angles::Limited {
                limits: [low, high],
                middle: 0.0,
                is_narrowed: false,
            };
        }
        _ if high - low <= most => ([low, high], false),
        (true, false) => ([low, low + most], true),
        (false, true) => ([high - most, high], true),
        (false, false) => return Angles::Free,
    };
    let [low, high] = ends;
    let half = (0.5 * (high - low)).min(MOST_ANGLE);
    Angles::Limited {
        limits: [-half, half],
        middle: 0.5 * (low + high),
        is_narrowed,
    }
}

/// Frames of a hinge on two bodies at poses, in which the second is turned back by an angle.
pub(super) fn turned_frames(
    poses: [Pose3; 2],
    (at, axis): (DVec3, DVec3),
    angle: f64,
) -> [JointFrame; 2] {
    let plain = DQuat::from_rotation_arc(DVec3::X, axis);
    let turned = turn(axis, -angle) * plain;
    let on = |pose: &Pose3, rotation: DQuat| {
        let frame = Pose3 {
            position: at,
            rotation,
        };
        let local = then(&inverse(pose), &frame);
        JointFrame {
            position: position(local.position),
            rotation: self::rotation(local.rotation),
        }
    };
    let [a, b] = poses;
    [on(&a, plain), on(&b, turned)]
}

/// A shape at a pose in its body's axes.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) shape: Shape,
    pub(super) pose: Pose3,
}

impl Piece {
    /// Whether it has no inside, so that it can't be a part of a compound.
    fn is_surface(&self) -> bool {
        matches!(
            self.shape,
            Shape::Mesh {
                decompose: false,
                ..
            } | Shape::HalfSpace { .. }
                | Shape::HeightField { .. }
        )
    }
}

/// One shape of all pieces; `None` of none.
fn together(mut pieces: Vec<Piece>) -> Option<Shape> {
    let is_plain = |piece: &Piece| {
        position(piece.pose.position).is_none() && rotation(piece.pose.rotation).is_none()
    };
    if let [only] = pieces.as_slice()
        && is_plain(only)
    {
        return pieces.pop().map(|piece| piece.shape);
    }
    let part = |piece: Piece| Part {
        shape: piece.shape,
        position: position(piece.pose.position),
        rotation: rotation(piece.pose.rotation),
    };
    (!pieces.is_empty()).then(|| Shape::Compound {
        parts: pieces.into_iter().map(part).collect(),
    })
}

/// A rigid body of its pieces. Without pieces it is a small ball that touches nothing.
pub(super) fn moving(name: &str, pose: &Pose3, pieces: Vec<Piece>, mass: Option<Lump>) -> Body {
    let mut body = at(name, pose);
    body.mass_properties = mass.map(|mass| mass.schema());
    match together(pieces) {
        Some(shape) => body.shape = Some(shape),
        None => hide(&mut body),
    }
    body
}

/// Adds fixed bodies of pieces: solids as one of that name, surfaces one by one.
pub(super) fn add_fixed(scene: &mut Scene, name: &str, pose: &Pose3, pieces: Vec<Piece>) {
    let (surfaces, solids): (Vec<_>, Vec<_>) = pieces.into_iter().partition(Piece::is_surface);
    let mut main = at(name, pose);
    main.kind = Kind::Fixed;
    match together(solids) {
        Some(shape) => main.shape = Some(shape),
        None => hide(&mut main),
    }
    scene.bodies.push(main);
    for (number, piece) in (1..).zip(surfaces) {
        let mut body = at(
            &format!("{name} surface {number}"),
            &then(pose, &piece.pose),
        );
        body.kind = Kind::Fixed;
        body.shape = Some(piece.shape);
        scene.bodies.push(body);
    }
}

fn at(name: &str, pose: &Pose3) -> Body {
    Body {
        name: Some(name.to_owned()),
        position: position(pose.position),
        rotation: rotation(pose.rotation),
        ..Body::default()
    }
}

/// Makes a body without shape of one that has none: scenes want a shape.
fn hide(body: &mut Body) {
    body.shape = Some(Shape::Ball { radius: 0.01 });
    body.groups = Some(Vec::new());
    body.meets = Some(Vec::new());
}
