//! What a step of cloth costs, and where the time goes.
//!
//! `cargo bench -p drystone --bench cloth` prints a table for people and a line of JSON for
//! programs: sheets of 32² to 256² squares draped on a sphere, and five sheets of 128², in the
//! strategies `velocity` and `parallel`. Give sizes, sheets as `5x128` and strategies as arguments
//! (`-- 32 5x64 parallel`) for fewer.
//!
//! Rounds are how often `parallel` solved its impacts.
//!
//! The cloth falls flat on the sphere for half a second, which is not counted, and hangs around it
//! in folds then; what has more than a hundred thousand faces falls for a tenth of a second and is
//! measured over three steps. `after=2` lets it fall for two seconds instead, until it has come to
//! rest. `turns=5` measures the same steps five times, from a snapshot, and gives the middle one.
//! `course=1` follows a fall from its start for a second instead, a row every tenth of it.
//! One more step at the end is judged: the largest
//! residual of the laws of contact, the error of momentum, and whether anything intersects.
//! Where `DRYSTONE_PYTHON` (else `python3`) has `ipctk` (`pip install ipctk`), a second table says
//! what that needs for **one iteration** of an incremental-potential solver on the judged step's
//! motion: search of candidates, additive continuous collision, and its barrier's gradient and
//! Hessian; without elastic forces and the linear system. A step takes several of those.
//!
//! Processor time is that of all threads (Linux; elsewhere 0); the variable `THREADS` sets their
//! number (2).

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use drystone::glam::DVec3;
use drystone::{
    Body, D3, Deformable, DeformableId, Mesh, Phase, Settings, Shape3, Strategy, Substance, World3,
};

const RADIUS: f64 = 0.5;
/// Of a sheet, m.
const SIDE: f64 = 1.8;
/// Steps until the sheets hang around the sphere, and steps that are measured: of all but the
/// largest, and of those.
const STEPS: [(usize, usize); 2] = [(60, 20), (12, 3)];
/// Faces from which on a case is one of the largest.
const LARGEST: u32 = 150_000;

/// Thickness of a sheet of n × n squares, m.
fn thickness(n: u32) -> f64 {
    0.4 * SIDE / f64::from(n)
}

/// Sheets of n × n squares that fall on a sphere, one over the other.
fn draped(n: u32, sheets: u32, strategy: Strategy) -> (World3, Vec<DeformableId>) {
    let mut world = World3::new(Settings {
        dt: 1.0 / 120.0,
        certify_every: 0,
        threads: threads(),
        strategy,
        ..Settings::default()
    })
    .unwrap();
    world
        .add(Body::fixed(Shape3::ball(RADIUS).unwrap()))
        .unwrap();
    let thickness = thickness(n);
    let mut ids = Vec::new();
    for k in 0..sheets {
        let mut mesh = Mesh::<D3>::cloth([SIDE, SIDE], [n, n]);
        let height = RADIUS + thickness * (0.6 + 1.1 * f64::from(k));
        for v in &mut mesh.vertices {
            v.y += height;
        }
        let substance = Substance {
            young: 3e4,
            density: 200.0,
            thickness,
            damping: 3e-3,
            bending: 0.01,
            ..Substance::default()
        };
        let cloth = Deformable {
            linear_damping: 0.5,
            velocity: DVec3::NEG_Y,
            ..Deformable::new(mesh, substance)
        };
        ids.push(world.add_deformable(cloth).unwrap());
    }
    (world, ids)
}

/// Where the nodes of sheets are, m.
fn places(world: &World3, sheets: &[DeformableId]) -> Vec<[f64; 3]> {
    let nodes = sheets.iter().flat_map(|&id| world.nodes(id).unwrap());
    nodes
        .map(|node| world.pose(node).unwrap().position.to_array())
        .collect()
}

