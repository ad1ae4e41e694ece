//! Recordings of runs: made, gone on with, and made again to be compared.
//!
//! A recording holds the scene as JSON and the settings of the command line, so it can be run
//! again without the scene's file. The number of threads is not in it: results never depend on it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use drystone::{Certificate, Space, StepReport, World};
use drystone_frame::Stage;
use drystone_frame::recording::{
    BackgroundWriter, FrameCertificate, Header, ReadError, Record, Recovered, WriteError, Writer,
    is_finished,
};
use drystone_scene::Scene;
use serde::{Deserialize, Serialize};

use crate::cli::{RecordArgs, SettingsArgs};
use crate::fault::Fault;
use crate::interrupt;
use crate::plan::Plan;

/// A recording that is being written.
#[derive(Debug)]
pub(crate) struct Recording {
    path: PathBuf,
    header: Header,
    writer: BackgroundWriter<File>,
    /// Of the steps since the last frame.
    certificate: Option<FrameCertificate>,
    /// Names of objects, sorted, and their indices.
    names: Vec<(String, u32)>,
}

impl Recording {
    /// Begins a recording of a run that has not begun. A file that is there is replaced, unless
    /// it is a recording that could be resumed.
    pub(crate) fn create(
        plan: &Plan,
        args: &RecordArgs,
        fps: f64,
        path: &Path,
    ) -> Result<Self, Fault> {
        refuse_to_replace(path)?;
        let stage = plan.world.stage();
        let header = header(plan, args, fps)?;
        // Header and stage go to a file beside, which then takes the name: under the name of the
        // recording there is never less than what it takes to resume.
        let part = beside(path);
        let writer = begin(&part, header.clone(), &stage).and_then(|writer| {
            fs::rename(&part, path)?;
            sync_folder(path);
            Ok(writer)
        });
        let writer = writer.map_err(|error| {
            let _ = fs::remove_file(&part);
            let path = path.to_owned();
            Fault::Record {
                path,
                frames: None,
                error,
            }
        })?;
        let writer = writer.sync_every_frame(args.sync_every_frame);
        Self::new(path, header, &stage, writer)
    }

    /// Goes on with a recording that was cut short; `state` is that at its last good frame.
    pub(crate) fn go_on(
        path: &Path,
        mut file: File,
        (recovered, state): (&Recovered, &[u8]),
        sync_every_frame: bool,
    ) -> Result<Self, Fault> {
        let fault = |error| Fault::Record {
            path: path.to_owned(),
            frames: Some(recovered.frames),
            error,
        };
        let cut = file.set_len(recovered.good_bytes);
        cut.and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(|error| fault(error.into()))?;
        let mut writer = Writer::resume(file, recovered).sync_every_frame(sync_every_frame);
        if writer.state_due() {
            writer.state(state).map_err(fault)?;
        }
        Self::new(path, recovered.header.clone(), &recovered.stage, writer)
    }

    fn new(
        path: &Path,
        header: Header,
        stage: &Stage,
        writer: Writer<File>,
    ) -> Result<Self, Fault> {
        let frames = writer.next_frame();
        let objects = stage.objects.iter().zip(0..);
        let mut names: Vec<(String, u32)> = objects
            .map(|(object, k)| (object.name.clone(), k))
            .collect();
        names.sort_unstable();
        let writer = BackgroundWriter::new(writer).map_err(|error| Fault::Record {
            path: path.to_owned(),
            frames: Some(frames),
            error,
        })?;
        interrupt::listen();
        Ok(Self {
            path: path.to_owned(),
            header,
            writer,
            certificate: None,
            names,
        })
    }

    /// Takes the state before the first step.
    pub(crate) fn begin<S: Space>(&mut self, world: &World<S>) -> Result<(), Fault> {
        if self.writer.next_frame() == 0 {
            self.frame(world)?;
        }
        Ok(())
    }

