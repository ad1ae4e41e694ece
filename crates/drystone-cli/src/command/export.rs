//! `drystone export`: a recording in the formats of other programs.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use drystone_frame::export::usd::{Physics, Setting};
use drystone_frame::export::{Model, Motion, cache, csv, gltf, obj, usd, vtk};
use drystone_frame::recording::{Header, Reader, Record};
use drystone_frame::{Frame, Stage};
use drystone_scene::export::usd_physics;
use drystone_scene::{Scene, gallery, import};
use drystone_view::still::Camera;

use super::print;
use crate::cli::{ExportArgs, FilmArgs, ReadArgs};
use crate::fault::Fault;
use crate::live::camera;
use crate::output::films::{FilmFile, FilmOptions};
use crate::output::{Format, OutFile, Target};
use crate::plan::find;
use crate::recording::{open_to_read, unreadable};
use crate::units::{bytes, counted};

/// Acceleration of free fall where a scene does not say it, m/s².
const USUAL_GRAVITY: [f64; 3] = [0.0, -9.81, 0.0];

/// A format, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    /// glTF.
    Glb,
    /// USD.
    Usda,
    /// A Wavefront file for each frame.
    Obj,
    /// ParaView.
    Pvd,
    /// A table of poses.
    Csv,
    /// A film of few colours.
    Gif,
    /// A film, by ffmpeg.
    Mp4,
    /// Vertex caches, little-endian.
    Pc2,
    /// Vertex caches, big-endian.
    Mdd,
}

/// A file that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct ExportFile {
    path: PathBuf,
    format: ExportFormat,
}

impl ExportFile {
    /// Reads the format off a path's extension.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().and_then(|e| e.to_str());
        let format = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("glb") => ExportFormat::Glb,
            Some("usda") => ExportFormat::Usda,
            Some("obj") => ExportFormat::Obj,
            Some("pvd") => ExportFormat::Pvd,
            Some("csv") => ExportFormat::Csv,
            Some("gif") => ExportFormat::Gif,
            Some("mp4") => ExportFormat::Mp4,
            Some("pc2") => ExportFormat::Pc2,
            Some("mdd") => ExportFormat::Mdd,
            _ => {
                let known = ".glb (glTF), .usda (USD), .obj (a file each frame), .pvd (ParaView), \
                     .pc2 or .mdd (vertex caches), .csv, .gif or .mp4 (films)";
                return Err(format!(
                    "what is written follows from the extension: {known}"
                ));
            }
        };
        Ok(Self { path, format })
    }
}

/// Exports a recording. What comes before damage is exported, and the damage is an error.
pub(crate) fn export(args: &ExportArgs) -> Result<(), Fault> {
    let path = &args.file;
    if let Some(scene) = named_scene(path) {
        return args
            .outputs
            .iter()
            .try_for_each(|out| export_scene(scene, out, &args.reading));
    }
    for out in &args.outputs {
        let mut source = Source::open(path, args.every.get().into())?;
        let (frames, written) = write(&mut source, out, &args.film)?;
        let first = match out.format {
            ExportFormat::Obj => {
                format!("{} and so on", numbered(&out.path, 0, "", "obj").display())
            }
            ExportFormat::Pc2 | ExportFormat::Mdd => {
                format!("{} and its mesh, for each that deforms", out.path.display())
            }
            _ => out.path.display().to_string(),
        };
        print(&format!(
            "wrote {first} ({}): {}\n",
            bytes(written),
            counted(frames, "frame")
        ))?;
        if let Some(error) = source.damage {
            return Err(error);
        }
    }
    Ok(())
}

/// What names a scene and not a recording.
fn named_scene(path: &Path) -> Option<&str> {
    let name = path.to_str()?;
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let is_scene = ["toml", "json"].contains(&extension)
        || import::is_model(path)
        || (gallery::find(name).is_some() && !path.exists());
    is_scene.then_some(name)
}

/// Writes a scene with its physics.
fn export_scene(name: &str, out: &ExportFile, reading: &ReadArgs) -> Result<(), Fault> {
    if out.format != ExportFormat::Glb {
        return Err(Fault::NotInFormat {
            path: out.path.clone(),
            what: "a scene that has not been run is written as .glb only",
            help: "record a run first: `drystone run SCENE --record FILE`",
        });
    }
    let scene = find(name, reading)?;
    let file = drystone_scene::export::glb(&scene).map_err(Fault::Scene)?;
    let length = write_file(&out.path, &file)?;
    let path = out.path.display();
    print(&format!(
        "wrote {path} ({}): {} with physics\n",
        bytes(length),
        scene.name
    ))
}

