//! rapier2d 0.36.1 with its defaults.

use glamx::{DQuat, DVec3};
use rapier2d::prelude::{
    ColliderBuilder, PhysicsWorld, Pose as RapierPose, RevoluteJointBuilder, RigidBodyBuilder,
    RigidBodyHandle, Rotation, Vector,
};

use super::rapier_threads::pool;
use super::{Engine, Reason};
use crate::scene::{Body, Joint, JointKind, Pose, STEP_S, Scene, Shape};

pub struct Rapier2 {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

fn vector(v: DVec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32)
}

/// The angle of a rotation about z.
fn angle(q: DQuat) -> f32 {
    (2.0 * q.z.atan2(q.w)) as f32
}

fn collider(body: &Body) -> Result<ColliderBuilder, Reason> {
    let shape = match &body.shape {
        Shape::Box { half } => ColliderBuilder::cuboid(half.x as f32, half.y as f32),
        Shape::Sphere { radius } => ColliderBuilder::ball(*radius as f32),
        Shape::Capsule {
            half_length,
            radius,
        } => ColliderBuilder::capsule_y(*half_length as f32, *radius as f32),
        Shape::Prism { outline, .. } => {
            let points: Vec<Vector> = outline.iter().map(|p| vector(p.extend(0.0))).collect();
            ColliderBuilder::convex_hull(&points).ok_or("rapier made no hull of a stone")?
        }
    };
    Ok(shape
        .density(body.density as f32)
        .friction(body.friction as f32)
        .restitution(body.restitution as f32))
}

fn add_joint(
    world: &mut PhysicsWorld,
    bodies: &[RigidBodyHandle],
    scene: &Scene,
    joint: &Joint,
) -> Result<(), Reason> {
    let (a, b) = (scene.bodies[joint.a].pose, scene.bodies[joint.b].pose);
    let (handle_a, handle_b) = (bodies[joint.a], bodies[joint.b]);
    match joint.kind {
        JointKind::Ball | JointKind::Hinge { .. } => {
            let pin = RevoluteJointBuilder::new()
                .contacts_enabled(false)
                .local_anchor1(vector(a.local(joint.anchor)))
                .local_anchor2(vector(b.local(joint.anchor)));
            world.impulse_joints.insert(handle_a, handle_b, pin, true);
        }
        JointKind::Distance => {
            return Err("rapier's distance joint is a rope: it has no lower limit".into());
        }
    }
    Ok(())
}

impl Engine for Rapier2 {
    fn build(scene: &Scene, threads: usize) -> Result<Self, Reason> {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, scene.gravity as f32);
        world.integration_parameters.dt = STEP_S as f32;
        world.physics_pipeline.set_thread_pool(Some(pool(threads)?));
        let mut bodies = Vec::with_capacity(scene.bodies.len());
        for body in &scene.bodies {
            let rigid = if body.fixed {
                RigidBodyBuilder::fixed()
            } else {
                RigidBodyBuilder::dynamic()
            };
            let turn = Rotation::from_angle(angle(body.pose.rotation));
            let rigid = rigid
                .pose(RapierPose::from_parts(vector(body.pose.position), turn))
                .linvel(vector(body.velocity))
                .can_sleep(false);
            bodies.push(world.insert(rigid, collider(body)?).0);
        }
        for joint in &scene.joints {
            add_joint(&mut world, &bodies, scene, joint)?;
        }
        Ok(Self { world, bodies })
    }

    fn step(&mut self) -> Result<(), Reason> {
        self.world.step();
        Ok(())
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        out.extend(self.bodies.iter().map(|&handle| {
            let at = self.world.bodies[handle].position();
            let p = at.translation;
            Pose {
                position: DVec3::new(f64::from(p.x), f64::from(p.y), 0.0),
                rotation: DQuat::from_rotation_z(f64::from(at.rotation.angle())),
            }
        }));
    }
}