    /// Takes a step; where it ends a frame, writes the frame.
    pub(crate) fn add<S: Space>(
        &mut self,
        world: &World<S>,
        step: &StepReport,
    ) -> Result<(), Fault> {
        if let Some(certificate) = &step.certificate {
            let step = self.plain(certificate);
            match &mut self.certificate {
                Some(all) => all.merge(&step),
                none => *none = Some(step),
            }
        }
        let next = self.writer.next_frame();
        if step.step != self.header.step_of(next) {
            return Ok(());
        }
        self.frame(world)?;
        if interrupt::asked() && next + 1 < self.header.frames() {
            return Err(Fault::Interrupted {
                path: self.path.clone(),
                frames: (next + 1, self.header.frames()),
            });
        }
        Ok(())
    }

    fn frame<S: Space>(&mut self, world: &World<S>) -> Result<(), Fault> {
        let record = Record {
            number: self.writer.next_frame(),
            frame: world.frame(),
            certificate: self.certificate.take(),
        };
        let state = self.writer.wants_state().then(|| world.snapshot());
        let written = self.writer.frame(record, state);
        written.map_err(|error| Fault::Record {
            path: self.path.clone(),
            frames: Some(self.writer.next_frame().saturating_sub(1)),
            error,
        })
    }

    /// Waits for the last frame. The file is finished if `is_over`: the run came to its end or
    /// can't go further; otherwise it is left to be resumed.
    pub(crate) fn finish(self, is_over: bool) -> Result<(), Fault> {
        let frames = self.writer.next_frame();
        let writer = self.writer.into_writer();
        let ended = writer.and_then(|writer| match is_over {
            true => writer.finish().map(|_| ()),
            false => writer.pause(),
        });
        ended.map_err(|error| Fault::Record {
            path: self.path,
            frames: Some(frames.saturating_sub(1)),
            error,
        })
    }

    /// A certificate without names.
    fn plain(&self, certificate: &Certificate) -> FrameCertificate {
        let index = |name: &str| {
            let at = self
                .names
                .binary_search_by(|(known, _)| known.as_str().cmp(name));
            at.map_or(u32::MAX, |at| self.names[at].1)
        };
        let worst = certificate.worst.as_ref();
        FrameCertificate {
            step: certificate.step,
            contacts: certificate.contacts as u32,
            worst: worst.map(|worst| [index(&worst.a), index(&worst.b)]),
            residual_m_s: certificate.residual_m_s,
            relative_residual: certificate.relative_residual,
            approach_speed_m_s: certificate.approach_speed_m_s,
            pull_n_s: certificate.pull_n_s,
            cone_excess_n_s: certificate.cone_excess_n_s,
            signorini_j: certificate.signorini_j,
            friction_direction_j: certificate.friction_direction_j,
            penetration_m: certificate.penetration_m,
            energy_made_j: certificate.energy_made_j,
            momentum_n_s: certificate.momentum_n_s,
        }
    }
}

/// The options of the command line that change what a run computes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct RecordedSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    dt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solver: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<NonZeroU32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
}

fn header(plan: &Plan, args: &RecordArgs, fps: f64) -> Result<Header, Fault> {
    let unfit = |error: serde_json::Error| Fault::Record {
        path: args.record.clone().unwrap_or_default(),
        frames: None,
        error: WriteError::Unfit("scene", error.to_string()),
    };
    let settings = RecordedSettings {
        dt: plan.settings.dt,
        strategy: plan.settings.strategy.clone(),
        solver: plan.settings.solver.clone(),
        iterations: plan.settings.iterations,
        tolerance: plan.settings.tolerance,
    };
    let scene = serde_json::to_value(&plan.scene).map_err(unfit)?;
    let mut seeds = Vec::new();
    collect_seeds(&scene, &mut seeds);
    let dt = plan.world.dt();
    let per_frame = libm::round(1.0 / (fps * dt)).clamp(1.0, f64::from(u32::MAX));
    Ok(Header {
        title: plan.scene.name.clone(),
        dt,
        steps: plan.steps,
        steps_per_frame: per_frame as u32,
        group: args.state_every.get(),
        seeds,
        settings: serde_json::to_value(settings).map_err(unfit)?,
        scene,
        ..Header::default()
    })
}

