//! Bullet (Debian's build) with its defaults. bullet.cpp is the other half.
//!
//! Bullet multiplies the coefficients of two surfaces, so each gets the root of what the scene
//! says. It keeps a margin of 0.04 m outside hulls.

// SAFETY, for every call below: the world comes from `peers_bullet_new` and is freed once in
// `drop`; indices are those of bodies added before; arrays have the lengths that bullet.cpp reads.

use std::ffi::c_void;

use glamx::{DQuat, DVec3};

use super::{Engine, Reason};
use crate::scene::{Body, Joint, JointKind, Pose, STEP_S, Scene, Shape};

/// As in bullet.cpp.
#[repr(C)]
struct BulletBody {
    pose: [f32; 7],
    velocity: [f32; 3],
    mass: f32,
    friction: f32,
    restitution: f32,
}

type World = *mut c_void;

#[link(name = "stdc++")]
unsafe extern "C" {
    fn peers_bullet_new(gravity: f32) -> World;
    fn peers_bullet_delete(world: World);
    fn peers_bullet_box(world: World, x: f32, y: f32, z: f32);
    fn peers_bullet_sphere(world: World, radius: f32);
    fn peers_bullet_capsule(world: World, half_length: f32, radius: f32);
    fn peers_bullet_hull(world: World, points: *const f32, count: i32);
    fn peers_bullet_body(world: World, def: *const BulletBody);
    fn peers_bullet_joint(
        world: World,
        a: i32,
        b: i32,
        frame_a: *const f32,
        frame_b: *const f32,
        is_hinge: bool,
    );
    fn peers_bullet_step(world: World, dt: f32);
    fn peers_bullet_pose(world: *const c_void, index: i32, out: *mut f32);
}

pub struct Bullet {
    world: World,
    count: usize,
}

fn seven(pose: &Pose) -> [f32; 7] {
    let (p, q) = (pose.position, pose.rotation);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(|x| x as f32)
}

fn add_body(world: World, body: &Body) {
    let mass = if body.fixed {
        0.0
    } else {
        body.density * body.shape.volume()
    };
    let def = BulletBody {
        pose: seven(&body.pose),
        velocity: body.velocity.as_vec3().to_array(),
        mass: mass as f32,
        friction: body.friction.sqrt() as f32,
        restitution: body.restitution.sqrt() as f32,
    };
    unsafe {
        match &body.shape {
            Shape::Box { half } => {
                peers_bullet_box(world, half.x as f32, half.y as f32, half.z as f32);
            }
            Shape::Sphere { radius } => peers_bullet_sphere(world, *radius as f32),
            Shape::Capsule {
                half_length,
                radius,
            } => peers_bullet_capsule(world, *half_length as f32, *radius as f32),
            prism @ Shape::Prism { .. } => {
                let points = prism.hull_points();
                let flat: Vec<f32> = points.iter().flat_map(|p| p.as_vec3().to_array()).collect();
                peers_bullet_hull(world, flat.as_ptr(), points.len() as i32);
            }
        }
        peers_bullet_body(world, &def);
    }
}

fn add_joint(world: World, scene: &Scene, joint: &Joint) -> Result<(), Reason> {
    let (axis, is_hinge) = match joint.kind {
        JointKind::Ball => (DVec3::Z, false),
        JointKind::Hinge { axis } => (axis, true),
        JointKind::Distance => return Err("Bullet has no distance joint".into()),
    };
    let turn = DQuat::from_rotation_arc(DVec3::Z, axis);
    let frame = |body: usize| {
        let pose = scene.bodies[body].pose;
        seven(&Pose {
            position: pose.local(joint.anchor),
            rotation: pose.rotation.conjugate() * turn,
        })
    };
    let (frame_a, frame_b) = (frame(joint.a), frame(joint.b));
    let (a, b) = (joint.a as i32, joint.b as i32);
    unsafe { peers_bullet_joint(world, a, b, frame_a.as_ptr(), frame_b.as_ptr(), is_hinge) };
    Ok(())
}

impl Engine for Bullet {
    fn build(scene: &Scene, _threads: usize) -> Result<Self, Reason> {
        let this = Self {
            world: unsafe { peers_bullet_new(scene.gravity as f32) },
            count: scene.bodies.len(),
        };
        for body in &scene.bodies {
            add_body(this.world, body);
        }
        for joint in &scene.joints {
            add_joint(this.world, scene, joint)?;
        }
        Ok(this)
    }

    fn step(&mut self) -> Result<(), Reason> {
        unsafe { peers_bullet_step(self.world, STEP_S as f32) };
        Ok(())
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        out.extend((0..self.count as i32).map(|index| {
            let mut seven = [0f32; 7];
            unsafe { peers_bullet_pose(self.world, index, seven.as_mut_ptr()) };
            let [x, y, z, i, j, k, w] = seven.map(f64::from);
            Pose {
                position: DVec3::new(x, y, z),
                rotation: DQuat::from_xyzw(i, j, k, w).normalize(),
            }
        }));
    }
}

impl Drop for Bullet {
    fn drop(&mut self) {
        unsafe { peers_bullet_delete(self.world) };
    }
}
