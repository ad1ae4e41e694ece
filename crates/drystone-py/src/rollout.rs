//! Many worlds at once, each on one thread: what each does depends on no other and on no thread.

use std::sync::Mutex;

use drystone::{Drive, Goal, JointId, JointKind, World as Engine};
use drystone_scene::AnyWorld;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dimension::{Dimension, put, put_pose};
use crate::errors;
use crate::keys::JointKey;
use crate::world::{Inner, World, each};

/// How many steps, how often something is written down, and what drives joints.
struct Course {
    steps: usize,
    every: usize,
    joints: Vec<JointId>,
}

/// What one world does, and where it writes it down.
struct Task<'a> {
    world: &'a mut Inner,
    /// Targets of the joints, step by step.
    controls: &'a [f64],
    poses: &'a mut [f64],
    motions: &'a mut [f64],
    /// The worst residual since the last frame, m/s.
    residuals: &'a mut [f64],
    error: &'a mut Option<String>,
}

/// Steps worlds side by side and writes down poses, motions and the worst residual every so many
/// steps. `controls` has for each world and step the target of each joint's drive.
#[pyfunction]
pub(crate) fn advance<'py>(
    py: Python<'py>,
    worlds: Vec<Py<World>>,
    course: (usize, usize),
    joints: Vec<Py<JointKey>>,
    controls: Option<PyReadonlyArray3<'py, f64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (steps, every) = course;
    let course = Course {
        steps,
        every: every.max(1),
        joints: joints.iter().map(|joint| joint.get().0).collect(),
    };
    let count = worlds.len();
    let expected = (count, steps, course.joints.len());
    let controls = match &controls {
        Some(controls) if controls.as_array().dim() != expected => {
            let found = controls.as_array().dim();
            return Err(errors::value(format!(
                "controls must have the shape {expected:?} (worlds, steps, joints), not {found:?}"
            )));
        }
        Some(controls) => controls.as_array().iter().copied().collect(),
        None => Vec::new(),
    };
    let mut held = worlds
        .iter()
        .map(|world| world.get().lock())
        .collect::<PyResult<Vec<_>>>()?;
    let (bodies, pose, motion) = sizes(held.iter().map(|inner| inner.live.world()))?;
    let frames = steps / course.every;
    let mut poses = vec![f64::NAN; count * frames * bodies * pose];
    let mut motions = vec![f64::NAN; count * frames * bodies * motion];
    let mut residuals = vec![f64::NAN; count * frames];
    let mut failed = vec![None; count];
    {
        let mut parts = (
            chunks(&mut poses, count),
            chunks(&mut motions, count),
            chunks(&mut residuals, count),
        );
        let tasks: Vec<Task<'_>> = held
            .iter_mut()
            .zip(&mut failed)
            .enumerate()
            .map(|(k, (world, error))| Task {
                world,
                controls: part(&controls, count, k),
                poses: parts.0.next().unwrap_or_default(),
                motions: parts.1.next().unwrap_or_default(),
                residuals: parts.2.next().unwrap_or_default(),
                error,
            })
            .collect();
        py.detach(|| run_all(tasks, &course, threads.clamp(1, count.max(1))));
    }
    drop(held);
    let told = PyDict::new(py);
    let shaped =
        |values: Vec<f64>, shape: Vec<usize>| PyArray1::from_vec(py, values).reshape(shape);
    told.set_item("poses", shaped(poses, vec![count, frames, bodies, pose])?)?;
    told.set_item(
        "motions",
        shaped(motions, vec![count, frames, bodies, motion])?,
    )?;
    told.set_item("residuals", shaped(residuals, vec![count, frames])?)?;
    told.set_item("errors", failed)?;
    Ok(told)
}

/// Bodies, numbers of a pose and of a motion, the same in all worlds.
fn sizes<'a>(worlds: impl Iterator<Item = &'a AnyWorld>) -> PyResult<(usize, usize, usize)> {
    let mut sizes = None;
    for world in worlds {
        let (pose, motion) = if world.dimension() == 2 {
            (3, 3)
        } else {
            (7, 6)
        };
        let own = (world.body_count(), pose, motion);
        if *sizes.get_or_insert(own) != own {
            let problem = "all worlds must have the same dimension and number of bodies";
            return Err(errors::value(problem));
        }
    }
    sizes.ok_or_else(|| errors::value("there must be one world at least"))
}

