//! What several test files share: worlds with a floor, materials, stepping for a time, contact
//! problems and how to compare their solutions.
#![allow(clippy::unwrap_used)]

use drystone::contact::problem::local_form::{AnyProblem, parse};
use drystone::contact::problem::{ContactProblem, Impulses};
use drystone::glam::{DRot2, DVec2, DVec3};
use drystone::judge::residual::judge;
use drystone::solver::{Limits, SolveReport};
use drystone::{
    Body, BodyId, D2, D3, Linear, Material, MaterialId, Pgs, Settings, Shape2, Shape3, SolverKind,
    Space, World, World2, World3,
};

/// Standard gravity of the truth scenes, m/s².
pub(crate) const G: f64 = 9.81;

/// A world with sweeps enough for its few contacts to be exact.
pub(crate) fn exact<S: Space>(dt: f64) -> World<S> {
    let settings = Settings {
        dt,
        solver: SolverKind::Pgs(Pgs {
            iterations: 2000,
            tolerance: 1e-12,
        }),
        ..Settings::reference()
    };
    World::new(settings).unwrap()
}

/// A surface with these coefficients.
pub(crate) fn surface<S: Space>(
    world: &mut World<S>,
    friction: f64,
    restitution: f64,
) -> MaterialId {
    world
        .materials
        .add(Material {
            friction,
            restitution,
            ..Material::default()
        })
        .unwrap()
}

pub(crate) fn ground2(world: &mut World2, material: MaterialId) -> BodyId {
    let shape = Shape2::half_space(DVec2::Y).unwrap();
    world
        .add(Body::fixed(shape).named("ground").of(material))
        .unwrap()
}

pub(crate) fn ground3(world: &mut World3, material: MaterialId) -> BodyId {
    let shape = Shape3::half_space(DVec3::Y).unwrap();
    world
        .add(Body::fixed(shape).named("ground").of(material))
        .unwrap()
}

/// Steps until `seconds` have passed.
pub(crate) fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    while world.time() < seconds - 0.5 * world.settings().dt {
        world.step().unwrap();
    }
}

/// The public contact problems, by name; empty (with a message) where they are not there.
pub(crate) fn shared_problems() -> Vec<(String, ContactProblem<D3>)> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/contact-problems"
    );
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("skipped: there are no contact problems in {folder}");
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match parse(&std::fs::read_to_string(&path).unwrap()).unwrap() {
            AnyProblem::Solid(problem) => (name, problem),
            AnyProblem::Flat(_) => unreachable!("{name} is flat"),
        }
    };
    paths.into_iter().map(read).collect()
}

/// Until the relative residual is `relative`, with every look written down.
pub(crate) fn to_relative(relative: f64, iterations: u32) -> Limits {
    Limits {
        iterations,
        tolerance: 0.0,
        relative,
        budget: None,
        trace: true,
    }
}

/// Until every contact is as good as `tolerance` in m/s.
pub(crate) fn to_speed(tolerance: f64, iterations: u32) -> Limits {
    Limits {
        iterations,
        tolerance,
        ..Limits::default()
    }
}

/// The report must say what the judge says of the impulses that came back.
pub(crate) fn assert_honest<S: Space>(
    name: &str,
    problem: &ContactProblem<S>,
    impulses: &Impulses<S>,
    report: &SolveReport,
) {
    let judged = judge(problem, impulses);
    assert_eq!(report.residual, judged.largest.residual, "{name}");
    assert_eq!(report.relative, judged.relative, "{name}");
    assert!(impulses.local.iter().all(|r| r.is_finite()), "{name}");
}

/// Iterations at which a relative residual was first seen.
pub(crate) fn reached(report: &SolveReport, relative: f64) -> Option<u32> {
    let point = report.history.iter().find(|p| p.relative <= relative);
    point.map(|p| p.iteration)
}

/// Velocities at contacts, the part of an answer that is unique where impulses are not.
pub(crate) fn contact_velocities<S: Space>(
    problem: &ContactProblem<S>,
    impulses: &Impulses<S>,
) -> Vec<S::Vector> {
    let velocities = problem.velocities(impulses);
    let rows = 0..problem.rows.len();
    rows.map(|row| problem.velocity(row, &velocities)).collect()
}

/// Largest difference between two sets of velocities, and the largest velocity that there was to
/// remove (both m/s).
pub(crate) fn difference<S: Space>(
    problem: &ContactProblem<S>,
    x: &[S::Vector],
    y: &[S::Vector],
) -> (f64, f64) {
    let free = problem.free_velocities();
    let scale = (0..x.len()).fold(1e-300, |most: f64, row| {
        most.max(problem.offset_velocity(row, &free).length())
    });
    let apart = x.iter().zip(y).map(|(&x, &y)| (x - y).length());
    (apart.fold(0.0, f64::max), scale)
}

/// Boxes of 1 m with these masses in kg, one on another on the ground, at rest before gravity.
pub(crate) fn stack3(masses: &[f64]) -> ContactProblem<D3> {
    let mut world = World3::reference();
    let m = surface(&mut world, 0.5, 0.0);
    ground3(&mut world, m);
    for (k, &mass) in masses.iter().enumerate() {
        let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        let at = DVec3::Y * (0.5 + k as f64);
        world
            .add(Body::rigid(shape).with_mass(mass).of(m).at(at))
            .unwrap();
    }
    world.problem()
}

/// Boxes and balls over a floor, thrown together by six numbers each: the problem of their next step.
pub(crate) fn pile2(seed: &[f64]) -> ContactProblem<D2> {
    let mut world = World2::reference();
    world
        .add(Body::fixed(Shape2::half_space(DVec2::Y).unwrap()))
        .unwrap();
    for (k, s) in seed.chunks_exact(6).enumerate() {
        let body = if k % 2 == 0 {
            Body::rigid(Shape2::cuboid(DVec2::new(0.3, 0.2)).unwrap())
        } else {
            Body::rigid(Shape2::ball(0.25).unwrap())
        };
        let body = body
            .at(DVec2::new(s[0], 0.2 + 0.3 * k as f64))
            .turned(DRot2::new(s[2]))
            .moving(DVec2::new(s[4], s[5]))
            .spinning(s[1]);
        world.add(body).unwrap();
    }
    world.problem()
}
