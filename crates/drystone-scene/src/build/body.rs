//! Bodies: checked once an entry, then added once a copy.

use drystone::geometry::shape::MassProperties;
use drystone::model::script::ScriptError;
use drystone::{
    Body as EngineBody, BodyError, BodyId, Groups, Keyframe, Kind as EngineKind, Mass, MaterialId,
    Materials, Pose, Push, Script as EngineScript, World,
};

use super::check::{self, finite, not_negative, positive, vector, vector_or_zero};
use super::dimension::{Dimension, radians};
use super::material::MaterialTable;
use super::repeat::Copy;
use crate::error::Flaw;
use crate::path::FieldPath;
use crate::schema::{Axis, Body, Kind, Scene, Script, Shape, Spin};

/// An entry of the scene with everything checked that its copies share.
pub(super) struct Template<'a, S: Dimension> {
    pub(super) body: &'a Body,
    pub(super) path: FieldPath,
    pub(super) pose: Pose<S>,
    kind: EngineKind<S>,
    velocity: S::Vector,
    spin: S::Spin,
    mass: Mass<S>,
    pub(super) material: MaterialId,
    linear_damping: f64,
    angular_damping: f64,
    locked_axes: [bool; 3],
    locked_spins: [bool; 3],
    pushes: Vec<Push<S>>,
    groups: Groups,
    surface_velocity: S::Vector,
    one_way: Option<S::Vector>,
}

impl<'a, S: Dimension> Template<'a, S> {
    /// Checks the entry at `path`.
    pub(super) fn new(
        body: &'a Body,
        path: FieldPath,
        scene: &Scene,
        table: &mut MaterialTable,
        materials: &mut Materials,
    ) -> Result<Self, Flaw> {
        if let Some(name) = &body.name {
            check::name(name, &path.key("name"))?;
        }
        refuse_idle_fields(body, &path)?;
        let damping = |value: Option<f64>, default: Option<f64>, key: &'static str| match value {
            Some(value) => not_negative(value, "1/s", path.key(key)),
            None => not_negative(
                default.unwrap_or(0.0),
                "1/s",
                FieldPath::default().key("defaults").key(key),
            ),
        };
        let defaults = &scene.defaults;
        Ok(Self {
            pose: pose::<S>(body, &path)?,
            kind: kind::<S>(body, &path)?,
            velocity: vector_or_zero::<S>(body.velocity.as_ref(), &path.key("velocity"))?,
            spin: spin_or_zero::<S>(body.spin.as_ref(), &path.key("spin"))?,
            mass: mass::<S>(body, &path)?,
            material: table.of_body(body, &path, materials)?,
            linear_damping: damping(
                body.linear_damping,
                defaults.linear_damping,
                "linear_damping",
            )?,
            angular_damping: damping(
                body.angular_damping,
                defaults.angular_damping,
                "angular_damping",
            )?,
            locked_axes: locked_axes::<S>(&body.locked_axes, &path.key("locked_axes"))?,
            locked_spins: locked_spins::<S>(&body.locked_spins, &path.key("locked_spins"))?,
            pushes: pushes::<S>(body, &path)?,
            groups: groups(body, &path)?,
            surface_velocity: vector_or_zero::<S>(
                body.surface_velocity.as_ref(),
                &path.key("surface_velocity"),
            )?,
            one_way: match &body.one_way {
                Some(direction) => Some(vector::<S>(direction, &path.key("one_way"))?),
                None => None,
            },
            body,
            path,
        })
    }

    /// The shapes that copies take, each with its path. Walls make their own.
    pub(super) fn shapes(&self) -> Result<Vec<(&'a Shape, FieldPath)>, Flaw> {
        let body = self.body;
        match (&body.shape, body.shapes.as_slice()) {
            (Some(shape), []) => Ok(vec![(shape, self.path.key("shape"))]),
            (None, [_, ..]) if body.repeat.is_some() => {
                let path = |index| self.path.key("shapes").index(index);
                let shapes = body.shapes.iter().enumerate();
                Ok(shapes.map(|(index, shape)| (shape, path(index))).collect())
            }
            (None, []) => {
                let flaw = Flaw::new(self.path.clone(), "a body needs a shape");
                Err(flaw.help("add, for example, `shape.ball.radius = 0.5` (m)"))
            }
            (None, _) => {
                let problem = "only a repeated body can have several shapes";
                Err(Flaw::new(self.path.key("shapes"), problem).help("use `shape`"))
            }
            (Some(_), _) => {
                let problem = "a body has either `shape` or `shapes`, not both";
                Err(Flaw::new(self.path.key("shapes"), problem))
            }
        }
    }

    /// Adds a copy to the world.
    pub(super) fn add(&self, copy: Copy<S>, world: &mut World<S>) -> Result<BodyId, Flaw> {
        let name = match (&self.body.name, copy.number) {
            (Some(name), Some(number)) => Some(format!("{name} {number}")),
            (name, _) => name.clone(),
        };
        let body = EngineBody {
            name,
            kind: self.kind.clone(),
            shape: copy.shape,
            pose: copy.pose,
            velocity: self.velocity,
            spin: self.spin,
            mass: self.mass,
            material: self.material,
            linear_damping: self.linear_damping,
            angular_damping: self.angular_damping,
            locked_axes: self.locked_axes,
            locked_spins: self.locked_spins,
            pushes: self.pushes.clone(),
            groups: self.groups,
            is_sensor: self.body.sensor,
            surface_velocity: self.surface_velocity,
            one_way: self.one_way,
        };
        world
            .add(body)
            .map_err(|error| unfit(&error, self.body, &self.path))
    }
}

