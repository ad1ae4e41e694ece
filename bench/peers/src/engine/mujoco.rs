//! MuJoCo 4.0 (the C library of its Python wheel) with its defaults. mujoco.c is the other half.
//!
//! It has no coefficient of restitution and makes no contact between bodies that touch exactly,
//! so geoms get a margin. Joints are equality constraints between free bodies, as for any closed
//! loop; a hinge is two points on its axis.

// SAFETY, for every call below: the world comes from `peers_mujoco_new` and is freed once in
// `drop`; body numbers are those of the description; arrays have the lengths that mujoco.c reads.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Write;

use glamx::{DQuat, DVec3};

use super::{Engine, Reason};
use crate::scene::{Body, Joint, JointKind, Pose, STEP_S, Scene, Shape};

/// Distance at which contacts begin, m.
const MARGIN: f64 = 1e-4;
/// More bodies than this are refused: reading a description takes MuJoCo time that grows faster
/// than the number of bodies, at 64,000 longer than ten minutes.
const MOST_BODIES: usize = 20_000;
/// Half the distance between the two points that make a hinge, m.
const HINGE_ARM: f64 = 0.05;

type World = *mut c_void;

unsafe extern "C" {
    fn peers_mujoco_new(xml: *const c_char, error: *mut c_char, error_size: i32) -> World;
    fn peers_mujoco_delete(world: World);
    fn peers_mujoco_velocity(world: World, body: i32, velocity: *const f64);
    fn peers_mujoco_step(world: World) -> i32;
    fn peers_mujoco_settle_poses(world: World);
    fn peers_mujoco_pose(world: *const c_void, body: i32, out: *mut f64);
}

pub struct Mujoco {
    world: World,
    count: usize,
}

fn words(v: DVec3) -> String {
    format!("{} {} {}", v.x, v.y, v.z)
}

fn turn(q: DQuat) -> String {
    format!("{} {} {} {}", q.w, q.x, q.y, q.z)
}

/// The scene in MJCF. Meshes are shared between equal stones.
fn describe(scene: &Scene) -> Result<String, Reason> {
    let mut meshes: Vec<String> = Vec::new();
    let mut bodies = String::new();
    for (index, body) in scene.bodies.iter().enumerate() {
        let geom = geom(&body.shape, &mut meshes);
        let _ = writeln!(
            bodies,
            r#"<body name="b{index}" pos="{}" quat="{}">{}<geom {geom} density="{}" friction="{} 0.005 0.0001"/></body>"#,
            words(body.pose.position),
            turn(body.pose.rotation),
            if body.fixed { "" } else { "<freejoint/>" },
            body.density,
            body.friction,
        );
    }
    let assets: String = meshes
        .iter()
        .enumerate()
        .map(|(k, vertex)| format!(r#"<mesh name="m{k}" vertex="{vertex}"/>"#))
        .collect();
    let (mut equalities, mut excludes) = (String::new(), String::new());
    for joint in &scene.joints {
        equalities.push_str(&equality(scene, joint)?);
        let (a, b) = (joint.a, joint.b);
        let _ = writeln!(excludes, r#"<exclude body1="b{a}" body2="b{b}"/>"#);
    }
    // Room for contacts, which MuJoCo drops past it.
    let memory = if scene.bodies.len() > 1000 {
        "8G"
    } else {
        "512M"
    };
    Ok(format!(
        r#"<mujoco><size memory="{memory}"/>
<option timestep="{STEP_S}" gravity="0 {} 0"/>
<default><geom margin="{MARGIN}"/></default>
<asset>{assets}</asset>
<worldbody>
{bodies}</worldbody>
<contact>{excludes}</contact>
<equality>{equalities}</equality></mujoco>"#,
        scene.gravity
    ))
}

fn geom(shape: &Shape, meshes: &mut Vec<String>) -> String {
    match shape {
        Shape::Box { half } => format!(r#"type="box" size="{}""#, words(*half)),
        Shape::Sphere { radius } => format!(r#"type="sphere" size="{radius}""#),
        // MuJoCo's capsules lie along z: turned onto y.
        Shape::Capsule {
            half_length,
            radius,
        } => {
            let upright = turn(DQuat::from_rotation_arc(DVec3::Z, DVec3::Y));
            format!(r#"type="capsule" size="{radius} {half_length}" quat="{upright}""#)
        }
        prism @ Shape::Prism { .. } => {
            let points: Vec<String> = prism.hull_points().into_iter().map(words).collect();
            let vertex = points.join(" ");
            let known = meshes.iter().position(|mesh| *mesh == vertex);
            let index = known.unwrap_or_else(|| {
                meshes.push(vertex);
                meshes.len() - 1
            });
            format!(r#"type="mesh" mesh="m{index}""#)
        }
    }
}

fn equality(scene: &Scene, joint: &Joint) -> Result<String, Reason> {
    let points = match joint.kind {
        JointKind::Ball => vec![joint.anchor],
        JointKind::Hinge { axis } => {
            vec![
                joint.anchor - axis * HINGE_ARM,
                joint.anchor + axis * HINGE_ARM,
            ]
        }
        JointKind::Distance => return Err("MuJoCo has no distance joint between bodies".into()),
    };
    let connect = |point: DVec3| {
        let anchor = scene.bodies[joint.a].pose.local(point);
        format!(
            r#"<connect body1="b{}" body2="b{}" anchor="{}"/>"#,
            joint.a,
            joint.b,
            words(anchor)
        )
    };
    Ok(points.into_iter().map(connect).collect())
}

impl Engine for Mujoco {
    fn build(scene: &Scene, _threads: usize) -> Result<Self, Reason> {
        if scene
            .bodies
            .iter()
            .any(|body: &Body| body.restitution > 0.0)
        {
            return Err("MuJoCo has no coefficient of restitution".into());
        }
        if scene.bodies.len() > MOST_BODIES {
            return Err(format!(
                "MuJoCo reads {MOST_BODIES} bodies at most in reasonable time"
            ));
        }
        let xml = CString::new(describe(scene)?).map_err(|e| e.to_string())?;
        let mut error = [0 as c_char; 1000];
        let world =
            unsafe { peers_mujoco_new(xml.as_ptr(), error.as_mut_ptr(), error.len() as i32) };
        if world.is_null() {
            let words = unsafe { CStr::from_ptr(error.as_ptr()) };
            return Err(format!("MuJoCo: {}", words.to_string_lossy()));
        }
        for (index, body) in scene.bodies.iter().enumerate() {
            let velocity = body.velocity.to_array();
            unsafe { peers_mujoco_velocity(world, index as i32 + 1, velocity.as_ptr()) };
        }
        Ok(Self {
            world,
            count: scene.bodies.len(),
        })
    }

    fn step(&mut self) -> Result<(), Reason> {
        match unsafe { peers_mujoco_step(self.world) } {
            0 => Ok(()),
            warnings => Err(format!(
                "MuJoCo warned {warnings} times (dropped contacts or a bad state)"
            )),
        }
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        unsafe { peers_mujoco_settle_poses(self.world) };
        out.extend((1..=self.count as i32).map(|body| {
            let mut seven = [0f64; 7];
            unsafe { peers_mujoco_pose(self.world, body, seven.as_mut_ptr()) };
            let [x, y, z, w, i, j, k] = seven;
            Pose {
                position: DVec3::new(x, y, z),
                rotation: DQuat::from_xyzw(i, j, k, w).normalize(),
            }
        }));
    }
}

impl Drop for Mujoco {
    fn drop(&mut self) {
        unsafe { peers_mujoco_delete(self.world) };
    }
}