/// The faces of sheets with their nodes in one row: without the ball, which is the first body.
fn faces(world: &World3, sheets: &[DeformableId]) -> Vec<[u32; 3]> {
    let all = sheets.iter().flat_map(|&id| world.faces(id).unwrap());
    all.map(|face| face.map(|k| k - 1)).collect()
}

/// Threads of a step: what the variable `THREADS` says, else two.
fn threads() -> u32 {
    let given = std::env::var("THREADS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(2)
}

/// What steps cost on average.
struct Cost {
    /// Seconds by the clock on the wall.
    wall: f64,
    /// Seconds of processor time, all threads together.
    processor: f64,
    /// Of the longest step by the clock, s.
    longest: f64,
    contacts: f64,
    /// Times that impacts were solved.
    rounds: f64,
    /// Steps that the fail-safe had to end.
    gave_up: usize,
    /// Seconds of each phase, all steps together.
    phases: BTreeMap<Phase, f64>,
}

/// Processor time of this process so far, s.
fn processor_time() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let fields = after_name.split(' ').skip(11).take(2);
    let ticks: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}

/// What some steps cost, measured in so many turns from the same start: the middle one.
fn measure_again(world: &mut World3, steps: usize, turns: usize) -> Cost {
    let start = world.snapshot();
    let mut costs = Vec::new();
    for _ in 0..turns {
        world.restore(&start).unwrap();
        // A new world's first step makes its lists.
        world.step().unwrap();
        costs.push(measure(world, steps));
    }
    costs.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    costs.swap_remove(turns / 2)
}

fn measure(world: &mut World3, steps: usize) -> Cost {
    let mut phases: BTreeMap<Phase, f64> = BTreeMap::new();
    let (mut contacts, mut rounds, mut gave_up) = (0, 0, 0);
    let mut longest: f64 = 0.0;
    let (began, processor) = (Instant::now(), processor_time());
    for _ in 0..steps {
        let step = Instant::now();
        let mut last = step;
        let report = world
            .step_watched(&mut |phase| {
                *phases.entry(phase).or_default() += last.elapsed().as_secs_f64();
                last = Instant::now();
            })
            .unwrap();
        contacts += report.contacts;
        rounds += report.resolution.rounds;
        gave_up += usize::from(report.resolution.gave_up);
        longest = longest.max(step.elapsed().as_secs_f64());
    }
    let count = steps as f64;
    Cost {
        wall: began.elapsed().as_secs_f64() / count,
        processor: (processor_time() - processor) / count,
        longest,
        contacts: contacts as f64 / count,
        rounds: f64::from(rounds) / count,
        gave_up,
        phases,
    }
}

/// Steps of a row of [`follow`].
const STEPS_A_ROW: usize = 12;

/// Follows a case from its start for some seconds and prints a row for every tenth of one.
fn follow(n: u32, sheets: u32, strategy: Strategy, seconds: f64) {
    let (mut world, _) = draped(n, sheets, strategy);
    let rows = (seconds / world.settings().dt / STEPS_A_ROW as f64).round() as usize;
    let (mut sum, mut longest): (f64, f64) = (0.0, 0.0);
    for row in 1..=rows {
        let cost = measure(&mut world, STEPS_A_ROW);
        let audit = world.audit().unwrap();
        println!(
            "| {} | {sheets} × {n}² | {:.1} | {:.0} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {} |",
            strategy.name(),
            row as f64 * STEPS_A_ROW as f64 * world.settings().dt,
            cost.contacts,
            1e3 * cost.wall,
            1e3 * cost.longest,
            1e6 * cost.wall / cost.contacts.max(1.0),
            cost.rounds,
            cost.gave_up,
            audit.intersections.len(),
        );
        sum += cost.wall / rows as f64;
        longest = longest.max(cost.longest);
    }
    println!(
        "\n{sheets} × {n}²: {:.1} ms a step on average, {:.1} at most",
        1e3 * sum,
        1e3 * longest
    );
}

