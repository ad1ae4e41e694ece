//! A world that runs in the viewer.

use drystone::certify::law::{Judgement, Law, judge_each};
use drystone::{
    Body, Components, D2, D3, Linear, Shape2, Shape3, ShapeError, SolverKind, Space, StepReport,
    World,
};
use drystone_frame::{Frame, Stage};
use drystone_scene::Scene;
use drystone_view::live::{
    About, Change, ContactDetail, Grip, Lesson, Matrix, Numbers, Settings, Simulation, Throw,
};

use super::{camera, lessons::Measure, matrix};
use crate::simulate::STRATEGY;

/// A hand pulls like a critically damped spring of this angular frequency, rad/s, on the whole
/// mass of the object.
const HAND_RATE: f64 = 14.0;

/// A hand pulls with at most this acceleration times the object's mass, m/s².
const HAND_STRENGTH: f64 = 150.0;

/// Spaces in which a ball can be thrown.
pub(super) trait Throwable: Space {
    /// A ball.
    fn ball(radius: f64) -> Result<Self::Shape, ShapeError>;
}

impl Throwable for D2 {
    fn ball(radius: f64) -> Result<Shape2, ShapeError> {
        Shape2::ball(radius)
    }
}

impl Throwable for D3 {
    fn ball(radius: f64) -> Result<Shape3, ShapeError> {
        Shape3::ball(radius)
    }
}

/// A scene and its world.
pub(super) struct Running<S: Space> {
    scene: Scene,
    world: World<S>,
    measure: Option<Measure>,
    /// For each contact that the last step solved.
    details: Vec<ContactDetail>,
}

/// What the judge says of the contacts of the last step.
struct Verdict {
    details: Vec<ContactDetail>,
    worst: Option<(u32, Judgement)>,
}

impl<S: Space> Running<S> {
    pub(super) fn new(scene: Scene, world: World<S>) -> Self {
        Self {
            measure: Measure::of(&scene.name),
            scene,
            world,
            details: Vec::new(),
        }
    }

    fn verdict(&self) -> Verdict {
        let contacts = self.world.solved_contacts();
        let detail = |contact: &drystone::detect::Contact<S>| ContactDetail {
            friction: contact.surface.friction,
            residual_m_s: 0.0,
        };
        let mut details: Vec<ContactDetail> = contacts.iter().map(detail).collect();
        let mut worst: Option<(u32, Judgement)> = None;
        if let Some((assembled, impulses)) = self.world.last_problem() {
            let judged = judge_each(&assembled.problem, impulses);
            for (judgement, &contact) in judged.iter().zip(&assembled.contact_of_row) {
                let Some(judgement) = judgement else { continue };
                if let Some(detail) = details.get_mut(contact as usize) {
                    detail.residual_m_s = judgement.error.residual;
                }
                let residual = judgement.error.residual;
                if worst.is_none_or(|(_, w)| residual > w.error.residual) {
                    worst = Some((contact, *judgement));
                }
            }
        }
        Verdict { details, worst }
    }

    fn numbers_of(&self, report: &StepReport, verdict: &Verdict) -> Numbers {
        let (_, tolerance) = self.world.settings().solver.iterations_and_tolerance();
        let energy = self.world.energy();
        let certificate = report.certificate.as_ref();
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let residual = number(certificate.map(|c| c.residual_m_s));
        let failing = verdict.worst.filter(|_| residual > tolerance);
        let law = failing.and_then(|(_, j)| Law::ALL.iter().position(|law| *law == j.law));
        Numbers {
            step: self.world.steps(),
            time_s: self.world.time(),
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
            worst_contact: verdict.worst.map(|(contact, _)| contact),
            milliseconds: 0.0,
        }
    }

    /// Whether a change can be used, by trying it on settings that are thrown away.
    fn try_settings(&self, change: &Change) -> Result<drystone::Settings<S>, String> {
        let mut settings = *self.world.settings();
        if let Some(gravity) = change.gravity {
            settings.gravity = vector::<S>(gravity);
        }
        if let Some(dt) = change.dt {
            settings.dt = dt;
        }
        if let Some(name) = &change.solver {
            let known = || format!("there is no solver `{name}`");
            let solver = SolverKind::named(name).ok_or_else(known)?;
            if solver.name() != settings.solver.name() {
                settings.solver = solver;
            }
        }
        if let Some(iterations) = change.iterations {
            settings.solver.set_iterations(iterations);
        }
        if let Some(tolerance) = change.tolerance {
            settings.solver.set_tolerance(tolerance);
        }
        if let Some(strategy) = change.strategy.as_ref().filter(|name| *name != STRATEGY) {
            return Err(format!("there is no strategy `{strategy}`"));
        }
        settings.check().map_err(|error| error.to_string())?;
        Ok(settings)
    }
}