/// Frames of a recording, every so many.
struct Source<'a> {
    path: &'a Path,
    reader: Reader<std::io::BufReader<File>>,
    every: u64,
    damage: Option<Fault>,
}

impl<'a> Source<'a> {
    fn open(path: &'a Path, every: u64) -> Result<Self, Fault> {
        let reader = Reader::open(open_to_read(path)?).map_err(|error| unreadable(path, error))?;
        Ok(Self {
            path,
            reader,
            every,
            damage: None,
        })
    }

    fn header(&self) -> &Header {
        &self.reader.header
    }

    fn stage(&self) -> Stage {
        self.reader.stage.clone()
    }

    /// Calls `take` with each frame and gives their number.
    fn each(&mut self, mut take: impl FnMut(&Frame) -> Result<(), Fault>) -> Result<u64, Fault> {
        let mut taken = 0;
        for record in self.reader.records() {
            match record {
                Ok(Record { number, frame, .. }) if number.is_multiple_of(self.every) => {
                    take(&frame)?;
                    taken += 1;
                }
                Ok(_) => {}
                Err(error) => self.damage = Some(unreadable(self.path, error)),
            }
        }
        Ok(taken)
    }
}

/// Writes one export and gives frames and bytes.
fn write(source: &mut Source<'_>, out: &ExportFile, film: &FilmArgs) -> Result<(u64, u64), Fault> {
    match out.format {
        ExportFormat::Glb | ExportFormat::Usda => write_whole(source, out),
        ExportFormat::Csv => write_table(source, &out.path),
        ExportFormat::Obj => write_objs(source, &out.path),
        ExportFormat::Pvd => write_series(source, &out.path),
        ExportFormat::Gif => write_film(source, (&out.path, Format::Gif), film),
        ExportFormat::Mp4 => write_film(source, (&out.path, Format::Mp4), film),
        ExportFormat::Pc2 | ExportFormat::Mdd => write_caches(source, out),
    }
}

/// The formats that hold all frames in one file.
fn write_whole(source: &mut Source<'_>, out: &ExportFile) -> Result<(u64, u64), Fault> {
    let stage = source.stage();
    let mut motion = Motion::new(&stage);
    let mut model = None;
    let frames = source.each(|frame| {
        model.get_or_insert_with(|| Model::new(&stage, frame));
        motion.add(frame);
        Ok(())
    })?;
    let model = model.unwrap_or_else(|| Model::new(&stage, &Frame::default()));
    let fault = |error| Fault::Write {
        path: out.path.clone(),
        error,
    };
    if out.format == ExportFormat::Glb {
        let file = gltf::write(&stage, &model, &motion)
            .map_err(|error| fault(std::io::Error::other(error)))?;
        fs::write(&out.path, &file).map_err(fault)?;
        return Ok((frames, file.len() as u64));
    }
    let setting = Setting {
        frames_per_second: source.header().frames_per_second() / source.every as f64,
        gravity: gravity(source.header()),
        physics: physics(source.header()),
    };
    let file = File::create(&out.path).map_err(fault)?;
    let mut file = BufWriter::new(file);
    usd::write(&stage, &model, &motion, &setting, &mut file).map_err(fault)?;
    let file = file
        .into_inner()
        .map_err(|error| fault(error.into_error()))?;
    let length = file.metadata().map_err(fault)?.len();
    Ok((frames, length))
}

/// A cache and a mesh for each skin: `run.pc2` and `run.obj`, or `run_1_NAME.pc2` where
/// there are several.
fn write_caches(source: &mut Source<'_>, out: &ExportFile) -> Result<(u64, u64), Fault> {
    let stage = source.stage();
    if stage.skins.is_empty() {
        return Err(Fault::NotInFormat {
            path: out.path.clone(),
            what: "nothing in the recording deforms, and a vertex cache holds nothing else",
            help: "rigid bodies are written to .glb, .usda, .obj, .pvd or .csv",
        });
    }
    let mut motion = Motion::new(&stage);
    let frames = source.each(|frame| {
        motion.add(frame);
        Ok(())
    })?;
    let mut length = 0;
    for (k, deforming) in motion.deforming.iter().enumerate() {
        let path = match motion.deforming.len() {
            1 => out.path.clone(),
            _ => named(&out.path, k + 1, &deforming.name),
        };
        let mut file = Vec::new();
        let written = match out.format {
            ExportFormat::Mdd => cache::mdd(deforming, &motion.times, &mut file),
            _ => cache::pc2(deforming, &mut file),
        };
        written.map_err(|error| Fault::Write {
            path: path.clone(),
            error,
        })?;
        length += write_file(&path, &file)?;
        let first = deforming.frames.first().map(Vec::as_slice);
        let mesh = obj::single(
            &deforming.name,
            first.unwrap_or_default(),
            &deforming.triangles,
        );
        length += write_file(&path.with_extension("obj"), mesh.as_bytes())?;
    }
    Ok((frames, length))
}

