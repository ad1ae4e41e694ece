//! From a scene to a world: every value is checked, and what is wrong is named by its field.

mod body;
mod check;
mod deformable;
mod dimension;
mod expand;
mod height_field;
mod inertia;
mod joint;
mod live;
mod material;
mod overlap;
mod settings;
mod shape;
mod shape_flat;
mod shape_solid;

mod repeat;

use drystone::{D2, D3, Feature, StepError, World};

use crate::any_world::AnyWorld;
use crate::error::{Flaw, Place, SceneError};
use crate::path::FieldPath;
use crate::schema::{Joint, JointKind, Scene};
use crate::source::object_name;
use body::Template;
use dimension::Dimension;
pub use live::{LiveJoint, LiveScene};
use material::MaterialTable;
use overlap::Added;
pub use overlap::Warning;

/// The most bodies a scene can have.
pub const MAX_BODIES: u64 = 1_000_000;

impl Scene {
    /// Makes the engine's world.
    pub fn build(&self) -> Result<AnyWorld, SceneError> {
        self.build_with_warnings().map(|(world, _)| world)
    }

    /// A strategy with this scene's options for it; `None` if there is none of that name.
    #[must_use]
    pub fn strategy_named(&self, name: &str) -> Option<drystone::Strategy> {
        settings::strategy(self, name)
    }

    /// Makes the engine's world, and says what looks odd at the start: bodies that overlap.
    pub fn build_with_warnings(&self) -> Result<(AnyWorld, Vec<Warning>), SceneError> {
        let built = match self.dimension {
            2 => build::<D2>(self, true).map(|made| (AnyWorld::Flat(made.world), made.warnings)),
            3 => build::<D3>(self, true).map(|made| (AnyWorld::Solid(made.world), made.warnings)),
            other => Err(no_dimension(other)),
        };
        built.map_err(|flaw| self.place(flaw))
    }

    /// What looks odd at the start; nothing for a scene that can't be built.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        self.build_with_warnings()
            .map_or_else(|_| Vec::new(), |(_, warnings)| warnings)
    }

    /// The error, with its place in the file if there is one.
    fn place(&self, flaw: Flaw) -> SceneError {
        let place = match &self.source {
            Some(source) if !source.text().is_empty() => source.place(&flaw.path),
            // Made by a program, or of another program's file.
            source => Place {
                object: object_name(&flaw.path, |list, index| self.name_of(list, index)),
                file: source
                    .as_ref()
                    .map(|source| source.file().to_owned())
                    .unwrap_or_default(),
                ..Place::default()
            },
        };
        flaw.placed(place)
    }

    fn name_of(&self, list: &str, index: usize) -> Option<String> {
        match list {
            "bodies" => self.bodies.get(index)?.name.clone(),
            "joints" => self.joints.get(index)?.name.clone(),
            "deformables" => self.deformables.get(index)?.name.clone(),
            "materials" => Some(self.materials.get(index)?.name.clone()),
            _ => None,
        }
    }
}

/// Mass and inertia of a solid shape in space, at a density in kg/m³.
pub(crate) fn mass_properties(
    shape: &crate::schema::Shape,
    density: f64,
) -> Option<drystone::geometry::shape::MassProperties<D3>> {
    use drystone::geometry::shape::Geometry as _;
    let made = <D3 as Dimension>::shape(shape, &FieldPath::default()).ok()?;
    made.mass_properties(density)
}

/// What is drawn for a shape in space.
pub(crate) fn drawn_parts(shape: &crate::schema::Shape) -> Option<Vec<drystone_frame::Part>> {
    use drystone::geometry::shape::Geometry as _;
    let made = <D3 as Dimension>::shape(shape, &FieldPath::default()).ok()?;
    Some(made.parts())
}

/// An orientation in space, if it is one.
pub(crate) fn orientation(rotation: &crate::schema::Rotation) -> Option<drystone::glam::DQuat> {
    <D3 as Dimension>::rotation(rotation, &FieldPath::default()).ok()
}

fn no_dimension(other: u8) -> Flaw {
    Flaw::new(
        FieldPath::default().key("dimension"),
        format!("must be 2 (a plane) or 3 (space), not {other}"),
    )
}

/// What a scene becomes.
struct Built<S: Dimension> {
    world: World<S>,
    /// Its materials by name, for bodies that are still to come.
    materials: MaterialTable,
    warnings: Vec<Warning>,
}

/// Builds a scene. One that is not `checked` may begin in a state that no step can start from: that
/// of a world to which bodies were added after others had moved.
fn build<S: Dimension>(scene: &Scene, checked: bool) -> Result<Built<S>, Flaw> {
    let (mut world, mut materials) = empty::<S>(scene)?;
    let mut added = Vec::new();
    for (entry, body) in scene.bodies.iter().enumerate() {
        let path = FieldPath::default().key("bodies").index(entry);
        let room = MAX_BODIES - added.len() as u64;
        if room == 0 {
            return Err(repeat::too_many(path));
        }
        let template = Template::<S>::new(body, path, scene, &mut materials, &mut world.materials)?;
        for copy in repeat::copies(&template, room)? {
            added.push(Added::new(entry, &copy.shape, &copy.pose));
            template.add(copy, &mut world)?;
        }
    }
    joint::add_all(scene, &mut world)?;
    let mut warnings = Vec::new();
    if checked {
        overlap::check_ratios(&world, &added)?;
        warnings = overlap::check(&world, &added)?;
    }
    warnings.extend(scene.bodies.iter().filter_map(inertia::impossible));
    for (entry, given) in scene.deformables.iter().enumerate() {
        let path = FieldPath::default().key("deformables").index(entry);
        deformable::add(given, &path, &mut materials, &mut world)?;
    }
    if checked {
        let served = world.check_strategy().and_then(|()| world.check_start());
        served.map_err(|error| unserved(scene, &error))?;
        deformable::check_start(&world)?;
    }
    Ok(Built {
        world,
        materials,
        warnings,
    })
}

/// A world with the scene's settings and materials.
fn empty<S: Dimension>(scene: &Scene) -> Result<(World<S>, MaterialTable), Flaw> {
    let mut world = settings::world::<S>(scene)?;
    let materials = MaterialTable::new(scene, &mut world.materials)?;
    Ok((world, materials))
}

/// What the scene's strategy can't do, at what it is about, and which strategy can.
fn unserved(scene: &Scene, error: &StepError) -> Flaw {
    let root = FieldPath::default();
    let StepError::Unserved {
        strategy,
        feature,
        of,
        others,
    } = error
    else {
        return Flaw::new(root.key("strategy"), error.to_string());
    };
    let is_axes = |joint: &Joint| joint.kind == JointKind::Axes;
    let path = match feature {
        Feature::Joints => root.key("joints").index(0),
        Feature::UnheldAngles => {
            let first = scene.joints.iter().position(is_axes);
            root.key("joints").index(first.unwrap_or_default())
        }
        Feature::Deformables => root.key("deformables").index(0),
        _ => root.key("strategy"),
    };
    let names: Vec<String> = others.iter().map(|name| format!("\"{name}\"")).collect();
    let help = if names.is_empty() {
        "no strategy serves all that this scene has: docs/strategies.md shows what each does".into()
    } else {
        let names = names.join(" or ");
        format!("write `strategy = {names}` at the top of the scene")
    };
    let feature = feature.name();
    let problem = format!("the strategy \"{strategy}\" does not serve {feature}{of}");
    Flaw::new(path, problem).help(help)
}