/// All numbers called `seed`, in the order of the scene.
fn collect_seeds(value: &serde_json::Value, seeds: &mut Vec<u64>) {
    match value {
        serde_json::Value::Array(values) => {
            values.iter().for_each(|value| collect_seeds(value, seeds));
        }
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_u64() {
                    Some(seed) if key == "seed" => seeds.push(seed),
                    _ => collect_seeds(value, seeds),
                }
            }
        }
        _ => {}
    }
}

/// The scene of a recording, with its settings and so many threads, before its first step.
pub(crate) fn plan_of(
    header: &Header,
    path: &Path,
    threads: Option<NonZeroU32>,
) -> Result<Plan, Fault> {
    let name = format!("{} (its scene)", path.display());
    let mut scene = Scene::from_json(&header.scene.to_string(), &name).map_err(Fault::Scene)?;
    scene.name.clone_from(&header.title);
    let settings = serde_json::from_value(header.settings.clone());
    let settings: RecordedSettings = settings.map_err(|error| Fault::OtherRun {
        path: path.to_owned(),
        what: format!("its settings can't be read: {error}"),
    })?;
    let settings = SettingsArgs {
        dt: settings.dt,
        strategy: settings.strategy,
        solver: settings.solver,
        iterations: settings.iterations,
        tolerance: settings.tolerance,
        threads,
        ..SettingsArgs::default()
    };
    let mut plan = Plan::of(scene, &settings, None)?;
    plan.steps = header.steps;
    if plan.world.dt() == header.dt {
        Ok(plan)
    } else {
        Err(Fault::OtherRun {
            path: path.to_owned(),
            what: "the length of its steps comes out differently".to_owned(),
        })
    }
}

/// Opens a recording to go on with it, for this program alone.
pub(crate) fn open_to_write(path: &Path) -> Result<File, Fault> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let file = opened.map_err(|error| Fault::Open {
        path: path.to_owned(),
        error,
    })?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Fault::InUse(path.to_owned())),
        // Where files can't be locked, there is no one to be kept out either.
        _ => Ok(file),
    }
}

/// Opens a recording to read it.
pub(crate) fn open_to_read(path: &Path) -> Result<BufReader<File>, Fault> {
    match drystone_scene::open_plain(path) {
        Ok(file) => Ok(BufReader::with_capacity(1 << 18, file)),
        Err(error) => Err(unreadable(path, error.into())),
    }
}

/// The fault of a recording that can't be read.
pub(crate) fn unreadable(path: &Path, error: ReadError) -> Fault {
    Fault::Recording {
        path: path.to_owned(),
        error,
    }
}

/// Refuses what must not be replaced: a recording that can be resumed, a folder, a device.
fn refuse_to_replace(path: &Path) -> Result<(), Fault> {
    match fs::metadata(path) {
        Err(_) => return Ok(()),
        Ok(there) if !there.is_file() => {
            let error = io::Error::other("it is not a plain file");
            let path = path.to_owned();
            return Err(Fault::Open { path, error });
        }
        Ok(_) => {}
    }
    let Ok(mut file) = File::open(path) else {
        return Ok(());
    };
    match is_finished(&mut file) {
        Ok(false) => Err(Fault::Unfinished(path.to_owned())),
        // Anything else is replaced, as every output is.
        _ => Ok(()),
    }
}

/// Makes the file and writes header and stage.
fn begin(part: &Path, header: Header, stage: &Stage) -> Result<Writer<File>, WriteError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(part)?;
    // A lock on a new file: nobody has it. It follows the file to its name.
    let _ = file.try_lock();
    Writer::create(file, header, stage)
}

/// A name beside the file, in the same folder.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Brings a new name to the disk, where folders can be opened.
fn sync_folder(path: &Path) {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _: io::Result<()> = folder.sync_all();
    }
}
