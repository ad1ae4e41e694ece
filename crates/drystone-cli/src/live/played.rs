//! A recording in the viewer: its frames, and the numbers that go with them.
//!
//! What frames do not hold (masses, friction, energies) comes from the recording's scene, built
//! again; where this program can't build it, it is left out.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use drystone::{Energy, Motion, Pose, World};
use drystone_frame::recording::{Header, ReadError, Reader, Record, SIGNATURE, Scrubber};
use drystone_frame::{Frame, FrameContact, FrameJoint, Stage};
use drystone_scene::AnyWorld;
use drystone_view::live::{
    About, Change, ContactDetail, Grip, Lesson, Matrix, Numbers, Settings, Simulation, Tape, Throw,
};

use super::running::{Throwable, vector};
use super::verdict;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::recording::{open_to_read, plan_of, unreadable};
use crate::units::counted;

/// Frames after which the world that measures energies is copied anew: it notes every change of a
/// body for a step that never comes.
const MOST_CHANGES: usize = 256;

/// Whether a file begins as recordings do.
pub(crate) fn is_recording(path: &Path) -> bool {
    let mut start = [0; SIGNATURE.len()];
    let opened = drystone_scene::open_plain(path);
    let read = opened.and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == SIGNATURE
}

/// The name under which a recording is shown: that of its file.
pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A recording, ready to be shown.
pub(super) struct Played {
    scrubber: Scrubber<BufReader<File>>,
    scene: Option<Plan>,
    times: Vec<f64>,
    numbers: Vec<Numbers>,
    first: Frame,
    about: About,
}

impl Played {
    /// Reads a recording through once, as far as it is good.
    pub(super) fn open(path: &Path) -> Result<Self, Fault> {
        let fault = |error| unreadable(path, error);
        let mut reader = Reader::open(open_to_read(path)?).map_err(fault)?;
        let header = reader.header.clone();
        let scene = plan_of(&header, path, None).ok();
        let mut measure = Measure::new(scene.as_ref());
        let (mut times, mut numbers) = (Vec::new(), Vec::new());
        let (mut first, mut damage) = (None, None);
        for record in reader.records() {
            match record {
                Ok(record) => {
                    times.push(record.frame.time);
                    numbers.push(measure.numbers(&record));
                    first.get_or_insert(record.frame);
                }
                Err(error) => damage = Some(error),
            }
        }
        let cut = cut_short(&header, times.len() as u64, reader.has_ended(), damage);
        let first = first.ok_or_else(|| Fault::OtherRun {
            path: path.to_owned(),
            what: "it holds no whole frame".to_owned(),
        })?;
        let mut about = scene.as_ref().map_or_else(About::default, about_scene);
        about.recorded = Some(format!(
            "recorded by {}: {} of {}, {:.2} s",
            header.program,
            counted(times.len() as u64, "frame"),
            header.title,
            times.last().copied().unwrap_or(0.0)
        ));
        about.damage = cut;
        about.name = name_of(path);
        Ok(Self {
            scrubber: Scrubber::open(open_to_read(path)?).map_err(fault)?,
            scene,
            times,
            numbers,
            first,
            about,
        })
    }

    /// Stage and first frame of a recording, for a small picture of it.
    pub(super) fn start(path: &Path) -> Option<(Stage, Frame)> {
        let mut reader = Reader::open(open_to_read(path).ok()?).ok()?;
        let record = reader.records().next()?.ok()?;
        Some((reader.stage.clone(), record.frame))
    }
}

/// What is missing of a recording, in words.
fn cut_short(
    header: &Header,
    frames: u64,
    has_ended: bool,
    damage: Option<ReadError>,
) -> Option<String> {
    let all = header.frames();
    match damage {
        Some(error) => Some(format!("Only {frames} of {all} frames are good: {error}")),
        None if has_ended => None,
        None => Some(format!(
            "This recording was cut short: {frames} of {all} frames. `drystone resume` goes on with it"
        )),
    }
}

fn about_scene(plan: &Plan) -> About {
    match &plan.world {
        AnyWorld::Flat(world) => verdict::about(&plan.scene, world),
        AnyWorld::Solid(world) => verdict::about(&plan.scene, world),
    }
}

