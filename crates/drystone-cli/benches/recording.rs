//! What a recording costs: time beside the run, and size beside plain numbers and glTF.
//!
//! `cargo bench -p drystone-cli --bench recording [-- SECONDS [THREADS] [heap|drum] [sync]]` runs
//! two scenes of 1,000 bodies for 60 s at 60 frames a second, each without and with a recording,
//! and prints a table. With `sync` it waits for the disk after every frame.
//! Next to the time on the clock stands the processor time of the thread that steps: what the run
//! waits for where there is a core for the thread that writes, however busy the machine is.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use drystone_frame::export::{Model, Motion, gltf};
use drystone_frame::recording::{BackgroundWriter, Header, Reader, Record, Writer};
use drystone_scene::{AnyWorld, Scene};

/// A box of walls in which a thousand stones fall, come to rest and sleep.
const HEAP: &str = r#"
dimension = 3
strategy = "realtime"

[[bodies]]
name = "floor"
kind = "fixed"
shape.half_space.normal = [0, 1, 0]

[[bodies]]
name = "stone"
shape.box.size = [0.4, 0.25, 0.3]
position = [0, 8, 0]
repeat.random = { count = 999, region = [6, 14, 6], sizes = [0.8, 1.2], turned = true, seed = 3 }
"#;

/// A thousand stones in a drum that never stops.
const DRUM: &str = r#"
dimension = 3
strategy = "realtime"

[[bodies]]
name = "drum"
kind = "kinematic"
script.steady.spin = [0, 0, 1]
shape.compound.parts = [
  { shape.box.size = [12, 0.5, 8], position = [0, -5, 0] },
  { shape.box.size = [12, 0.5, 8], position = [0, 5, 0] },
  { shape.box.size = [0.5, 12, 8], position = [-5, 0, 0] },
  { shape.box.size = [0.5, 12, 8], position = [5, 0, 0] },
  { shape.box.size = [12, 12, 0.5], position = [0, 0, -4] },
  { shape.box.size = [12, 12, 0.5], position = [0, 0, 4] },
]

[[bodies]]
name = "stone"
shape.box.size = [0.5, 0.3, 0.4]
repeat.random = { count = 999, region = [8.4, 8.4, 6.6], sizes = [0.7, 1.0], turned = true, seed = 3 }
"#;

fn world(scene: &str, threads: u32) -> AnyWorld {
    let mut world = Scene::from_toml(scene, "bench.toml")
        .unwrap()
        .build()
        .unwrap();
    if let AnyWorld::Solid(world) = &mut world {
        world.settings_mut().threads = threads;
    }
    world
}

fn snapshot(world: &AnyWorld) -> Vec<u8> {
    match world {
        AnyWorld::Flat(world) => world.snapshot(),
        AnyWorld::Solid(world) => world.snapshot(),
    }
}

/// Seconds of a run.
#[derive(Clone, Copy)]
struct Times {
    clock: f64,
    /// Processor time of the thread that steps.
    own: f64,
}

impl Times {
    const LONG: Self = Self {
        clock: f64::INFINITY,
        own: f64::INFINITY,
    };

    fn min(self, other: Self) -> Self {
        Self {
            clock: self.clock.min(other.clock),
            own: self.own.min(other.own),
        }
    }
}

/// Processor time of this thread in s, where the system tells (Linux: the first number, in ns).
fn own_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|word| word.parse::<f64>().ok());
    nanoseconds.map_or(f64::NAN, |ns| 1e-9 * ns)
}

/// Whether a word is among the arguments.
fn is_named(word: &str) -> bool {
    std::env::args().any(|argument| argument == word)
}

/// Makes a run, recorded or not.
fn run(scene: &str, steps: u64, threads: u32, file: Option<&Path>) -> Times {
    let mut world = world(scene, threads);
    let header = Header {
        dt: world.dt(),
        steps,
        ..Header::default()
    };
    let mut writer = file.map(|path| {
        let file = File::create(path).unwrap();
        let writer = Writer::create(file, header, &world.stage()).unwrap();
        let writer = writer.sync_every_frame(is_named("sync"));
        BackgroundWriter::new(writer).unwrap()
    });
    let (start, own) = (Instant::now(), own_time());
    for number in 0..=steps {
        if number > 0 {
            world.step().unwrap();
        }
        if let Some(writer) = &mut writer {
            let state = writer.wants_state().then(|| snapshot(&world));
            let record = Record {
                number,
                frame: world.frame(),
                certificate: None,
            };
            writer.frame(record, state).unwrap();
        }
    }
    if let Some(writer) = writer {
        writer.into_writer().unwrap().finish().unwrap();
    }
    Times {
        clock: start.elapsed().as_secs_f64(),
        own: own_time() - own,
    }
}

/// Bytes as plain numbers of 8 bytes, of poses and velocities alone and with contacts, and as glTF.
fn sizes(path: &Path) -> (u64, u64, u64) {
    let mut reader = Reader::open(BufReader::new(File::open(path).unwrap())).unwrap();
    let stage = reader.stage.clone();
    let mut motion = Motion::new(&stage);
    let (mut bodies, mut contacts) = (0, 0);
    let mut model = None;
    for record in reader.records() {
        let frame = record.unwrap().frame;
        bodies += 8 * 13 * frame.positions.len() as u64;
        contacts += 8 * 11 * frame.contacts.len() as u64;
        motion.add(&frame);
        model.get_or_insert_with(|| Model::new(&stage, &frame));
    }
    let glb = gltf::write(&stage, &model.unwrap(), &motion).unwrap();
    (bodies, bodies + contacts, glb.len() as u64)
}

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|argument| argument.parse::<f64>().ok());
    let seconds = numbers.next().unwrap_or(60.0);
    let threads = numbers.next().unwrap_or(1.0) as u32;
    let steps = (60.0 * seconds).round() as u64;
    let path = std::env::temp_dir().join("drystone-bench.dry");
    println!("1,000 bodies, {steps} frames, {threads} threads; best of two");
    println!("| scene | ms a frame | recorded | cost | cost on the run's own thread |");
    println!("|---|---|---|---|---|");
    let mut table = String::new();
    let scenes = [("heap", HEAP), ("drum", DRUM)];
    let is_any = scenes.iter().any(|(name, _)| is_named(name));
    for (name, scene) in scenes {
        if is_any && !is_named(name) {
            continue;
        }
        let (mut plain, mut recorded) = (Times::LONG, Times::LONG);
        for _ in 0..2 {
            plain = plain.min(run(scene, steps, threads, None));
            recorded = recorded.min(run(scene, steps, threads, Some(&path)));
        }
        let per_frame = |total: f64| 1e3 * total / steps as f64;
        let cost = |plain: f64, recorded: f64| 100.0 * (recorded / plain - 1.0);
        println!(
            "| {name} | {:.2} | {:.2} | {:+.1} % | {:+.1} % |",
            per_frame(plain.clock),
            per_frame(recorded.clock),
            cost(plain.clock, recorded.clock),
            cost(plain.own, recorded.own),
        );
        let stored = std::fs::metadata(&path).unwrap().len();
        let (bodies, all, glb) = sizes(&path);
        let sizes = [stored, bodies, all, glb].map(|bytes| format!("{:.0}", 1e-6 * bytes as f64));
        table += &format!("| {name} | {} |\n", sizes.join(" | "));
    }
    println!(
        "\n| MB | recording | poses and velocities as f64 | and contacts | .glb (poses as f32) |"
    );
    println!("|---|---|---|---|---|\n{table}");
    std::fs::remove_file(path).unwrap();
}
