//! rapier3d 0.36.1 with its defaults: four solver iterations, soft contacts at 30 Hz.

use glamx::{DQuat, DVec3};
use rapier3d::prelude::{
    ColliderBuilder, PhysicsWorld, Pose as RapierPose, RevoluteJointBuilder, RigidBodyBuilder,
    RigidBodyHandle, Rotation, SphericalJointBuilder, Vector,
};

use super::rapier_threads::pool;
use super::{Engine, Reason};
use crate::scene::{Body, Joint, JointKind, Pose, STEP_S, Scene, Shape};

pub struct Rapier3 {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

fn vector(v: DVec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

fn rotation(q: DQuat) -> Rotation {
    Rotation::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32)
}

fn collider(body: &Body) -> Result<ColliderBuilder, Reason> {
    let shape = match &body.shape {
        Shape::Box { half } => ColliderBuilder::cuboid(half.x as f32, half.y as f32, half.z as f32),
        Shape::Sphere { radius } => ColliderBuilder::ball(*radius as f32),
        Shape::Capsule {
            half_length,
            radius,
        } => ColliderBuilder::capsule_y(*half_length as f32, *radius as f32),
        prism @ Shape::Prism { .. } => {
            let points: Vec<Vector> = prism.hull_points().into_iter().map(vector).collect();
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
    let (on_a, on_b) = (vector(a.local(joint.anchor)), vector(b.local(joint.anchor)));
    let (handle_a, handle_b) = (bodies[joint.a], bodies[joint.b]);
    match joint.kind {
        JointKind::Ball => {
            let ball = SphericalJointBuilder::new()
                .contacts_enabled(false)
                .local_anchor1(on_a)
                .local_anchor2(on_b);
            world.impulse_joints.insert(handle_a, handle_b, ball, true);
        }
        JointKind::Hinge { axis } => {
            // The axis of the builder is one direction for both bodies: frames give each its own.
            let frame = |pose: Pose, anchor| {
                let turn = DQuat::from_rotation_arc(DVec3::X, axis);
                RapierPose::from_parts(anchor, rotation(pose.rotation.conjugate() * turn))
            };
            let mut hinge = RevoluteJointBuilder::new(Vector::X)
                .contacts_enabled(false)
                .build();
            hinge.data.local_frame1 = frame(a, on_a);
            hinge.data.local_frame2 = frame(b, on_b);
            world.impulse_joints.insert(handle_a, handle_b, hinge, true);
        }
        JointKind::Distance => {
            return Err("rapier's distance joint is a rope: it has no lower limit".into());
        }
    }
    Ok(())
}

impl Engine for Rapier3 {
    fn build(scene: &Scene, threads: usize) -> Result<Self, Reason> {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, scene.gravity as f32, 0.0);
        world.integration_parameters.dt = STEP_S as f32;
        world.physics_pipeline.set_thread_pool(Some(pool(threads)?));
        let mut bodies = Vec::with_capacity(scene.bodies.len());
        for body in &scene.bodies {
            let rigid = if body.fixed {
                RigidBodyBuilder::fixed()
            } else {
                RigidBodyBuilder::dynamic()
            };
            let pose =
                RapierPose::from_parts(vector(body.pose.position), rotation(body.pose.rotation));
            let rigid = rigid
                .pose(pose)
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
            let (p, q) = (at.translation, at.rotation);
            Pose {
                position: DVec3::new(f64::from(p.x), f64::from(p.y), f64::from(p.z)),
                rotation: DQuat::from_xyzw(
                    f64::from(q.x),
                    f64::from(q.y),
                    f64::from(q.z),
                    f64::from(q.w),
                )
                .normalize(),
            }
        }));
    }
}