/// `run.pc2` becomes `run_1_NAME.pc2`; of a name only letters and digits are kept.
fn named(path: &Path, number: usize, name: &str) -> PathBuf {
    let fit = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().map(fit).collect();
    path.with_file_name(format!("{stem}_{number}_{name}.{extension}"))
}

/// Masses, surfaces and joints of a recording's scene; nothing where this version can't build it.
fn physics(header: &Header) -> Physics {
    let scene = serde_json::from_value::<Scene>(header.scene.clone()).ok();
    let physics = scene.and_then(|scene| usd_physics(&scene).ok());
    physics.unwrap_or_default()
}

/// The gravity of a recording's scene.
fn gravity(header: &Header) -> [f64; 3] {
    let values = header
        .scene
        .get("gravity")
        .and_then(|value| value.as_array());
    values.map_or(USUAL_GRAVITY, |values| {
        std::array::from_fn(|i| values.get(i).and_then(|x| x.as_f64()).unwrap_or_default())
    })
}

fn write_table(source: &mut Source<'_>, path: &Path) -> Result<(u64, u64), Fault> {
    let fault = |error| Fault::Write {
        path: path.to_owned(),
        error,
    };
    let stage = source.stage();
    let mut file = BufWriter::new(File::create(path).map_err(fault)?);
    let mut row = csv::header(&stage);
    let mut length = row.len() as u64;
    file.write_all(row.as_bytes()).map_err(fault)?;
    let frames = source.each(|frame| {
        csv::row(stage.dimension, frame, &mut row);
        length += row.len() as u64;
        file.write_all(row.as_bytes()).map_err(fault)
    })?;
    file.flush().map_err(fault)?;
    Ok((frames, length))
}

fn write_objs(source: &mut Source<'_>, path: &Path) -> Result<(u64, u64), Fault> {
    let stage = source.stage();
    let mut model = None;
    let (mut number, mut length) = (0, 0);
    let frames = source.each(|frame| {
        let model = model.get_or_insert_with(|| Model::new(&stage, frame));
        let text = obj::frame(&stage, model, frame);
        length += write_file(&numbered(path, number, "", "obj"), text.as_bytes())?;
        number += 1;
        Ok(())
    })?;
    Ok((frames, length))
}

fn write_series(source: &mut Source<'_>, path: &Path) -> Result<(u64, u64), Fault> {
    let stage = source.stage();
    let dt = source.header().dt;
    let mut model = None;
    let mut series = Vec::new();
    let mut length = 0;
    let frames = source.each(|frame| {
        let model = model.get_or_insert_with(|| Model::new(&stage, frame));
        let bodies = numbered(path, series.len(), "_bodies", "vtp");
        length += write_file(&bodies, &vtk::bodies(&stage, model, frame))?;
        let contacts = numbered(path, series.len(), "_contacts", "vtp");
        length += write_file(&contacts, &vtk::contacts(frame, dt))?;
        series.push((frame.time, file_name(&bodies), file_name(&contacts)));
        Ok(())
    })?;
    length += write_file(path, vtk::series(&series).as_bytes())?;
    Ok((frames, length))
}

fn write_film(
    source: &mut Source<'_>,
    (path, format): (&Path, Format),
    args: &FilmArgs,
) -> Result<(u64, u64), Fault> {
    let file = OutFile {
        path: path.to_owned(),
        format,
    };
    let name = source.path.display().to_string();
    let scene = Scene::from_json(&source.header().scene.to_string(), &name).ok();
    let camera = scene.as_ref().map_or_else(Camera::default, camera);
    let Some(options) = FilmOptions::of(&file, args, camera)? else {
        return Ok((0, 0));
    };
    let mut film = FilmFile::new(options, Target::open(path)?);
    let mut stage = Some(source.stage());
    let frames = source.each(|frame| match stage.take() {
        Some(stage) => film.begin(stage, frame),
        None => film.add(frame.time, || frame.clone()),
    })?;
    film.finish()?;
    let written = fs::metadata(path).map_or(0, |metadata| metadata.len());
    Ok((frames, written))
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<u64, Fault> {
    let written = fs::write(path, bytes);
    written.map_err(|error| Fault::Write {
        path: path.to_owned(),
        error,
    })?;
    Ok(bytes.len() as u64)
}

/// `run.obj` becomes `run_000012.obj`.
fn numbered(path: &Path, number: usize, what: &str, extension: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}_{number:06}{what}.{extension}"))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
