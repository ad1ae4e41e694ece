//! Drystone itself, through its public API.

use std::marker::PhantomData;

use drystone::{
    Axis, Body, BodyId, D2, D3, ImpactLaw, Joint, Mass, Material, MaterialId, Settings, Shape2, Shape3,
    SolverKind, Space, Strategy, Realtime, World,
};
use glamx::{DQuat, DVec2, DVec3};

use super::{Engine, Reason};
use crate::scene::{JointKind, Pose, STEP_S, Scene, Shape};

/// Whether more than one thread is of use.
pub const THREADED: bool = true;

/// A way to run Drystone. As many of its steps make a sixtieth of a second as their `dt` asks for.
pub trait Way {
    /// More moving bodies than this are refused.
    const MOST_BODIES: usize;
    fn settings<S: Space>() -> Settings<S>;
}

/// In real time. Certificates are judgement, not simulation: off.
pub struct Default;

impl Way for Default {
    const MOST_BODIES: usize = usize::MAX;

    fn settings<S: Space>() -> Settings<S> {
        Settings {
            dt: STEP_S,
            // As with all peers, nobody sleeps.
            strategy: Strategy::Realtime(Realtime {
                sleep_after: 0.0,
                ..Realtime::default()
            }),
            certify_every: 0,
            ..Settings::default()
        }
    }
}

/// All contacts of a step as one problem, by sweeps over impulses.
pub struct Velocity;

impl Way for Velocity {
    // The wall of 5,050 boxes takes it seconds a step.
    const MOST_BODIES: usize = 1000;

    fn settings<S: Space>() -> Settings<S> {
        Settings {
            certify_every: 0,
            ..Settings::reference()
        }
    }
}

/// With the solver that changes to stronger methods where sweeps do not pay, and with impacts
/// that travel through touching bodies.
pub struct Auto;

impl Way for Auto {
    // The wall of 5,050 boxes takes it minutes a step.
    const MOST_BODIES: usize = 1000;

    fn settings<S: Space>() -> Settings<S> {
        let mut settings = Velocity::settings::<S>();
        settings.solver = SolverKind::Auto(drystone::Auto::default());
        settings.contact.impact = ImpactLaw::Reflection;
        settings
    }
}

pub struct Drystone<S: Space, W> {
    world: World<S>,
    bodies: Vec<BodyId>,
    /// Steps of the world to one of the race.
    steps: usize,
    way: PhantomData<W>,
}

/// What differs between the plane and space.
pub trait Embed: Space {
    fn vector(v: DVec3) -> Self::Vector;
    fn rotation(q: DQuat) -> Self::Rotation;
    fn shape(shape: &Shape) -> Result<Self::Shape, drystone::ShapeError>;
    fn pose(pose: drystone::Pose<Self>) -> Pose;
}

impl Embed for D2 {
    fn vector(v: DVec3) -> DVec2 {
        v.truncate()
    }

    fn rotation(q: DQuat) -> Self::Rotation {
        Self::Rotation::from_angle(2.0 * q.z.atan2(q.w))
    }

    fn shape(shape: &Shape) -> Result<Shape2, drystone::ShapeError> {
        match shape {
            Shape::Box { half } => Shape2::cuboid(half.truncate()),
            Shape::Sphere { radius } => Shape2::ball(*radius),
            Shape::Capsule {
                half_length,
                radius,
            } => Shape2::capsule(*half_length, *radius),
            Shape::Prism { outline, .. } => Shape2::hull(outline),
        }
    }

    fn pose(pose: drystone::Pose<Self>) -> Pose {
        Pose {
            position: pose.position.extend(0.0),
            rotation: DQuat::from_rotation_z(pose.rotation.angle()),
        }
    }
}

impl Embed for D3 {
    fn vector(v: DVec3) -> DVec3 {
        v
    }

    fn rotation(q: DQuat) -> DQuat {
        q
    }