/// Fields that have no effect on this kind of body are mistakes.
fn refuse_idle_fields(body: &Body, path: &FieldPath) -> Result<(), Flaw> {
    if body.kind == Kind::Kinematic && body.script.is_none() {
        let flaw = Flaw::new(path.clone(), "a kinematic body needs a `script`");
        return Err(flaw.help("add, for example, `script.steady.velocity`, or make it fixed"));
    }
    if body.kind != Kind::Kinematic && body.script.is_some() {
        let flaw = Flaw::new(path.key("script"), "only a kinematic body follows a script");
        return Err(flaw.help("add `kind = \"kinematic\"`"));
    }
    let kind = match body.kind {
        Kind::Fixed => "fixed",
        Kind::Kinematic => "kinematic",
        Kind::Particle if body.spin.is_some() => {
            let flaw = Flaw::new(path.key("spin"), "a particle does not turn");
            return Err(flaw.help("remove `spin`, or make it a rigid body"));
        }
        Kind::Rigid | Kind::Particle => return Ok(()),
    };
    let idle = [
        ("velocity", body.velocity.is_some()),
        ("spin", body.spin.is_some()),
        ("mass", body.mass.is_some()),
        ("mass_properties", body.mass_properties.is_some()),
        ("pushes", !body.pushes.is_empty()),
        ("locked_axes", !body.locked_axes.is_empty()),
        ("locked_spins", !body.locked_spins.is_empty()),
    ];
    match idle.into_iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) => {
            let problem = format!("has no effect on a {kind} body");
            Err(Flaw::new(path.key(key), problem).help("remove it, or change the `kind`"))
        }
        None => Ok(()),
    }
}

fn pose<S: Dimension>(body: &Body, path: &FieldPath) -> Result<Pose<S>, Flaw> {
    Ok(Pose {
        position: vector_or_zero::<S>(body.position.as_ref(), &path.key("position"))?,
        rotation: match &body.rotation {
            Some(rotation) => S::rotation(rotation, &path.key("rotation"))?,
            None => S::Rotation::default(),
        },
    })
}

fn spin_or_zero<S: Dimension>(spin: Option<&Spin>, path: &FieldPath) -> Result<S::Spin, Flaw> {
    spin.map_or(Ok(S::Spin::default()), |spin| S::spin(spin, path))
}