/// Makes numbers of frames.
struct Measure<'a> {
    plan: Option<&'a Plan>,
    world: Option<AnyWorld>,
    frames: usize,
    tolerance: f64,
}

impl<'a> Measure<'a> {
    fn new(plan: Option<&'a Plan>) -> Self {
        Self {
            plan,
            world: None,
            frames: 0,
            tolerance: plan.map_or(f64::NAN, |plan| settings_of(plan).tolerance),
        }
    }

    fn numbers(&mut self, record: &Record) -> Numbers {
        let frame = &record.frame;
        let energy = self.energy(frame);
        let certificate = record.certificate.as_ref();
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let worst = certificate.and_then(|certificate| certificate.worst);
        let is_worst = |contact: &FrameContact| worst == Some([contact.object_a, contact.object_b]);
        let worst = frame.contacts.iter().position(is_worst);
        let gap = |joint: &FrameJoint| joint.error_m;
        Numbers {
            step: frame.step,
            time_s: frame.time,
            residual_m_s: number(certificate.map(|c| c.residual_m_s)),
            tolerance_m_s: self.tolerance,
            penetration_m: number(certificate.map(|c| c.penetration_m)),
            energy_made_j: number(certificate.map(|c| c.energy_made_j)),
            kinetic_j: number(energy.map(|energy| energy.kinetic)),
            potential_j: number(energy.map(|energy| energy.potential)),
            contacts: certificate.map_or(0, |c| c.contacts),
            worst_contact: worst.map(|k| k as u32),
            joint_error_m: number(frame.joints.iter().map(gap).reduce(f64::max)),
            ..Numbers::default()
        }
    }

    /// Energy of the scene's bodies at the poses and velocities of a frame.
    fn energy(&mut self, frame: &Frame) -> Option<Energy> {
        if self.frames.is_multiple_of(MOST_CHANGES) {
            self.world = self.plan.map(|plan| plan.world.clone());
        }
        self.frames += 1;
        match self.world.as_mut()? {
            AnyWorld::Flat(world) => energy_at(world, frame),
            AnyWorld::Solid(world) => energy_at(world, frame),
        }
    }
}

/// The energy of a world whose bodies are where a frame says; `None` if they do not fit.
fn energy_at<S: Throwable>(world: &mut World<S>, frame: &Frame) -> Option<Energy> {
    for k in 0..world.bodies().len() {
        let id = world.bodies().id(k);
        let pose = Pose {
            position: vector::<S>(*frame.positions.get(k)?),
            rotation: S::rotation(*frame.rotations.get(k)?),
        };
        let motion = Motion {
            linear: vector::<S>(*frame.velocities.get(k)?),
            spin: S::spin(*frame.spins.get(k)?),
        };
        world.set_pose(id, pose).ok()?;
        if world.bodies().is_dynamic(k) {
            world.set_motion(id, motion).ok()?;
        }
    }
    Some(world.energy())
}

fn settings_of(plan: &Plan) -> Settings {
    match &plan.world {
        AnyWorld::Flat(world) => verdict::settings(world),
        AnyWorld::Solid(world) => verdict::settings(world),
    }
}

impl Simulation for Played {
    fn stage(&self) -> Stage {
        self.scrubber.stage.clone()
    }

    fn about(&self) -> About {
        self.about.clone()
    }

    fn frame(&self) -> Frame {
        self.first.clone()
    }

    fn details(&self) -> Vec<ContactDetail> {
        Vec::new()
    }

    fn step(&mut self) -> Result<Numbers, String> {
        Err(NOT_RUN.to_owned())
    }

    fn numbers(&self) -> Numbers {
        self.numbers.first().copied().unwrap_or_default()
    }

    fn settings(&self) -> Settings {
        let header = &self.scrubber.header;
        Settings {
            dt: header.dt,
            ..self
                .scene
                .as_ref()
                .map_or_else(Settings::default, settings_of)
        }
    }

    fn change(&mut self, _: &Change) -> Result<(), String> {
        Err(NOT_RUN.to_owned())
    }

    fn pull(&mut self, _: &Grip) {}

    fn throw(&mut self, _: &Throw) -> Result<(), String> {
        Err(NOT_RUN.to_owned())
    }

    fn matrix(&mut self) -> Matrix {
        Matrix::default()
    }

    fn lesson(&mut self) -> Option<Lesson> {
        None
    }