    fn shape(shape: &Shape) -> Result<Shape3, drystone::ShapeError> {
        match shape {
            Shape::Box { half } => Shape3::cuboid(*half),
            Shape::Sphere { radius } => Shape3::ball(*radius),
            Shape::Capsule {
                half_length,
                radius,
            } => Shape3::capsule(*half_length, *radius),
            prism @ Shape::Prism { .. } => Shape3::hull(&prism.hull_points()),
        }
    }

    fn pose(pose: drystone::Pose<Self>) -> Pose {
        Pose {
            position: pose.position,
            rotation: pose.rotation,
        }
    }
}

impl<S: Embed, W: Way> Engine for Drystone<S, W> {
    fn build(scene: &Scene, threads: usize) -> Result<Self, Reason> {
        let knows_joints = matches!(W::settings::<S>().strategy, Strategy::Realtime(_));
        if !scene.joints.is_empty() && !knows_joints {
            return Err("this way of Drystone has no joints".into());
        }
        if scene.moving() > W::MOST_BODIES {
            let most = W::MOST_BODIES;
            return Err(format!("this way is for {most} bodies at most"));
        }
        let mut settings = W::settings::<S>();
        let steps = (STEP_S / settings.dt).round().max(1.0);
        settings.dt = STEP_S / steps;
        settings.gravity = S::vector(DVec3::Y * scene.gravity);
        settings.threads = threads as u32;
        let mut world = World::new(settings).map_err(|e| e.to_string())?;
        let mut bodies = Vec::with_capacity(scene.bodies.len());
        let mut known: Option<(Material, MaterialId)> = None;
        for body in &scene.bodies {
            let surface = Material {
                friction: body.friction,
                restitution: body.restitution,
                ..Material::default()
            };
            let material = match known {
                Some((like, id)) if like == surface => id,
                _ => world.materials.add(surface).map_err(|e| e.to_string())?,
            };
            known = Some((surface, material));
            let shape = S::shape(&body.shape).map_err(|e| e.to_string())?;
            let mut stone = if body.fixed {
                Body::fixed(shape)
            } else {
                Body::rigid(shape)
            };
            stone.mass = Mass::Density(body.density);
            let stone = stone
                .of(material)
                .at(S::vector(body.pose.position))
                .turned(S::rotation(body.pose.rotation))
                .moving(S::vector(body.velocity));
            bodies.push(world.add(stone).map_err(|e| e.to_string())?);
        }
        for joint in &scene.joints {
            let joint = engine_joint::<S>(scene, &bodies, joint);
            world.join(joint).map_err(|e| e.to_string())?;
        }
        Ok(Self {
            world,
            bodies,
            steps: steps as usize,
            way: PhantomData,
        })
    }

    fn step(&mut self) -> Result<(), Reason> {
        for _ in 0..self.steps {
            self.world.step().map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        let poses = self.bodies.iter().filter_map(|&id| self.world.pose(id));
        out.extend(poses.map(S::pose));
    }
}

fn engine_joint<S: Embed>(
    scene: &Scene,
    bodies: &[BodyId],
    joint: &crate::scene::Joint,
) -> Joint<S> {
    let (a, b) = (bodies[joint.a], bodies[joint.b]);
    let frame = |rotation: DQuat| drystone::Pose {
        position: S::vector(joint.anchor),
        rotation: S::rotation(rotation),
    };
    match joint.kind {
        JointKind::Ball => Joint::ball(a, b).placed(frame(DQuat::IDENTITY)),
        JointKind::Hinge { axis } => {
            let turned = DQuat::from_rotation_arc(DVec3::X, axis.normalize());
            Joint::hinge(a, b, Axis::FREE).placed(frame(turned))
        }
        JointKind::Distance => {
            let place = |k: usize| scene.bodies[k].pose.position;
            let length = (place(joint.b) - place(joint.a)).length();
            let origin = S::vector(DVec3::ZERO);
            Joint::rod(a, b, length).between_points(origin, origin)
        }
    }
}
