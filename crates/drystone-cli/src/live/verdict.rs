//! What the judge says of a step, in the words of the viewer.

use drystone::judge::law::{Judgement, Law};
use drystone::{Components, Space, StepReport, Strategy, World};
use drystone_scene::Scene;
use drystone_view::live::{About, ContactDetail, Numbers, Settings};

use super::camera;

/// What the judge says of the contacts of the last step.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// For each touch that the step solved, as in frames.
    pub(crate) details: Vec<ContactDetail>,
    worst: Option<(u32, Judgement)>,
}

impl Verdict {
    /// Judges the last step.
    pub(crate) fn of<S: Space>(world: &World<S>) -> Self {
        let detail = |contact: &drystone::contact::detection::Contact<S>| ContactDetail {
            friction: contact.surface.friction,
            residual_m_s: 0.0,
        };
        let contacts = world.solved_contacts();
        let touches = contacts.iter().take_while(|c| c.is_touch());
        let mut verdict = Self {
            details: touches.map(detail).collect(),
            worst: None,
        };
        if let Some(last) = world.last_problem() {
            let judged = last.judgements();
            for (judgement, &contact) in judged.iter().zip(&last.assembled.contact_of_row) {
                if let Some(judgement) = judgement {
                    verdict.note(contact, *judgement);
                }
            }
        }
        verdict
    }

    fn note(&mut self, contact: u32, judgement: Judgement) {
        let residual = judgement.error.residual;
        if let Some(detail) = self.details.get_mut(contact as usize) {
            detail.residual_m_s = residual;
        }
        if self.worst.is_none_or(|(_, w)| residual > w.error.residual) {
            self.worst = Some((contact, judgement));
        }
    }

    /// The numbers of a step.
    pub(crate) fn numbers<S: Space>(&self, world: &World<S>, report: &StepReport) -> Numbers {
        let (_, tolerance) = world.settings().solver.iterations_and_tolerance();
        let energy = world.energy();
        let certificate = report.certificate.as_ref();
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let residual = number(certificate.map(|c| c.residual_m_s));
        let failing = self.worst.filter(|_| residual > tolerance);
        let law = failing.and_then(|(_, j)| Law::ALL.iter().position(|law| *law == j.law));
        // What holds a joint or an attached node is not shown as a contact.
        let is_shown = |contact: &u32| (*contact as usize) < self.details.len();
        let worst = self.worst.map(|(contact, _)| contact).filter(is_shown);
        Numbers {
            step: world.steps(),
            time_s: world.time(),
            residual_m_s: residual,
            tolerance_m_s: tolerance,
            penetration_m: number(certificate.map(|c| c.penetration_m)),
            energy_made_j: number(certificate.map(|c| c.energy_made_j)),
            kinetic_j: energy.kinetic,
            potential_j: energy.potential,
            iterations: report.solve.iterations,
            contacts: report.contacts as u32,
            law: law.map_or(0, |k| k as u32 + 1),
            law_error_m_s: failing.map_or(0.0, |(_, j)| j.law_error),
            worst_contact: worst,
            milliseconds: 0.0,
            joint_error_m: number(joint_error(world)),
        }
    }
}

/// The largest gap in a joint, m, where there are joints.
pub(crate) fn joint_error<S: Space>(world: &World<S>) -> Option<f64> {
    world.joints().next()?;
    Some(world.joint_error().0)
}

/// Names of the laws, as [`Numbers::law`] counts them.
pub(crate) fn laws() -> Vec<String> {
    Law::ALL.map(|law| law.failure().to_owned()).to_vec()
}

/// What the viewer says about a scene and its world.
pub(crate) fn about<S: Space>(scene: &Scene, world: &World<S>) -> About {
    let bodies = world.bodies();
    About {
        name: scene.name.clone(),
        look: scene.look.clone(),
        expect: scene.expect.clone(),
        note: scene.note.clone(),
        seconds: scene.seconds,
        recorded: None,
        damage: None,
        masses: (0..bodies.len()).map(|k| bodies.mass(k)).collect(),
        camera: camera(scene),
    }
}

/// How a world is stepped.
pub(crate) fn settings<S: Space>(world: &World<S>) -> Settings {
    let settings = world.settings();
    let (iterations, tolerance) = settings.solver.iterations_and_tolerance();
    let substeps = match settings.strategy {
        Strategy::Realtime(options) => Some(options.substeps),
        _ => None,
    };
    let surface = world.materials.get(drystone::MaterialId::default());
    Settings {
        gravity: settings.gravity.to_array3(),
        friction: surface.friction,
        restitution: surface.restitution,
        dt: settings.dt,
        substeps,
        solver: settings.solver.name().to_owned(),
        uses_solver: settings.strategy.uses_solver(),
        iterations,
        tolerance,
        strategy: settings.strategy.name().to_owned(),
        threads: settings.threads,
        margin: settings.margin,
    }
}
