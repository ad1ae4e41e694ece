//! The summary of a run for people: what was run, how fast, and the certificate in plain words.

use std::path::PathBuf;

use drystone::Strategy;
use drystone::judge::Grade;
use drystone_scene::Scene;

use crate::fault::Fault;
use crate::simulate::Outcome;
use crate::tally::{CertificateTally, EnergyTally, JointTally, Worst};
use crate::text::Columns;
use crate::units::{count, counted, duration, energy, length, plain};

/// Width of the labels at the left.
const LABEL: usize = 11;

/// The summary of a run.
pub(crate) fn summary(scene: &Scene, outcome: &Outcome, written: &[PathBuf]) -> String {
    let bodies = counted(outcome.stage.objects.len() as u64, "body");
    let dimension = outcome.stage.dimension;
    let mut text = Columns::new(format!("{} ({dimension}D, {bodies})\n", scene.name), LABEL);
    if !scene.look.is_empty() {
        text.line("look at", &scene.look);
    }
    text.line("time", &time(outcome));
    text.line("speed", &speed(outcome));
    text.line("contacts", &contacts(outcome));
    text.line("solver", &solver(outcome));
    for (k, words) in certificate(outcome).iter().enumerate() {
        text.line(if k == 0 { "certificate" } else { "" }, words);
    }
    for (label, words) in [("expected", &scene.expect), ("note", &scene.note)] {
        if let Some(words) = words {
            text.line(label, words);
        }
    }
    if !written.is_empty() {
        let files = written.iter().map(|path| path.display().to_string());
        text.line("wrote", &files.collect::<Vec<_>>().join(", "));
    }
    text.finish()
}

fn time(outcome: &Outcome) -> String {
    let seconds = outcome.seconds;
    let steps = counted(outcome.tally.steps, "step");
    let end = match outcome.fault {
        Some(Fault::Interrupted { .. }) => ", where it was interrupted",
        Some(_) => ", where it failed",
        None => "",
    };
    let in_parts = match outcome.tally.in_parts {
        0 => String::new(),
        some => format!(
            "; {} made in parts, because energy was made",
            counted(some, "step")
        ),
    };
    let dt = duration(outcome.dt);
    format!("{seconds:.2} s in {steps} of {dt}{end}{in_parts}")
}

fn speed(outcome: &Outcome) -> String {
    let times = &outcome.tally.times;
    if outcome.tally.steps == 0 {
        return "no steps".to_owned();
    }
    let from_ms = |ms: f64| duration(1e-3 * ms);
    let times_real = 1e3 * outcome.dt / times.mean();
    let pace = if times_real >= 1.0 {
        format!("{} times faster than real time", plain(times_real))
    } else {
        format!("{} times slower than real time", plain(1.0 / times_real))
    };
    format!(
        "{} per step (95 % within {}, longest {}): {pace}",
        from_ms(times.mean()),
        from_ms(times.percentile(95)),
        from_ms(times.max()),
    )
}

fn contacts(outcome: &Outcome) -> String {
    let tally = &outcome.tally;
    match tally.contacts_max as u64 {
        0 => "none".to_owned(),
        max => format!(
            "{} at most, {} at the end",
            count(max),
            count(tally.contacts_last as u64)
        ),
    }
}

fn solver(outcome: &Outcome) -> String {
    if let Strategy::Realtime(options) = &outcome.strategy {
        return format!(
            "block descent, {} of {} a step",
            counted(u64::from(options.substeps), "substep"),
            counted(u64::from(options.rounds), "round"),
        );
    }
    let (steps, gave_up) = (outcome.tally.steps, outcome.tally.gave_up);
    match &outcome.strategy {
        Strategy::Penalty(options) => {
            return format!("springs of {} N/m on overlap", plain(options.stiffness));
        }
        Strategy::Barrier(options) => {
            let missed = outcome.tally.unconverged;
            return format!(
                "barrier of {} m, Newton's method; {} of {} not converged to {} m/s",
                plain(options.reach),
                count(missed),
                counted(steps, "step"),
                plain(options.tolerance),
            );
        }
        Strategy::Parallel(_) | Strategy::Sequential(_) => {
            return format!(
                "{} impacts by {}; the fail-safe went to work in {} of {}",
                outcome.strategy.name(),
                outcome.solver.name(),
                count(gave_up),
                counted(steps, "step"),
            );
        }
        Strategy::Velocity | Strategy::Realtime(_) => {}
    }
    let solver = outcome.solver;
    let (iterations, tolerance) = solver.iterations_and_tolerance();
    let (steps, missed) = (outcome.tally.steps, outcome.tally.unconverged);
    let tolerance = format!("{} m/s", plain(tolerance));
    let reached = if missed == 0 {
        format!("reached its tolerance of {tolerance} in every step")
    } else {
        format!(
            "did not reach its tolerance of {tolerance} in {} of {} within {}",
            count(missed),
            counted(steps, "step"),
            counted(u64::from(iterations), "iteration"),
        )
    };
    format!("{} {reached}", solver.name())
}