/// Equal parts of an array, one for each world.
fn chunks(values: &mut [f64], count: usize) -> impl Iterator<Item = &mut [f64]> {
    let length = (values.len() / count.max(1)).max(1);
    values.chunks_exact_mut(length)
}

fn part(values: &[f64], count: usize, k: usize) -> &[f64] {
    let length = values.len() / count.max(1);
    values.get(k * length..(k + 1) * length).unwrap_or_default()
}

fn run_all(tasks: Vec<Task<'_>>, course: &Course, threads: usize) {
    let left = Mutex::new(tasks.into_iter());
    let work = || {
        loop {
            let task = left.lock().ok().and_then(|mut left| left.next());
            match task {
                Some(task) => run(task, course),
                None => return,
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}

fn run(task: Task<'_>, course: &Course) {
    let Task {
        world,
        controls,
        poses,
        motions,
        residuals,
        error,
    } = task;
    let frames = residuals.len();
    let mut worst: f64 = 0.0;
    for step in 0..course.steps {
        let targets = part(controls, course.steps, step);
        let made = each!(world.change(), w => drive(w, &course.joints, targets))
            .and_then(|()| world.live.world_mut().step().map_err(|e| e.to_string()));
        let report = match made {
            Ok(report) => report,
            Err(text) => {
                *error = Some(text);
                return;
            }
        };
        if let Some(certificate) = &report.certificate {
            worst = worst.max(certificate.residual_m_s);
        }
        world.report = Some(report);
        if (step + 1) % course.every == 0 {
            let frame = step / course.every;
            let (poses, motions) = (
                of_frame(poses, frames, frame),
                of_frame(motions, frames, frame),
            );
            each!(world.live.world(), w => write(w, poses, motions));
            if let Some(residual) = residuals.get_mut(frame) {
                *residual = worst;
            }
            worst = 0.0;
        }
    }
}

fn of_frame(values: &mut [f64], frames: usize, frame: usize) -> &mut [f64] {
    let length = values.len() / frames.max(1);
    values
        .get_mut(frame * length..(frame + 1) * length)
        .unwrap_or_default()
}

/// Gives the drives of joints their targets: speeds of motors, positions of servos.
fn drive<S: Dimension>(
    world: &mut Engine<S>,
    joints: &[JointId],
    targets: &[f64],
) -> Result<(), String> {
    for (&joint, &target) in joints.iter().zip(targets) {
        let kind = world
            .joint_kind(joint)
            .ok_or("there is no such joint in this world")?;
        let mut driven = kind;
        let drive =
            drive_of(&mut driven).ok_or("a joint that is controlled has no motor or servo")?;
        match &mut drive.goal {
            Goal::Speed(speed) => *speed = target,
            Goal::Position { at, .. } => *at = target,
        }
        if driven != kind {
            world
                .set_joint_kind(joint, driven)
                .map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// The first drive of a joint.
fn drive_of(kind: &mut JointKind) -> Option<&mut Drive> {
    match kind {
        JointKind::Axes { linear, angular } => {
            let axes = linear.iter_mut().chain(angular);
            axes.filter_map(|axis| axis.drive.as_mut()).next()
        }
        JointKind::Distance(axis) => axis.drive.as_mut(),
        JointKind::Gear { .. } => None,
    }
}

fn write<S: Dimension>(world: &Engine<S>, poses: &mut [f64], motions: &mut [f64]) {
    let bodies = world.bodies();
    for (k, row) in poses.chunks_exact_mut(S::POSE).enumerate() {
        put_pose(&bodies.origin(k), row);
    }
    let width = S::DIM + S::SPIN_DIM;
    for (motion, row) in bodies.motion.iter().zip(motions.chunks_exact_mut(width)) {
        let (linear, spin) = row.split_at_mut(S::DIM);
        put(motion.linear, linear);
        put(motion.spin, spin);
    }
}