fn kind<S: Dimension>(body: &Body, path: &FieldPath) -> Result<EngineKind<S>, Flaw> {
    Ok(match (body.kind, &body.script) {
        (Kind::Particle, _) => EngineKind::Particle,
        (Kind::Fixed, _) => EngineKind::Fixed,
        (Kind::Kinematic, Some(given)) => {
            EngineKind::Kinematic(script::<S>(given, &path.key("script"))?)
        }
        (Kind::Rigid, _) | (Kind::Kinematic, None) => EngineKind::Rigid,
    })
}

fn script<S: Dimension>(script: &Script, path: &FieldPath) -> Result<EngineScript<S>, Flaw> {
    let (made, path) = match script {
        Script::Steady { velocity, spin } => {
            let path = path.key("steady");
            let made = EngineScript::Steady {
                velocity: vector_or_zero::<S>(velocity.as_ref(), &path.key("velocity"))?,
                spin: spin_or_zero::<S>(spin.as_ref(), &path.key("spin"))?,
            };
            (made, path)
        }
        Script::Swing {
            amplitude,
            turn,
            frequency,
            phase,
        } => {
            let path = path.key("swing");
            let made = EngineScript::Swing {
                amplitude: vector_or_zero::<S>(amplitude.as_ref(), &path.key("amplitude"))?,
                turn: spin_or_zero::<S>(turn.as_ref(), &path.key("turn"))? * radians(1.0),
                frequency_hz: not_negative(*frequency, "Hz", path.key("frequency"))?,
                phase: finite(*phase, path.key("phase"))?,
            };
            (made, path)
        }
        Script::Keyframes(frames) => {
            let path = path.key("keyframes");
            let frame = |(index, frame): (usize, &crate::schema::Keyframe)| {
                let path = path.index(index);
                let rotation = match &frame.rotation {
                    Some(rotation) => S::rotation(rotation, &path.key("rotation"))?,
                    None => S::Rotation::default(),
                };
                let position = vector::<S>(&frame.position, &path.key("position"))?;
                Ok(Keyframe {
                    time: finite(frame.time, path.key("time"))?,
                    pose: Pose { position, rotation },
                })
            };
            let frames = frames.iter().enumerate().map(frame);
            (
                EngineScript::Keyframes(frames.collect::<Result<_, _>>()?),
                path,
            )
        }
    };
    made.check().map_err(|error| match error {
        ScriptError::Order(index) | ScriptError::Rotation(index) => {
            Flaw::new(path.index(index).key("time"), error.to_string())
        }
        _ => Flaw::new(path, error.to_string()),
    })?;
    Ok(made)
}

fn mass<S: Dimension>(body: &Body, path: &FieldPath) -> Result<Mass<S>, Flaw> {
    let unit = if S::HAS_DEPTH { "kg/m³" } else { "kg/m²" };
    match (body.mass, body.density, &body.mass_properties) {
        (None, None, None) => Ok(Mass::OfMaterial),
        (Some(mass), None, None) => Ok(Mass::Total(positive(mass, "kg", path.key("mass"))?)),
        (None, Some(density), None) => {
            Ok(Mass::Density(positive(density, unit, path.key("density"))?))
        }
        (None, None, Some(given)) => {
            let path = path.key("mass_properties");
            Ok(Mass::Given(MassProperties {
                mass: positive(given.mass, "kg", path.key("mass"))?,
                center: vector_or_zero::<S>(given.center.as_ref(), &path.key("center"))?,
                inertia: S::inertia(&given.inertia, &path.key("inertia"))?,
            }))
        }
        (mass, ..) => {
            let key = if mass.is_some() { "mass" } else { "density" };
            let problem = "give only one of `mass`, `density` and `mass_properties`";
            Err(Flaw::new(path.key(key), problem))
        }
    }
}

fn locked_axes<S: Dimension>(axes: &[Axis], path: &FieldPath) -> Result<[bool; 3], Flaw> {
    let mut locked = [false; 3];
    for (index, axis) in axes.iter().enumerate() {
        match axis {
            Axis::X => locked[0] = true,
            Axis::Y => locked[1] = true,
            Axis::Z if S::HAS_DEPTH => locked[2] = true,
            Axis::Z => {
                let flaw = Flaw::new(path.index(index), "a 2D scene has no z axis to move along");
                return Err(flaw.help("it can be \"x\" or \"y\""));
            }
        }
    }
    Ok(locked)
}