/// What is known of a case when it is done: a line of JSON, and a row of the table of ipctk.
struct Told {
    json: String,
    ipctk: Option<String>,
}

/// Measures one case, `after` seconds if that is given, in so many turns if these are, prints its
/// row and tells the rest.
fn report(
    n: u32,
    sheets: u32,
    strategy: Strategy,
    (after, turns): (Option<f64>, Option<usize>),
) -> Told {
    let (mut world, ids) = draped(n, sheets, strategy);
    let mut steps = STEPS[usize::from(2 * n * n * sheets > LARGEST)];
    if let Some(seconds) = after {
        steps.0 = (seconds / world.settings().dt).round() as usize;
    }
    for _ in 0..steps.0 {
        world.step().unwrap();
    }
    let cost = match turns {
        Some(turns) if turns > 0 => measure_again(&mut world, steps.1, turns),
        _ => measure(&mut world, steps.1),
    };
    let all: f64 = cost.phases.values().sum();
    let share = |phase: Phase| {
        let part = cost.phases.get(&phase).map(|part| 100.0 * part / all);
        part.map_or_else(|| "–".to_owned(), |part| format!("{part:.0} %"))
    };
    world.settings_mut().certify_every = 1;
    let start = places(&world, &ids);
    let judged = world.step().unwrap().certificate.unwrap();
    let audit = world.audit().unwrap();
    println!(
        "| {} | {sheets} × {n}² | {:.0} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {} | {} | {} | {:.1e} | {:.1e} | {} |",
        strategy.name(),
        cost.contacts,
        1e3 * cost.wall,
        1e3 * cost.processor,
        1e6 * cost.processor / cost.contacts,
        cost.rounds,
        share(Phase::Elastic),
        share(Phase::Contact),
        share(Phase::Rescue),
        share(Phase::Detection),
        judged.residual_m_s,
        judged.momentum_n_s,
        audit.intersections.len(),
    );
    let ways = [start, places(&world, &ids)];
    let answer = by_ipctk(&ways, &faces(&world, &ids), thickness(n));
    let row = |answer: Answer| answer.row(&format!("{sheets} × {n}²"), 1e3 * cost.wall);
    let json = format!(
        "{{\"strategy\":\"{}\",\"sheets\":{sheets},\"squares\":{n},\"contacts\":{:.0},\"ms\":{:.2},\
         \"processor_ms\":{:.2}}}",
        strategy.name(),
        cost.contacts,
        1e3 * cost.wall,
        1e3 * cost.processor
    );
    Told {
        json,
        ipctk: answer.map(row),
    }
}

/// What ipctk needs for one iteration.
struct Answer {
    candidates: u32,
    /// Milliseconds of the fastest broad phase, and its name.
    search: f64,
    phase: String,
    /// Milliseconds of continuous collision, and of the barrier with gradient and Hessian.
    narrow: f64,
    barrier: f64,
    collisions: u32,
}

impl Answer {
    /// A row of the table, next to the milliseconds of a step here.
    fn row(&self, name: &str, step: f64) -> String {
        let sum = self.search + self.narrow + self.barrier;
        format!(
            "| {name} | {step:.1} | {} | {:.1} ({}) | {:.1} | {} | {:.1} | {sum:.1} | {:.1} |",
            self.candidates,
            self.search,
            self.phase,
            self.narrow,
            self.collisions,
            self.barrier,
            sum / step,
        )
    }
}

