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
//! One more step at the end is judged: the largest
//! residual of the laws of contact, the error of momentum, and whether anything intersects.
//! Processor time is that of all threads (Linux; elsewhere 0); the variable `THREADS` sets their
//! number (2).

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::Instant;

use drystone::glam::DVec3;
use drystone::{Body, D3, Deformable, Mesh, Phase, Settings, Shape3, Strategy, Substance, World3};

const RADIUS: f64 = 0.5;
/// Of a sheet, m.
const SIDE: f64 = 1.8;
/// Steps until the sheets hang around the sphere, and steps that are measured: of all but the
/// largest, and of those.
const STEPS: [(usize, usize); 2] = [(60, 20), (12, 3)];
/// Faces from which on a case is one of the largest.
const LARGEST: u32 = 100_000;

/// Sheets of n × n squares that fall on a sphere, one over the other.
fn draped(n: u32, sheets: u32, strategy: Strategy) -> World3 {
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
    let thickness = 0.4 * SIDE / f64::from(n);
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
        world.add_deformable(cloth).unwrap();
    }
    world
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
    contacts: f64,
    /// Times that impacts were solved.
    rounds: f64,
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
    let (mut contacts, mut rounds) = (0, 0);
    let (began, processor) = (Instant::now(), processor_time());
    for _ in 0..steps {
        let mut last = Instant::now();
        let report = world
            .step_watched(&mut |phase| {
                *phases.entry(phase).or_default() += last.elapsed().as_secs_f64();
                last = Instant::now();
            })
            .unwrap();
        contacts += report.contacts;
        rounds += report.resolution.rounds;
    }
    let count = steps as f64;
    Cost {
        wall: began.elapsed().as_secs_f64() / count,
        processor: (processor_time() - processor) / count,
        contacts: contacts as f64 / count,
        rounds: f64::from(rounds) / count,
        phases,
    }
}

/// Measures one case, `after` seconds if that is given, in so many turns if these are, prints its row
/// and gives its line of JSON.
fn report(
    n: u32,
    sheets: u32,
    strategy: Strategy,
    (after, turns): (Option<f64>, Option<usize>),
) -> String {
    let mut world = draped(n, sheets, strategy);
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
    format!(
        "{{\"strategy\":\"{}\",\"sheets\":{sheets},\"squares\":{n},\"contacts\":{:.0},\"ms\":{:.2},\
         \"processor_ms\":{:.2}}}",
        strategy.name(),
        cost.contacts,
        1e3 * cost.wall,
        1e3 * cost.processor
    )
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
    println!(
        "| strategy | cloth | contacts | ms a step | ms of processor time | µs a contact | rounds | elastic | contact \
         | rescue | detection | residual, m/s | momentum, N·s | intersections |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut json = Vec::new();
    for strategy in strategies {
        for &(n, sheets) in &cases {
            json.push(report(n, sheets, strategy, (after, turns)));
        }
    }
    println!("[{}]", json.join(","));
}
