//! Jolt 5.0 (`joltc-sys` 0.3.1) with its defaults but for damping, which would slow what falls.
//!
//! The C bindings have no joints and can't change gravity, but they can scale it for each body.

// SAFETY, for every call below: pointers come from Jolt's own constructors, are freed once in
// `drop` and are used from one thread; settings start from Jolt's defaults.

use std::ffi::{CStr, c_uint, c_void};
use std::ptr;
use std::sync::Once;

use glamx::{DQuat, DVec3};
use joltc_sys::*;

use super::{Engine, Reason};
use crate::scene::{Body, GRAVITY, Pose, STEP_S, Scene, Shape};

// Jolt is C++, and its bindings leave naming the standard library to the program.
#[link(name = "stdc++")]
unsafe extern "C" {}

/// Memory that a step may use, bytes: enough for a wall of 5,050 boxes many times over.
const SCRATCH: c_uint = 512 << 20;

const FIXED: JPC_ObjectLayer = 0;
const MOVING: JPC_ObjectLayer = 1;

pub struct Jolt {
    system: *mut JPC_PhysicsSystem,
    scratch: *mut JPC_TempAllocatorImpl,
    jobs: *mut JPC_JobSystemThreadPool,
    layers: *mut JPC_BroadPhaseLayerInterface,
    layer_filter: *mut JPC_ObjectVsBroadPhaseLayerFilter,
    pair_filter: *mut JPC_ObjectLayerPairFilter,
    bodies: Vec<JPC_BodyID>,
}

fn vector(v: DVec3) -> JPC_Vec3 {
    JPC_Vec3 {
        x: v.x as f32,
        y: v.y as f32,
        z: v.z as f32,
        _w: v.z as f32,
    }
}

fn quaternion(q: DQuat) -> JPC_Quat {
    JPC_Quat {
        x: q.x as f32,
        y: q.y as f32,
        z: q.z as f32,
        w: q.w as f32,
    }
}

unsafe extern "C" fn layer_count(_: *const c_void) -> c_uint {
    2
}

unsafe extern "C" fn broad_layer(_: *const c_void, layer: JPC_ObjectLayer) -> JPC_BroadPhaseLayer {
    JPC_BroadPhaseLayer::from(layer == MOVING)
}

unsafe extern "C" fn layer_meets(
    _: *const c_void,
    layer: JPC_ObjectLayer,
    broad: JPC_BroadPhaseLayer,
) -> bool {
    layer == MOVING || broad == 1
}

unsafe extern "C" fn pair_meets(_: *const c_void, a: JPC_ObjectLayer, b: JPC_ObjectLayer) -> bool {
    a == MOVING || b == MOVING
}

/// Starts Jolt once in a process.
fn start_jolt() {
    static START: Once = Once::new();
    START.call_once(|| unsafe {
        JPC_RegisterDefaultAllocator();
        JPC_FactoryInit();
        JPC_RegisterTypes();
    });
}

fn shape(body: &Body) -> Result<*mut JPC_Shape, Reason> {
    let mut shape: *mut JPC_Shape = ptr::null_mut();
    let mut error: *mut JPC_String = ptr::null_mut();
    let density = body.density as f32;
    let made = unsafe {
        match &body.shape {
            Shape::Box { half } => {
                let settings = JPC_BoxShapeSettings {
                    HalfExtent: vector(*half),
                    Density: density,
                    ..Default::default()
                };
                JPC_BoxShapeSettings_Create(&settings, &mut shape, &mut error)
            }
            Shape::Sphere { radius } => {
                let settings = JPC_SphereShapeSettings {
                    Radius: *radius as f32,
                    Density: density,
                    ..Default::default()
                };
                JPC_SphereShapeSettings_Create(&settings, &mut shape, &mut error)
            }
            Shape::Capsule {
                half_length,
                radius,
            } => {
                let settings = JPC_CapsuleShapeSettings {
                    HalfHeightOfCylinder: *half_length as f32,
                    Radius: *radius as f32,
                    Density: density,
                    ..Default::default()
                };
                JPC_CapsuleShapeSettings_Create(&settings, &mut shape, &mut error)
            }
            prism @ Shape::Prism { .. } => {
                let points: Vec<JPC_Vec3> = prism.hull_points().into_iter().map(vector).collect();
                let settings = JPC_ConvexHullShapeSettings {
                    Points: points.as_ptr(),
                    PointsLen: points.len(),
                    Density: density,
                    ..Default::default()
                };
                JPC_ConvexHullShapeSettings_Create(&settings, &mut shape, &mut error)
            }
        }
    };
    if made {
        return Ok(shape);
    }
    let words = unsafe { CStr::from_ptr(JPC_String_c_str(error)) };
    Err(format!("Jolt made no shape: {}", words.to_string_lossy()))
}