impl<S: Throwable> Simulation for Running<S> {
    fn stage(&self) -> Stage {
        self.world.stage()
    }

    fn about(&self) -> About {
        let bodies = self.world.bodies();
        About {
            name: self.scene.name.clone(),
            look: self.scene.look.clone(),
            expect: self.scene.expect.clone(),
            note: self.scene.note.clone(),
            seconds: self.scene.seconds,
            masses: (0..bodies.len()).map(|k| bodies.mass(k)).collect(),
            camera: camera(&self.scene),
        }
    }

    fn frame(&self) -> Frame {
        self.world.frame()
    }

    fn details(&self) -> Vec<ContactDetail> {
        self.details.clone()
    }

    fn step(&mut self) -> Result<Numbers, String> {
        let report = self.world.step().map_err(|error| error.to_string())?;
        let verdict = self.verdict();
        let numbers = self.numbers_of(&report, &verdict);
        self.details = verdict.details;
        if let Some(measure) = &mut self.measure {
            measure.watch(&self.world.frame());
        }
        Ok(numbers)
    }

    fn numbers(&self) -> Numbers {
        let nothing = Verdict {
            details: Vec::new(),
            worst: None,
        };
        self.numbers_of(&StepReport::default(), &nothing)
    }

    fn settings(&self) -> Settings {
        let settings = self.world.settings();
        let (iterations, tolerance) = settings.solver.iterations_and_tolerance();
        let surface = self.world.materials.get(drystone::MaterialId::default());
        Settings {
            gravity: settings.gravity.to_array3(),
            friction: surface.friction,
            restitution: surface.restitution,
            dt: settings.dt,
            substeps: 1,
            solver: settings.solver.name().to_owned(),
            iterations,
            tolerance,
            strategy: STRATEGY.to_owned(),
        }
    }

    fn change(&mut self, change: &Change) -> Result<(), String> {
        let settings = self.try_settings(change)?;
        let mut materials = self.world.materials.clone();
        if let Some(friction) = change.friction {
            let set = materials.set_all_friction(friction);
            set.map_err(|error| error.to_string())?;
        }
        if let Some(restitution) = change.restitution {
            let set = materials.set_all_restitution(restitution);
            set.map_err(|error| error.to_string())?;
        }
        self.world.materials = materials;
        *self.world.settings_mut() = settings;
        Ok(())
    }

    fn pull(&mut self, grip: &Grip) {
        let k = grip.object as usize;
        let bodies = self.world.bodies();
        if k >= bodies.len() || !bodies.is_dynamic(k) {
            return;
        }
        let Some(id) = self.world.body(bodies.name(k)) else {
            return;
        };
        let point = bodies.origin(k).point(vector::<S>(grip.point));
        let motion = bodies.motion[k];
        let arm = point - bodies.position[k];
        let velocity = motion.linear + S::spin_cross(motion.spin, arm);
        let mass = bodies.mass(k);
        let stretch = vector::<S>(grip.target) - point;
        let pull = (stretch * HAND_RATE - velocity * 2.0) * (HAND_RATE * mass);
        let most = HAND_STRENGTH * mass;
        let force = pull * (most / pull.length().max(most));
        // The spin decays too, or a held body would turn about the hand for ever.
        let brake = bodies.angular_momentum(k) * (-0.5 * HAND_RATE);
        // Both are finite: the state is, and so is the grip.
        let _ = self.world.add_force(id, force, point);
        let _ = self.world.add_torque(id, brake);
    }

    fn throw(&mut self, throw: &Throw) -> Result<(), String> {
        let shape = S::ball(throw.radius).map_err(|error| error.to_string())?;
        let name = (1..)
            .map(|k| format!("thrown {k}"))
            .find(|name| self.world.body(name).is_none());
        let body = Body::rigid(shape)
            .named(name.unwrap_or_default())
            .at(vector::<S>(throw.position))
            .moving(vector::<S>(throw.velocity));
        let added = self.world.add(body);
        added.map(|_| ()).map_err(|error| error.to_string())
    }

    fn matrix(&mut self) -> Matrix {
        matrix::of(&self.world)
    }

    fn lesson(&mut self) -> Option<Lesson> {
        let frame = self.world.frame();
        self.measure.as_mut().map(|measure| measure.lesson(&frame))
    }
}

/// Three numbers as a vector of the space; the third is left out in the plane.
fn vector<S: Space>(values: [f64; 3]) -> S::Vector {
    let axes = values.into_iter().enumerate();
    axes.fold(S::Vector::default(), |v, (axis, x)| {
        v.with_component(axis, x)
    })
}
