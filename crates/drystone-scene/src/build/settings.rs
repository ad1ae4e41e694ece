//! How a scene's world is stepped.

use drystone::SettingsError;
use drystone::{ImpactLaw, Settings, SolverKind, Strategy, World};

use super::check::{finite, positive, vector};
use super::dimension::Dimension;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::read::nearest;
use crate::schema::{Camera, Impact, Scene};

/// An empty world with the scene's settings.
pub(super) fn world<S: Dimension>(scene: &Scene) -> Result<World<S>, Flaw> {
    World::new(settings::<S>(scene)?).map_err(|error| misset(&error))
}

/// Gives a world the scene's settings; what scenes don't have stays.
pub(super) fn change<S: Dimension>(scene: &Scene, world: &mut World<S>) -> Result<(), Flaw> {
    let own = *world.settings();
    let settings = Settings {
        threads: own.threads,
        certify_every: own.certify_every,
        events: own.events,
        ..settings::<S>(scene)?
    };
    settings.check().map_err(|error| misset(&error))?;
    *world.settings_mut() = settings;
    Ok(())
}

fn settings<S: Dimension>(scene: &Scene) -> Result<Settings<S>, Flaw> {
    let root = FieldPath::default();
    positive(scene.seconds, "s", root.key("seconds"))?;
    if let Some(camera) = &scene.camera {
        check_camera(camera, &root.key("camera"))?;
    }
    one_of(
        scene.strategy_name(),
        &Strategy::NAMES,
        "strategy",
        root.key("strategy"),
    )?;
    let strategy = scene
        .strategy_named(scene.strategy_name())
        .unwrap_or_default();
    let mut settings = Settings::<S> {
        dt: strategy.usual_dt(),
        solver: solver(scene)?,
        strategy,
        ..Settings::of(strategy)
    };
    set(&mut settings.dt, scene.dt);
    if let Some(gravity) = &scene.gravity {
        settings.gravity = vector::<S>(gravity, &root.key("gravity"))?;
    }
    let rules = &scene.contact;
    set(
        &mut settings.contact.restitution_threshold,
        rules.restitution_threshold,
    );
    set(&mut settings.contact.repair_rate, rules.repair_rate);
    set(&mut settings.contact.slop, rules.slop);
    set(&mut settings.contact.repair_speed, rules.repair_speed);
    set(&mut settings.margin, rules.margin);
    if let Some(law) = rules.impact {
        settings.contact.impact = match law {
            Impact::Newton => ImpactLaw::Newton,
            Impact::Reflection => ImpactLaw::Reflection,
        };
    }
    Ok(settings)
}

fn set(field: &mut f64, value: Option<f64>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// A strategy of that name with the scene's options.
pub(crate) fn strategy(scene: &Scene, name: &str) -> Option<Strategy> {
    let mut strategy = Strategy::named(name)?;
    match &mut strategy {
        Strategy::Realtime(options) => {
            options.substeps = scene.realtime.substeps.unwrap_or(options.substeps);
            options.rounds = scene.realtime.rounds.unwrap_or(options.rounds);
            set(&mut options.sleep_after, scene.realtime.sleep_after);
            set(&mut options.exact_speed, scene.realtime.exact_speed);
            options.exact_points = scene.realtime.exact_points.unwrap_or(options.exact_points);
            set(&mut options.repair_rate, scene.contact.repair_rate);
        }
        Strategy::Barrier(options) => {
            set(&mut options.reach, scene.barrier.reach);
            set(&mut options.slip_speed, scene.barrier.slip_speed);
            set(&mut options.tolerance, scene.barrier.tolerance);
            options.iterations = scene.barrier.iterations.unwrap_or(options.iterations);
        }
        Strategy::Parallel(options) | Strategy::Sequential(options) => {
            set(&mut options.keep, scene.impacts.keep);
            options.most = scene.impacts.most.unwrap_or(options.most);
        }
        Strategy::Penalty(options) => {
            set(&mut options.stiffness, scene.penalty.stiffness);
            set(&mut options.damping, scene.penalty.damping);
            set(&mut options.slip_speed, scene.penalty.slip_speed);
        }
        Strategy::Velocity => {}
    }
    Some(strategy)
}

fn solver(scene: &Scene) -> Result<SolverKind, Flaw> {
    let path = FieldPath::default().key("solver");
    let mut solver = SolverKind::default();
    if let Some(name) = &scene.solver.name {
        one_of(name, &SolverKind::NAMES, "solver", path.key("name"))?;
        solver = SolverKind::named(name).unwrap_or_default();
    }
    if let Some(iterations) = scene.solver.iterations {
        solver.set_iterations(iterations);
    }
    if let Some(tolerance) = scene.solver.tolerance {
        solver.set_tolerance(tolerance);
    }
    Ok(solver)
}

fn one_of(name: &str, known: &[&'static str], what: &str, path: FieldPath) -> Result<(), Flaw> {
    if known.contains(&name) {
        return Ok(());
    }
    let list = known
        .iter()
        .map(|name| format!("\"{name}\""))
        .collect::<Vec<_>>();
    let exist = format!("there is {}", list.join(", "));
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"? What exists: {}", list.join(", ")),
        None => exist,
    };
    Err(Flaw::new(path, format!("there is no {what} named \"{name}\"")).help(help))
}

/// The engine's error, at the field it is about.
fn misset(error: &SettingsError) -> Flaw {
    let root = FieldPath::default();
    let field = error.field.split(' ').next().unwrap_or_default();
    let path = match field {
        "dt" | "gravity" => root.key(field),
        "tolerance" | "iterations" => root.key("solver").key(field),
        "substeps" | "rounds" | "sleep_after" | "exact_speed" => root.key("realtime").key(field),
        // Options of a strategy: its table, a dot, the key.
        _ => match field.split_once('.') {
            Some((table, key)) => root.key(table).key(key),
            None => root.key("contact").key(field),
        },
    };
    Flaw::new(path, error.to_string())
}

fn check_camera(camera: &Camera, path: &FieldPath) -> Result<(), Flaw> {
    for (key, point) in [("eye", camera.eye), ("target", camera.target)] {
        for (axis, value) in point.into_iter().flatten().enumerate() {
            finite(value, path.key(key).index(axis))?;
        }
    }
    for (key, angle) in [("azimuth", camera.azimuth), ("elevation", camera.elevation)] {
        if let Some(angle) = angle {
            finite(angle, path.key(key))?;
        }
    }
    match camera.field_of_view {
        Some(angle) if !(angle > 0.0 && angle < 180.0) => {
            let problem = format!("must be more than 0 and less than 180 degrees, not {angle}");
            Err(Flaw::new(path.key("field_of_view"), problem))
        }
        _ => Ok(()),
    }
}
