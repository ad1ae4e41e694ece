//! `drystone check`: reads and builds a scene and says what it holds.

use std::collections::BTreeMap;

use drystone::{Space, World};
use drystone_frame::{Form, Stage};
use drystone_scene::AnyWorld;

use super::print;
use crate::cli::{ReadArgs, SettingsArgs};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::tally::PassageTally;
use crate::text::Columns;
use crate::units::{counted, duration, length, plain};

/// Width of the labels at the left.
const LABEL: usize = 8;

/// Checks a scene, with `intersections` over its whole length.
pub(crate) fn check(scene: &str, intersections: bool, reading: ReadArgs) -> Result<(), Fault> {
    let settings = SettingsArgs {
        reading,
        ..SettingsArgs::default()
    };
    let mut plan = Plan::new(scene, &settings, None)?;
    let stage = plan.world.stage();
    let heading = format!(
        "{} is a sound scene ({}D)\n",
        plan.scene.name, stage.dimension
    );
    let mut text = Columns::new(heading, LABEL);
    if !plan.scene.look.is_empty() {
        text.line("look at", &plan.scene.look);
    }
    text.line("bodies", &bodies(&stage));
    text.line("shapes", &shapes(&stage));
    let steps = counted(plan.steps, "step");
    let (seconds, dt) = (plain(plan.scene.seconds), duration(plan.world.dt()));
    text.line("time", &format!("{seconds} s in {steps} of {dt}"));
    let contacts = match &mut plan.world {
        AnyWorld::Flat(world) => contacts(world),
        AnyWorld::Solid(world) => contacts(world),
    };
    text.line("contacts", &contacts);
    text.line("solver", plan.world.solver().name());
    for (label, words) in [("expected", &plan.scene.expect), ("note", &plan.scene.note)] {
        if let Some(words) = words {
            text.line(label, words);
        }
    }
    for warning in &plan.warnings {
        text.line("warning", &warning.message);
    }
    if intersections {
        text.line("passage", &passage(&mut plan)?);
    }
    print(&text.finish())
}

/// Steps a scene and says that nothing ever intersects a deformable, or fails.
fn passage(plan: &mut Plan) -> Result<String, Fault> {
    if !plan.world.has_deformables() {
        return Ok("there are no deformables to intersect".to_owned());
    }
    let mut tally = PassageTally::default();
    let mut progress = Progress::new(&plan.scene.name, plan.steps);
    tally.add(&plan.world.audit().map_err(Fault::Audit)?);
    for _ in 0..plan.steps {
        let step = plan.world.step().map_err(Fault::Step)?;
        progress.show(step.step, plan.world.time(), step.contacts);
        let audit = plan.world.audit().map_err(Fault::Audit)?;
        if let Some(first) = audit.intersections.first() {
            let name = |id: drystone::BodyId| plan.world.body_name(id.index()).to_owned();
            progress.clear();
            return Err(Fault::Intersection {
                bodies: first.bodies.map(name),
                place: first.place,
                step: step.step,
            });
        }
        tally.add(&audit);
    }
    progress.clear();
    Ok(tally.words())
}

fn bodies(stage: &Stage) -> String {
    let still = stage.objects.iter().filter(|object| object.fixed).count();
    let all = stage.objects.len();
    format!(
        "{}: {} that contact moves, {still} fixed or scripted",
        counted(all as u64, "body"),
        all - still,
    )
}

/// How many there are of each form, parts of compounds counted one by one.
fn shapes(stage: &Stage) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for part in stage.objects.iter().flat_map(|object| &object.parts) {
        *counts.entry(noun(&part.form, stage.dimension)).or_default() += 1;
    }
    let words: Vec<String> = counts.iter().map(|(noun, n)| counted(*n, noun)).collect();
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(", ")
    }
}

fn noun(form: &Form, dimension: u8) -> &'static str {
    match form {
        Form::Ball { .. } if dimension == 2 => "disk",
        Form::Ball { .. } => "ball",
        Form::Box { .. } if dimension == 2 => "rectangle",
        Form::Box { .. } => "box",
        Form::Capsule { .. } => "capsule",
        Form::Cylinder { .. } => "cylinder",
        Form::Cone { .. } => "cone",
        Form::HalfSpace { .. } => "half-space",
        Form::Outline { closed: true, .. } => "polygon",
        Form::Outline { closed: false, .. } => "polyline",
        Form::Mesh { .. } => "polyhedron or mesh",
    }
}

fn contacts<S: Space>(world: &mut World<S>) -> String {
    let contacts = world.contacts();
    let touches = contacts.iter().filter(|c| c.is_touch());
    let deepest = touches
        .clone()
        .map(|c| -c.point.separation)
        .fold(0.0, f64::max);
    let near = counted(touches.count() as u64, "contact point");
    // Less than the size of an atom is round-off.
    let overlap = if deepest > 1e-10 {
        format!("overlap of at most {}", length(deepest))
    } else {
        "no overlap".to_owned()
    };
    format!("{near} at the start, {overlap}")
}
