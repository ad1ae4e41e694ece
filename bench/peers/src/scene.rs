//! A scene in words that no engine owns: what stands where, and what ought to happen.
//!
//! Two dimensions are the plane z = 0: bodies turn about z only, and whatever reaches along z is
//! ignored by the engines. Units are SI. Every shape's origin is its centre of mass, so that a
//! pose means the same in every engine.

use glamx::{DQuat, DVec2, DVec3};

/// Length of a step that every engine makes, s.
pub const STEP_S: f64 = 1.0 / 60.0;
/// Free fall, m/s².
pub const GRAVITY: f64 = 9.81;

/// The plane or space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    Two,
    Three,
}

/// Where a body is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub position: DVec3,
    pub rotation: DQuat,
}

impl Pose {
    pub fn at(position: DVec3) -> Self {
        Self {
            position,
            rotation: DQuat::IDENTITY,
        }
    }

    /// A point of the body in world axes.
    pub fn point(&self, local: DVec3) -> DVec3 {
        self.position + self.rotation * local
    }

    /// A world point in the body's axes.
    pub fn local(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * (world - self.position)
    }
}

/// A convex shape around its centre of mass.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Half of each edge.
    Box {
        half: DVec3,
    },
    Sphere {
        radius: f64,
    },
    /// Along y: half the distance between the centres of the end balls.
    Capsule {
        half_length: f64,
        radius: f64,
    },
    /// A convex polygon, counter-clockwise in x and y, drawn out by `half_depth` to both sides of
    /// z = 0. Engines get it as a convex hull of points.
    Prism {
        outline: Vec<DVec2>,
        half_depth: f64,
    },
}

impl Shape {
    pub fn cube(edge: f64) -> Self {
        Self::Box {
            half: DVec3::splat(0.5 * edge),
        }
    }

    /// The corners of a prism, front face then back face; none for other shapes.
    pub fn hull_points(&self) -> Vec<DVec3> {
        let Self::Prism {
            outline,
            half_depth,
        } = self
        else {
            return Vec::new();
        };
        [*half_depth, -*half_depth]
            .into_iter()
            .flat_map(|z| outline.iter().map(move |p| p.extend(z)))
            .collect()
    }

    /// Volume in m³, for engines that want masses.
    #[cfg(feature = "bullet")]
    pub fn volume(&self) -> f64 {
        use std::f64::consts::PI;
        match self {
            Self::Box { half } => 8.0 * half.element_product(),
            Self::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
            Self::Capsule {
                half_length,
                radius,
            } => PI * radius * radius * (2.0 * half_length + 4.0 / 3.0 * radius),
            Self::Prism {
                outline,
                half_depth,
            } => {
                let next = |k: usize| outline[(k + 1) % outline.len()];
                let corners = outline.iter().enumerate();
                let area: f64 = corners.map(|(k, p)| 0.5 * p.perp_dot(next(k))).sum();
                2.0 * half_depth * area
            }
        }
    }

    /// Smallest width: how far something may move before it is somewhere else altogether, m.
    pub fn size(&self) -> f64 {
        match self {
            Self::Box { half } => 2.0 * half.min_element(),
            Self::Sphere { radius } | Self::Capsule { radius, .. } => 2.0 * radius,
            Self::Prism { outline, .. } => {
                2.0 * outline.iter().map(|p| p.length()).fold(f64::MAX, f64::min)
            }
        }
    }
}

/// A body at the start.
#[derive(Clone, Debug)]
pub struct Body {
    pub shape: Shape,
    pub pose: Pose,
    pub velocity: DVec3,
    /// kg/m³; in 2D kg/m².
    pub density: f64,
    pub friction: f64,
    pub restitution: f64,
    pub fixed: bool,
}

impl Body {
    /// Water-dense, μ = 0.6, no bounce.
    pub fn new(shape: Shape, position: DVec3) -> Self {
        Self {
            shape,
            pose: Pose::at(position),
            velocity: DVec3::ZERO,
            density: 1000.0,
            friction: 0.6,
            restitution: 0.0,
            fixed: false,
        }
    }

    pub fn fixed(shape: Shape, position: DVec3) -> Self {
        Self {
            fixed: true,
            ..Self::new(shape, position)
        }
    }

    /// A floor whose top is y = 0.
    pub fn floor(half_width: f64) -> Self {
        let half = DVec3::new(half_width, 1.0, half_width);
        Self::fixed(Shape::Box { half }, DVec3::new(0.0, -1.0, 0.0))
    }
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// The point stays common; all rotation is free. In 2D a pin.
    Ball,
    /// The point and this world axis (at the start) stay common.
    Hinge { axis: DVec3 },
    /// The bodies' origins keep the distance that they start with.
    Distance,
}

/// Two bodies held together at a world point (at the start). They do not collide.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    pub a: usize,
    pub b: usize,
    pub anchor: DVec3,
    pub kind: JointKind,
}

/// What ought to happen, and so how the scene is judged from poses.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// Nothing moves: the error is how far the body `top` sinks.
    Stands { top: usize },
    /// Nothing overlaps: the error is the largest penetration.
    NoOverlap,
    /// Joints hold: the error is the largest gap of a joint's anchors over the run.
    JointsHold,
    /// The body slides by g (sin θ − μ cos θ) t² / 2 down the incline, or holds when that is
    /// negative.
    Slides {
        body: usize,
        angle: f64,
        friction: f64,
    },
    /// The body's lowest point comes back to `drop` e^(2k) metres after bounce k.
    Bounces {
        body: usize,
        drop: f64,
        restitution: f64,
        bounces: usize,
    },
    /// Equal balls in a row, the first at `speed`: only the last leaves, with that speed.
    PassesOn { first: usize, speed: f64 },
}

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    pub name: String,
    pub dim: Dim,
    pub bodies: Vec<Body>,
    pub joints: Vec<Joint>,
    /// Along y, m/s².
    pub gravity: f64,
    /// Steps that the verdict is given after.
    pub steps: usize,
    pub truth: Truth,
}

impl Scene {
    /// Ten seconds of a scene in which nothing should overlap.
    pub fn new(name: impl Into<String>, dim: Dim) -> Self {
        Self {
            name: name.into(),
            dim,
            bodies: Vec::new(),
            joints: Vec::new(),
            gravity: -GRAVITY,
            steps: 600,
            truth: Truth::NoOverlap,
        }
    }

    /// Adds a body and gives its index.
    pub fn add(&mut self, body: Body) -> usize {
        self.bodies.push(body);
        self.bodies.len() - 1
    }

    pub fn join(&mut self, a: usize, b: usize, anchor: DVec3, kind: JointKind) {
        self.joints.push(Joint { a, b, anchor, kind });
    }

    pub fn start(&self) -> Vec<Pose> {
        self.bodies.iter().map(|body| body.pose).collect()
    }

    pub fn moving(&self) -> usize {
        self.bodies.iter().filter(|body| !body.fixed).count()
    }
}
