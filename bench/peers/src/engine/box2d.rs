//! Box2D v3 (`boxdd-sys` 0.6) with its defaults: four substeps, soft contacts at 30 Hz.

// SAFETY, for every call below: Box2D's functions ask for ids that they gave out themselves and
// for definitions made by its own `b2Default…` functions; both hold here, pointers live through
// the call, and a world is used from one thread only and destroyed once.

use boxdd_sys::ffi::*;
use glamx::{DQuat, DVec3};

use super::{Engine, Reason};
use crate::scene::{Body, Joint, JointKind, Pose, STEP_S, Scene, Shape};

/// What Box2D's own samples use.
const SUBSTEPS: i32 = 4;

pub struct Box2d {
    world: b2WorldId,
    bodies: Vec<b2BodyId>,
}

fn vector(v: DVec3) -> b2Vec2 {
    b2Vec2 {
        x: v.x as f32,
        y: v.y as f32,
    }
}

/// A rotation about z.
fn rotation(q: DQuat) -> b2Rot {
    let (sin, cos) = (2.0 * q.z.atan2(q.w)).sin_cos();
    b2Rot {
        c: cos as f32,
        s: sin as f32,
    }
}

fn add_shape(id: b2BodyId, body: &Body) -> Result<(), Reason> {
    unsafe {
        let mut def = b2DefaultShapeDef();
        def.density = body.density as f32;
        def.material.friction = body.friction as f32;
        def.material.restitution = body.restitution as f32;
        match &body.shape {
            Shape::Box { half } => {
                let polygon = b2MakeBox(half.x as f32, half.y as f32);
                b2CreatePolygonShape(id, &def, &polygon);
            }
            Shape::Sphere { radius } => {
                let circle = b2Circle {
                    center: vector(DVec3::ZERO),
                    radius: *radius as f32,
                };
                b2CreateCircleShape(id, &def, &circle);
            }
            Shape::Capsule {
                half_length,
                radius,
            } => {
                let capsule = b2Capsule {
                    center1: vector(DVec3::Y * -half_length),
                    center2: vector(DVec3::Y * *half_length),
                    radius: *radius as f32,
                };
                b2CreateCapsuleShape(id, &def, &capsule);
            }
            Shape::Prism { outline, .. } => {
                let points: Vec<b2Vec2> = outline.iter().map(|p| vector(p.extend(0.0))).collect();
                let hull = b2ComputeHull(points.as_ptr(), points.len() as i32);
                if hull.count == 0 {
                    return Err("Box2D made no hull of a stone".into());
                }
                let polygon = b2MakePolygon(&hull, 0.0);
                b2CreatePolygonShape(id, &def, &polygon);
            }
        }
    }
    Ok(())
}

fn add_body(world: b2WorldId, body: &Body) -> Result<b2BodyId, Reason> {
    let id = unsafe {
        let mut def = b2DefaultBodyDef();
        def.type_ = if body.fixed {
            b2BodyType_b2_staticBody
        } else {
            b2BodyType_b2_dynamicBody
        };
        def.position = vector(body.pose.position);
        def.rotation = rotation(body.pose.rotation);
        def.linearVelocity = vector(body.velocity);
        def.enableSleep = false;
        b2CreateBody(world, &def)
    };
    add_shape(id, body)?;
    Ok(id)
}

fn add_joint(world: b2WorldId, bodies: &[b2BodyId], scene: &Scene, joint: &Joint) {
    let (a, b) = (scene.bodies[joint.a].pose, scene.bodies[joint.b].pose);
    let frame = |pose: Pose, at: DVec3| b2Transform {
        p: vector(pose.local(at)),
        q: rotation(pose.rotation.conjugate()),
    };
    let fill = |base: &mut b2JointDef, at_a: DVec3, at_b: DVec3| {
        base.bodyIdA = bodies[joint.a];
        base.bodyIdB = bodies[joint.b];
        base.localFrameA = frame(a, at_a);
        base.localFrameB = frame(b, at_b);
    };
    unsafe {
        match joint.kind {
            JointKind::Ball | JointKind::Hinge { .. } => {
                let mut def = b2DefaultRevoluteJointDef();
                fill(&mut def.base, joint.anchor, joint.anchor);
                b2CreateRevoluteJoint(world, &def);
            }
            JointKind::Distance => {
                let mut def = b2DefaultDistanceJointDef();
                fill(&mut def.base, a.position, b.position);
                def.length = a.position.distance(b.position) as f32;
                b2CreateDistanceJoint(world, &def);
            }
        }
    }
}

impl Engine for Box2d {
    fn build(scene: &Scene, threads: usize) -> Result<Self, Reason> {
        let world = unsafe {
            let mut def = b2DefaultWorldDef();
            def.gravity = vector(DVec3::Y * scene.gravity);
            def.enableSleep = false;
            def.workerCount = threads as i32;
            b2CreateWorld(&def)
        };
        let mut this = Self {
            world,
            bodies: Vec::with_capacity(scene.bodies.len()),
        };
        for body in &scene.bodies {
            this.bodies.push(add_body(world, body)?);
        }
        for joint in &scene.joints {
            add_joint(world, &this.bodies, scene, joint);
        }
        Ok(this)
    }

    fn step(&mut self) -> Result<(), Reason> {
        unsafe { b2World_Step(self.world, STEP_S as f32, SUBSTEPS) };
        Ok(())
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        out.extend(self.bodies.iter().map(|&id| {
            let b2Transform { p, q } = unsafe { b2Body_GetTransform(id) };
            Pose {
                position: DVec3::new(f64::from(p.x), f64::from(p.y), 0.0),
                rotation: DQuat::from_rotation_z(f64::from(q.s).atan2(f64::from(q.c))),
            }
        }));
    }
}

impl Drop for Box2d {
    fn drop(&mut self) {
        unsafe { b2DestroyWorld(self.world) };
    }
}
