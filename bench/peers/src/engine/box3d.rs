//! Box3D (`boxddd-sys` 0.4) with its defaults: four substeps, soft contacts at 30 Hz, its own
//! scheduler for more than one thread.

// SAFETY, for every call below: Box3D's functions ask for ids that they gave out themselves and
// for definitions made by its own `b3Default…` functions; both hold here, pointers live through
// the call, and a world is used from one thread only and destroyed once.

use boxddd_sys::ffi::*;
use glamx::{DQuat, DVec3};

use super::{Engine, Reason};
use crate::scene::{Body, Joint, JointKind, Pose, STEP_S, Scene, Shape};

/// What Box3D's own samples use.
const SUBSTEPS: i32 = 4;

pub struct Box3d {
    world: b3WorldId,
    bodies: Vec<b3BodyId>,
}

fn vector(v: DVec3) -> b3Vec3 {
    b3Vec3 {
        x: v.x as f32,
        y: v.y as f32,
        z: v.z as f32,
    }
}

fn quaternion(q: DQuat) -> b3Quat {
    b3Quat {
        v: vector(DVec3::new(q.x, q.y, q.z)),
        s: q.w as f32,
    }
}

fn add_shape(id: b3BodyId, body: &Body) -> Result<(), Reason> {
    unsafe {
        let mut def = b3DefaultShapeDef();
        def.density = body.density as f32;
        def.baseMaterial.friction = body.friction as f32;
        def.baseMaterial.restitution = body.restitution as f32;
        match &body.shape {
            Shape::Box { half } => {
                let hull = b3MakeBoxHull(half.x as f32, half.y as f32, half.z as f32);
                b3CreateHullShape(id, &def, &hull.base);
            }
            Shape::Sphere { radius } => {
                let sphere = b3Sphere {
                    center: vector(DVec3::ZERO),
                    radius: *radius as f32,
                };
                b3CreateSphereShape(id, &def, &sphere);
            }
            Shape::Capsule {
                half_length,
                radius,
            } => {
                let capsule = b3Capsule {
                    center1: vector(DVec3::Y * -half_length),
                    center2: vector(DVec3::Y * *half_length),
                    radius: *radius as f32,
                };
                b3CreateCapsuleShape(id, &def, &capsule);
            }
            prism @ Shape::Prism { .. } => {
                let points: Vec<b3Vec3> = prism.hull_points().into_iter().map(vector).collect();
                let count = points.len() as i32;
                let hull = b3CreateHull(points.as_ptr(), count, count);
                if hull.is_null() {
                    return Err("Box3D made no hull of a stone".into());
                }
                b3CreateHullShape(id, &def, hull);
                b3DestroyHull(hull);
            }
        }
    }
    Ok(())
}

fn add_body(world: b3WorldId, body: &Body) -> Result<b3BodyId, Reason> {
    let id = unsafe {
        let mut def = b3DefaultBodyDef();
        def.type_ = if body.fixed {
            b3BodyType_b3_staticBody
        } else {
            b3BodyType_b3_dynamicBody
        };
        def.position = vector(body.pose.position);
        def.rotation = quaternion(body.pose.rotation);
        def.linearVelocity = vector(body.velocity);
        def.enableSleep = false;
        b3CreateBody(world, &def)
    };
    add_shape(id, body)?;
    Ok(id)
}

fn add_joint(world: b3WorldId, bodies: &[b3BodyId], scene: &Scene, joint: &Joint) {
    let (a, b) = (scene.bodies[joint.a].pose, scene.bodies[joint.b].pose);
    // Box3D turns its hinges about the frames' z.
    let axis = match joint.kind {
        JointKind::Hinge { axis } => axis,
        JointKind::Ball | JointKind::Distance => DVec3::Z,
    };
    let turn = DQuat::from_rotation_arc(DVec3::Z, axis);
    let frame = |pose: Pose, at: DVec3| b3Transform {
        p: vector(pose.local(at)),
        q: quaternion(pose.rotation.conjugate() * turn),
    };
    let fill = |base: &mut b3JointDef, at_a: DVec3, at_b: DVec3| {
        base.bodyIdA = bodies[joint.a];
        base.bodyIdB = bodies[joint.b];
        base.localFrameA = frame(a, at_a);
        base.localFrameB = frame(b, at_b);
    };
    unsafe {
        match joint.kind {
            JointKind::Ball => {
                let mut def = b3DefaultSphericalJointDef();
                fill(&mut def.base, joint.anchor, joint.anchor);
                b3CreateSphericalJoint(world, &def);
            }
            JointKind::Hinge { .. } => {
                let mut def = b3DefaultRevoluteJointDef();
                fill(&mut def.base, joint.anchor, joint.anchor);
                b3CreateRevoluteJoint(world, &def);
            }
            JointKind::Distance => {
                let mut def = b3DefaultDistanceJointDef();
                fill(&mut def.base, a.position, b.position);
                def.length = a.position.distance(b.position) as f32;
                b3CreateDistanceJoint(world, &def);
            }
        }
    }
}

impl Engine for Box3d {
    fn build(scene: &Scene, threads: usize) -> Result<Self, Reason> {
        let world = unsafe {
            let mut def = b3DefaultWorldDef();
            def.gravity = vector(DVec3::Y * scene.gravity);
            def.enableSleep = false;
            def.workerCount = threads as u32;
            b3CreateWorld(&def)
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
        unsafe { b3World_Step(self.world, STEP_S as f32, SUBSTEPS) };
        Ok(())
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        out.extend(self.bodies.iter().map(|&id| {
            let b3Transform { p, q } = unsafe { b3Body_GetTransform(id) };
            let wide = |v: b3Vec3| DVec3::new(f64::from(v.x), f64::from(v.y), f64::from(v.z));
            Pose {
                position: wide(p),
                rotation: DQuat::from_vec4(wide(q.v).extend(f64::from(q.s))).normalize(),
            }
        }));
    }
}

impl Drop for Box3d {
    fn drop(&mut self) {
        unsafe { b3DestroyWorld(self.world) };
    }
}