fn locked_spins<S: Dimension>(axes: &[Axis], path: &FieldPath) -> Result<[bool; 3], Flaw> {
    let mut locked = [false; 3];
    for (index, axis) in axes.iter().enumerate() {
        match axis {
            // The plane's only spin comes first in the engine.
            Axis::Z if !S::HAS_DEPTH => locked[0] = true,
            Axis::X if S::HAS_DEPTH => locked[0] = true,
            Axis::Y if S::HAS_DEPTH => locked[1] = true,
            Axis::Z => locked[2] = true,
            Axis::X | Axis::Y => {
                let flaw = Flaw::new(path.index(index), "a 2D body turns about z only");
                return Err(flaw.help("write [\"z\"]"));
            }
        }
    }
    Ok(locked)
}

fn pushes<S: Dimension>(body: &Body, path: &FieldPath) -> Result<Vec<Push<S>>, Flaw> {
    let push = |(index, push): (usize, &crate::schema::Push)| {
        let path = path.key("pushes").index(index);
        Ok(Push {
            force: vector_or_zero::<S>(push.force.as_ref(), &path.key("force"))?,
            rate: vector_or_zero::<S>(push.rate.as_ref(), &path.key("rate"))?,
            point: vector_or_zero::<S>(push.point.as_ref(), &path.key("point"))?,
        })
    };
    body.pushes.iter().enumerate().map(push).collect()
}

/// Groups as bits.
fn groups(body: &Body, path: &FieldPath) -> Result<Groups, Flaw> {
    let bits = |list: &Option<Vec<u8>>, key: &'static str| {
        let Some(list) = list else {
            return Ok(u32::MAX);
        };
        let mut bits = 0;
        for (index, &group) in list.iter().enumerate() {
            if group > 31 {
                let problem = format!("a group is a number from 0 to 31, not {group}");
                return Err(Flaw::new(path.key(key).index(index), problem));
            }
            bits |= 1 << group;
        }
        Ok(bits)
    };
    Ok(Groups {
        member: bits(&body.groups, "groups")?,
        meets: bits(&body.meets, "meets")?,
    })
}

/// The engine's error, at the field it is about.
fn unfit(error: &BodyError, body: &Body, path: &FieldPath) -> Flaw {
    let field = match error {
        BodyError::Name(_) => path.key("name"),
        BodyError::NotFinite("centre of mass") => path.key("mass_properties").key("center"),
        BodyError::NotFinite("force") => path.key("pushes"),
        BodyError::NotFinite(what) => path.key(*what),
        BodyError::Range {
            what: what @ ("position" | "velocity" | "spin"),
            ..
        } => path.key(*what),
        BodyError::Range { what: "mass", .. } if body.mass.is_some() => path.key("mass"),
        BodyError::Range { what: "mass", .. } if body.density.is_some() => path.key("density"),
        BodyError::Range { .. } if body.mass_properties.is_some() => path.key("mass_properties"),
        BodyError::Range { .. } => path.key("shape"),
        BodyError::Rotation => path.key("rotation"),
        BodyError::Mass { .. } if body.mass.is_some() => path.key("mass"),
        BodyError::Mass { .. } if body.density.is_some() => path.key("density"),
        BodyError::Mass { .. } | BodyError::NotABall | BodyError::Shape(_) => path.key("shape"),
        BodyError::Inertia if body.mass_properties.is_some() => {
            path.key("mass_properties").key("inertia")
        }
        BodyError::Inertia => path.key("shape"),
        BodyError::NoVolume => path.key("kind"),
        BodyError::Damping {
            what: "linear damping",
            ..
        } => path.key("linear_damping"),
        BodyError::Damping { .. } => path.key("angular_damping"),
        BodyError::Script(_) => path.key("script"),
        BodyError::Belt => path.key("surface_velocity"),
        BodyError::OneWay => path.key("one_way"),
        _ => path.clone(),
    };
    Flaw::new(field, error.to_string())
}