/// The certificate in plain words, a line each.
fn certificate(outcome: &Outcome) -> Vec<String> {
    let tally = &outcome.tally.certificate;
    if tally.steps == 0 {
        return vec!["no step was judged".to_owned()];
    }
    let mut lines = vec![
        verdict(tally),
        penetration(tally),
        residual(outcome, tally),
        energy_made(tally),
    ];
    lines.extend(dissipated(tally));
    lines.push(format!(
        "momentum balanced to {} N·s, angular momentum to {} N·m·s",
        plain(tally.momentum.max),
        plain(tally.angular_momentum.max)
    ));
    if tally.push_apart[0].max > HARDLY_ANY_LENGTH {
        lines.push(format!(
            "a contact pushed across a gap of {} beyond what could close in a step",
            length(tally.push_apart[0].max)
        ));
    }
    lines.extend(outcome.tally.joints.as_ref().map(joints));
    lines.extend(outcome.tally.passage.map(|passage| passage.words()));
    lines
}

/// How good the run was, where it was worst, and what helps.
fn verdict(tally: &CertificateTally) -> String {
    let shares = tally.shares();
    let (grade, worst) = (shares.overall(), shares.worst());
    let mut line = shares.verdict();
    if grade == Grade::Exact {
        return line;
    }
    if let Some(place) = tally.places.get(&worst) {
        let at = if place.at.is_empty() {
            String::new()
        } else {
            format!(", {}", place.at)
        };
        line.push_str(&format!(" (step {}{at})", count(place.step)));
    }
    if grade == Grade::Poor {
        line.push_str(&format!(". What may help: {}", worst.remedy()));
    }
    line
}

/// What friction, impacts and damping took, where it is worth a line.
fn dissipated(tally: &CertificateTally) -> Option<String> {
    let EnergyTally {
        dissipated,
        work,
        scale,
        ..
    } = tally.energy;
    let share = dissipated / scale;
    (share > 1e-3).then(|| {
        let worked = if work.abs() > 1e-3 * scale {
            format!(" of {} that were put in", energy(work))
        } else {
            String::new()
        };
        format!(
            "friction, impacts and damping took {}{worked}",
            energy(dissipated)
        )
    })
}

fn joints(tally: &JointTally) -> String {
    if tally.error_m.max < HARDLY_ANY_LENGTH {
        return "joints held together exactly, but for round-off".to_owned();
    }
    format!(
        "joints never apart by more than {} and {}°, {} at the end",
        length(tally.error_m.max),
        plain(tally.error_rad.max.to_degrees()),
        length(tally.error_m.last)
    )
}

/// Penetration below this is round-off: less than the size of an atom, m.
const HARDLY_ANY_LENGTH: f64 = 1e-10;

fn penetration(tally: &CertificateTally) -> String {
    if tally.penetration.max == 0.0 {
        return "no penetration at all".to_owned();
    }
    if tally.penetration.max < HARDLY_ANY_LENGTH {
        return "no penetration beyond round-off".to_owned();
    }
    format!(
        "penetration never above {}, {} at the end",
        length(tally.penetration.max),
        length(tally.penetration.last)
    )
}

fn residual(outcome: &Outcome, tally: &CertificateTally) -> String {
    let Some(Worst { step, pair }) = &tally.worst else {
        return "no residual: the laws of contact held exactly".to_owned();
    };
    let pair = match pair {
        Some((a, b)) if is_fixed(outcome, a) => format!(", {b} on {a}"),
        Some((a, b)) => format!(", {a} on {b}"),
        None => String::new(),
    };
    format!(
        "worst residual {} m/s at step {}{pair}; {} m/s on average",
        plain(tally.residual.max),
        count(*step),
        plain(tally.mean_residual())
    )
}

/// Energy below this is round-off of a scene that a person can see, J.
const HARDLY_ANY_ENERGY: f64 = 1e-9;

fn energy_made(tally: &CertificateTally) -> String {
    let (total, max) = (tally.energy_made.total, tally.energy_made.max);
    let made = if total == 0.0 {
        "no energy was made".to_owned()
    } else if total < HARDLY_ANY_ENERGY {
        "no energy was made beyond round-off".to_owned()
    } else {
        format!(
            "{} of energy were made by nothing, at most {} in a step",
            energy(total),
            energy(max)
        )
    };
    match tally.energy.lost {
        lost if lost > HARDLY_ANY_ENERGY => {
            format!("{made}; {} were lost to nothing", energy(lost))
        }
        _ => made,
    }
}

fn is_fixed(outcome: &Outcome, name: &str) -> bool {
    let object = outcome
        .stage
        .objects
        .iter()
        .find(|object| object.name == name);
    object.is_some_and(|object| object.fixed)
}