impl Jolt {
    /// An empty world. Jolt drops contacts beyond what it is told to make room for: there is
    /// room for eight neighbours a body.
    fn empty(bodies: usize, threads: usize) -> Self {
        start_jolt();
        let room = (8 * bodies + 1024) as c_uint;
        unsafe {
            let this = Self {
                system: JPC_PhysicsSystem_new(),
                scratch: JPC_TempAllocatorImpl_new(SCRATCH),
                // The calling thread works too.
                jobs: JPC_JobSystemThreadPool_new3(
                    JPC_MAX_PHYSICS_JOBS as c_uint,
                    JPC_MAX_PHYSICS_BARRIERS as c_uint,
                    threads as i32 - 1,
                ),
                layers: JPC_BroadPhaseLayerInterface_new(
                    ptr::null(),
                    JPC_BroadPhaseLayerInterfaceFns {
                        GetNumBroadPhaseLayers: Some(layer_count),
                        GetBroadPhaseLayer: Some(broad_layer),
                    },
                ),
                layer_filter: JPC_ObjectVsBroadPhaseLayerFilter_new(
                    ptr::null(),
                    JPC_ObjectVsBroadPhaseLayerFilterFns {
                        ShouldCollide: Some(layer_meets),
                    },
                ),
                pair_filter: JPC_ObjectLayerPairFilter_new(
                    ptr::null(),
                    JPC_ObjectLayerPairFilterFns {
                        ShouldCollide: Some(pair_meets),
                    },
                ),
                bodies: Vec::with_capacity(bodies),
            };
            JPC_PhysicsSystem_Init(
                this.system,
                bodies as c_uint + 16,
                0,
                room,
                room,
                this.layers,
                this.layer_filter,
                this.pair_filter,
            );
            this
        }
    }

    fn add(&mut self, body: &Body, gravity: f64) -> Result<(), Reason> {
        let shape = shape(body)?;
        let (motion, layer, activation) = if body.fixed {
            (JPC_MOTION_TYPE_STATIC, FIXED, JPC_ACTIVATION_DONT_ACTIVATE)
        } else {
            (JPC_MOTION_TYPE_DYNAMIC, MOVING, JPC_ACTIVATION_ACTIVATE)
        };
        let settings = JPC_BodyCreationSettings {
            Position: vector(body.pose.position),
            Rotation: quaternion(body.pose.rotation),
            LinearVelocity: vector(body.velocity),
            ObjectLayer: layer,
            MotionType: motion,
            AllowSleeping: false,
            Friction: body.friction as f32,
            Restitution: body.restitution as f32,
            LinearDamping: 0.0,
            AngularDamping: 0.0,
            GravityFactor: (gravity / -GRAVITY) as f32,
            Shape: shape,
            ..Default::default()
        };
        unsafe {
            let bodies = JPC_PhysicsSystem_GetBodyInterface(self.system);
            self.bodies.push(JPC_BodyInterface_CreateAndAddBody(
                bodies, &settings, activation,
            ));
        }
        Ok(())
    }
}

impl Engine for Jolt {
    fn build(scene: &Scene, threads: usize) -> Result<Self, Reason> {
        if !scene.joints.is_empty() {
            return Err("the C bindings of Jolt have no joints".into());
        }
        let mut this = Self::empty(scene.bodies.len(), threads);
        for body in &scene.bodies {
            this.add(body, scene.gravity)?;
        }
        unsafe { JPC_PhysicsSystem_OptimizeBroadPhase(this.system) };
        Ok(this)
    }

    fn step(&mut self) -> Result<(), Reason> {
        let error = unsafe {
            JPC_PhysicsSystem_Update(self.system, STEP_S as f32, 1, self.scratch, self.jobs)
        };
        if error == JPC_PHYSICS_UPDATE_ERROR_NONE {
            Ok(())
        } else {
            Err(format!("Jolt dropped contacts (error {error})"))
        }
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        let bodies = unsafe { JPC_PhysicsSystem_GetBodyInterface(self.system) };
        out.extend(self.bodies.iter().map(|&id| {
            let (p, q) = unsafe {
                (
                    JPC_BodyInterface_GetPosition(bodies, id),
                    JPC_BodyInterface_GetRotation(bodies, id),
                )
            };
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

impl Drop for Jolt {
    fn drop(&mut self) {
        unsafe {
            JPC_PhysicsSystem_delete(self.system);
            JPC_BroadPhaseLayerInterface_delete(self.layers);
            JPC_ObjectVsBroadPhaseLayerFilter_delete(self.layer_filter);
            JPC_ObjectLayerPairFilter_delete(self.pair_filter);
            JPC_JobSystemThreadPool_delete(self.jobs);
            JPC_TempAllocatorImpl_delete(self.scratch);
        }
    }
}