/// What ipctk needs for an iteration with a motion of vertices (m), if there is a Python with it.
fn by_ipctk(ways: &[Vec<[f64; 3]>; 2], faces: &[[u32; 3]], kept: f64) -> Option<Answer> {
    let python = std::env::var("DRYSTONE_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_ipctk = Command::new(&python)
        .args(["-c", "import ipctk, numpy"])
        .output();
    if !has_ipctk.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let folder = std::env::temp_dir().join(format!("drystone-cloth-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let files = ["start", "end", "faces"].map(|name| folder.join(name));
    for (file, places) in files.iter().zip(ways) {
        let numbers = places.iter().flatten();
        let bytes: Vec<u8> = numbers.flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(file, bytes).unwrap();
    }
    let numbers = faces.iter().flatten();
    let bytes: Vec<u8> = numbers.flat_map(|v| v.to_le_bytes()).collect();
    std::fs::write(&files[2], bytes).unwrap();
    // Sheets rest a twentieth of their thickness farther apart.
    let numbers = [kept, kept / 20.0].map(|x| x.to_string());
    let output = Command::new(&python)
        .args(["-c", include_str!("cloth_ipctk.py")])
        .args(&files)
        .args(numbers)
        .arg(threads().to_string())
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    if !output.status.success() {
        eprintln!("ipctk failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let fields: Vec<&str> = text.trim().split('\t').collect();
    let [candidates, search, phase, narrow, barrier, collisions] = fields[..] else {
        return None;
    };
    Some(Answer {
        candidates: candidates.parse().ok()?,
        search: search.parse().ok()?,
        phase: phase.into(),
        narrow: narrow.parse().ok()?,
        barrier: barrier.parse().ok()?,
        collisions: collisions.parse().ok()?,
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let case = |a: &String| {
        let (sheets, squares) = a.split_once('x').unwrap_or(("1", a));
        Some((squares.parse().ok()?, sheets.parse().ok()?))
    };
    let mut cases: Vec<(u32, u32)> = arguments.iter().filter_map(case).collect();
    if cases.is_empty() {
        cases = vec![(32, 1), (64, 1), (128, 1), (256, 1), (128, 5)];
    }
    let seconds = |a: &String| a.strip_prefix("after=")?.parse().ok();
    let after: Option<f64> = arguments.iter().find_map(seconds);
    let number = |a: &String| a.strip_prefix("turns=")?.parse().ok();
    let turns: Option<usize> = arguments.iter().find_map(number);
    let is_watched = |strategy: &Strategy| ["velocity", "parallel"].contains(&strategy.name());
    let named = arguments.iter().filter_map(|name| Strategy::named(name));
    let mut strategies: Vec<Strategy> = named.filter(is_watched).collect();
    if strategies.is_empty() {
        let both = ["velocity", "parallel"].into_iter();
        strategies = both.filter_map(Strategy::named).collect();
    }
    let seconds = |a: &String| a.strip_prefix("course=")?.parse().ok();
    if let Some(seconds) = arguments.iter().find_map(seconds) {
        println!(
            "| strategy | cloth | after, s | contacts | ms a step | longest, ms | µs a contact \
             | rounds | fail-safe | intersections |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|");
        for strategy in strategies {
            for &(n, sheets) in &cases {
                follow(n, sheets, strategy, seconds);
            }
        }
        return;
    }
    println!(
        "| strategy | cloth | contacts | ms a step | ms of processor time | µs a contact | rounds | elastic | contact \
         | rescue | detection | residual, m/s | momentum, N·s | intersections |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut told = Vec::new();
    for strategy in strategies {
        for &(n, sheets) in &cases {
            told.push(report(n, sheets, strategy, (after, turns)));
        }
    }
    let of_ipctk: Vec<&String> = told.iter().filter_map(|told| told.ipctk.as_ref()).collect();
    if of_ipctk.is_empty() {
        eprintln!("no ipctk: its table is left out (set DRYSTONE_PYTHON)");
    } else {
        println!(
            "\n| cloth | a step here, ms | ipctk: candidates | search, ms | additive CCD, ms | \
             collisions | barrier, ms | an iteration, ms | over a step here |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        of_ipctk.iter().for_each(|row| println!("{row}"));
    }
    let json: Vec<&str> = told.iter().map(|told| told.json.as_str()).collect();
    println!("[{}]", json.join(","));
}