    fn tape(&mut self) -> Option<&mut dyn Tape> {
        Some(self)
    }
}

/// Said where a recording is asked for what only a simulation can do.
const NOT_RUN: &str = "a recording is shown, not run";

impl Tape for Played {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn moment(&mut self, number: usize) -> Result<(Frame, Vec<ContactDetail>), String> {
        let found = self.scrubber.frame(number as u64);
        let record = found.map_err(|error| error.to_string())?;
        let record = record.ok_or_else(|| format!("there is no frame {number}"))?;
        let detail = |contact: &FrameContact| ContactDetail {
            friction: self.friction(contact),
            residual_m_s: 0.0,
        };
        let details = record.frame.contacts.iter().map(detail).collect();
        Ok((record.frame, details))
    }

    fn rows(&self) -> Vec<Numbers> {
        self.numbers.clone()
    }
}

impl Played {
    /// The coefficient of friction between the two objects of a contact, 0 where it is not known.
    fn friction(&self, contact: &FrameContact) -> f64 {
        fn between<S: drystone::Space>(world: &World<S>, a: u32, b: u32) -> Option<f64> {
            let bodies = world.bodies();
            let id = |k: u32| ((k as usize) < bodies.len()).then(|| bodies.id(k as usize));
            world
                .surface(id(a)?, id(b)?)
                .map(|surface| surface.friction)
        }
        let (a, b) = (contact.object_a, contact.object_b);
        let known = self.scene.as_ref().and_then(|plan| match &plan.world {
            AnyWorld::Flat(world) => between(world, a, b),
            AnyWorld::Solid(world) => between(world, a, b),
        });
        known.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{RecordArgs, SettingsArgs};
    use crate::output::Outputs;
    use crate::recording::Recording;
    use crate::simulate::simulate;

    /// Records a tenth of a second of a scene, a frame each step, and gives energies of the steps.
    fn record(scene: &str, path: &Path) -> Vec<Energy> {
        let plan = || Plan::new(scene, &SettingsArgs::default(), Some(0.1)).unwrap();
        let mut recorded = plan();
        let args = RecordArgs {
            record: Some(path.to_owned()),
            state_every: std::num::NonZeroU32::MIN,
            sync_every_frame: false,
        };
        let fps = 1.0 / recorded.world.dt();
        let mut outputs = Outputs::default();
        outputs.record(Recording::create(&recorded, &args, fps, path).unwrap());
        let outcome = match &mut recorded.world {
            AnyWorld::Flat(world) => simulate(world, recorded.steps, scene, outputs),
            AnyWorld::Solid(world) => simulate(world, recorded.steps, scene, outputs),
        };
        assert!(outcome.fault.is_none());
        let mut again = plan();
        let mut energies = Vec::new();
        for step in 0..=again.steps {
            if step > 0 {
                again.world.step().unwrap();
            }
            energies.push(match &again.world {
                AnyWorld::Flat(world) => world.energy(),
                AnyWorld::Solid(world) => world.energy(),
            });
        }
        energies
    }

    #[test]
    fn energies_and_friction_are_those_of_the_run() {
        for scene in ["incline-slides", "rocking-block", "spheres-on-incline"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("run.dry");
            let energies = record(scene, &path);
            let mut played = Played::open(&path).unwrap();
            assert_eq!(played.times.len(), energies.len());
            for (numbers, energy) in played.numbers.iter().zip(&energies) {
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
                assert!(close(numbers.kinetic_j, energy.kinetic), "{scene}");
                assert!(close(numbers.potential_j, energy.potential), "{scene}");
            }
            let last = played.times.len() - 1;
            let (frame, details) = played.moment(last).unwrap();
            assert_eq!(frame.time, played.times[last]);
            assert_eq!(frame.contacts.len(), details.len());
            assert!(
                details.iter().all(|detail| detail.friction > 0.0),
                "{scene}"
            );
            assert!(played.moment(last + 1).is_err());
            assert!(played.about.damage.is_none());
        }
    }

    #[test]
    fn what_is_no_recording_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.toml");
        std::fs::write(&path, "dimension = 2\n").unwrap();
        assert!(!is_recording(&path));
        assert!(!is_recording(&folder.path().join("missing")));
        assert!(Played::open(&path).is_err());
    }
}
