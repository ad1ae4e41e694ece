//! A world that runs in the viewer.

use drystone::glam::{DQuat, DRot2, DVec3};
use drystone::{
    Body, Components, D2, D3, Linear, Shape2, Shape3, ShapeError, SolverKind, Space, StepReport,
    Strategy, World,
};
use drystone_frame::{Frame, Stage};
use drystone_scene::Scene;
use drystone_view::live::{
    About, Change, ContactDetail, Grip, Lesson, Matrix, Numbers, Settings, Simulation, Throw,
};

use super::lessons::Measure;
use super::matrix;
use super::verdict::{self, Verdict};

/// A hand pulls like a critically damped spring of this angular frequency, rad/s, on the whole
/// mass of the object.
const HAND_RATE: f64 = 14.0;

/// A hand pulls with at most this acceleration times the object's mass, m/s².
const HAND_STRENGTH: f64 = 150.0;

/// A hand at a deformable holds one of so many of its nodes, those nearest to it.
const PATCH_OF_NODES: usize = 12;

/// Spaces in which a ball can be thrown, and that frames, always 3D, can be brought back to.
pub(super) trait Throwable: Space {
    /// A ball.
    fn ball(radius: f64) -> Result<Self::Shape, ShapeError>;
    /// The rotation of a unit quaternion x, y, z, w.
    fn rotation(quaternion: [f64; 4]) -> Self::Rotation;
    /// The angular velocity of three numbers.
    fn spin(spin: [f64; 3]) -> Self::Spin;
}

impl Throwable for D2 {
    fn ball(radius: f64) -> Result<Shape2, ShapeError> {
        Shape2::ball(radius)
    }

    fn rotation([_, _, z, w]: [f64; 4]) -> DRot2 {
        // Twice the half angle: cos = w² − z², sin = 2 w z.
        DRot2 {
            re: w * w - z * z,
            im: 2.0 * w * z,
        }
    }

    fn spin([_, _, z]: [f64; 3]) -> f64 {
        z
    }
}

impl Throwable for D3 {
    fn ball(radius: f64) -> Result<Shape3, ShapeError> {
        Shape3::ball(radius)
    }

    fn rotation(quaternion: [f64; 4]) -> DQuat {
        DQuat::from_array(quaternion)
    }

    fn spin(spin: [f64; 3]) -> DVec3 {
        DVec3::from_array(spin)
    }
}

/// A scene and its world.
pub(super) struct Running<S: Space> {
    scene: Scene,
    world: World<S>,
    measure: Option<Measure>,
    /// For each contact that the last step solved.
    details: Vec<ContactDetail>,
    /// Nodes of each deformable.
    nodes: Vec<Vec<u32>>,
}

impl<S: Space> Running<S> {
    pub(super) fn new(scene: Scene, world: World<S>) -> Self {
        Self {
            measure: Measure::of(&scene.name),
            nodes: world.stage().skins.into_iter().map(|s| s.objects).collect(),
            scene,
            world,
            details: Vec::new(),
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
        if let Some(name) = &change.strategy {
            let unknown = || format!("there is no strategy `{name}`");
            let strategy = Strategy::named(name).ok_or_else(unknown)?;
            if strategy.name() != settings.strategy.name() {
                settings.strategy = strategy;
            }
        }
        if let (Strategy::Realtime(options), Some(substeps)) =
            (&mut settings.strategy, change.substeps)
        {
            options.substeps = substeps;
        }
        if let Some(threads) = change.threads {
            settings.threads = threads;
        }
        settings.check().map_err(|error| error.to_string())?;
        Ok(settings)
    }
}

impl<S: Space> Running<S> {
    /// Whether a strategy can step this scene (not all know joints, deformables or every law of
    /// impact), by a step on a copy of the world.
    fn try_strategy(&self, settings: &drystone::Settings<S>) -> Result<(), String> {
        let mut copy = self.world.clone();
        *copy.settings_mut() = *settings;
        let stepped = copy.step().map(|_| ());
        stepped.map_err(|error| format!("this scene can't be stepped so: {error}"))
    }

    /// The bodies that a hand at one of them moves: it alone, or a patch of what it is a node of,
    /// for a single node is too light to carry the rest.
    fn held(&self, object: usize) -> Vec<usize> {
        let is_of = |nodes: &&Vec<u32>| nodes.contains(&(object as u32));
        let Some(nodes) = self.nodes.iter().find(is_of) else {
            return vec![object];
        };
        let bodies = self.world.bodies();
        let distance = |k: usize| (bodies.position[k] - bodies.position[object]).length();
        let mut near: Vec<usize> = nodes.iter().map(|&k| k as usize).collect();
        near.retain(|&k| bodies.is_dynamic(k));
        near.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)));
        near.truncate(nodes.len().div_ceil(PATCH_OF_NODES));
        near
    }

    /// Pulls at one body as a hand at a point of it does.
    fn pull_at(&mut self, k: usize, point: S::Vector, target: S::Vector) {
        let bodies = self.world.bodies();
        let motion = bodies.motion[k];
        let arm = point - bodies.position[k];
        let velocity = motion.linear + S::spin_cross(motion.spin, arm);
        let mass = bodies.mass(k);
        let stretch = target - point;
        let pull = (stretch * HAND_RATE - velocity * 2.0) * (HAND_RATE * mass);
        let most = HAND_STRENGTH * mass;
        let force = pull * (most / pull.length().max(most));
        // The spin decays too, or a held body would turn about the hand for ever.
        let brake = bodies.angular_momentum(k) * (-0.5 * HAND_RATE);
        let id = bodies.id(k);
        // Both are finite: the state is, and so is the grip.
        let _ = self.world.add_force(id, force, point);
        let _ = self.world.add_torque(id, brake);
    }
}

impl<S: Throwable> Simulation for Running<S> {
    fn stage(&self) -> Stage {
        self.world.stage()
    }

    fn about(&self) -> About {
        verdict::about(&self.scene, &self.world)
    }

    fn frame(&self) -> Frame {
        self.world.frame()
    }

    fn details(&self) -> Vec<ContactDetail> {
        self.details.clone()
    }

    fn step(&mut self) -> Result<Numbers, String> {
        let report = self.world.step().map_err(|error| error.to_string())?;
        let verdict = Verdict::of(&self.world);
        let numbers = verdict.numbers(&self.world, &report);
        self.details = verdict.details;
        if let Some(measure) = &mut self.measure {
            measure.watch(&self.world.frame());
        }
        Ok(numbers)
    }

    fn numbers(&self) -> Numbers {
        Verdict::default().numbers(&self.world, &StepReport::default())
    }

    fn settings(&self) -> Settings {
        verdict::settings(&self.world)
    }

    fn change(&mut self, change: &Change) -> Result<(), String> {
        let settings = self.try_settings(change)?;
        if settings.strategy.name() != self.world.settings().strategy.name() {
            self.try_strategy(&settings)?;
        }
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
        let point = bodies.origin(k).point(vector::<S>(grip.point));
        let by = vector::<S>(grip.target) - point;
        let held = self.held(k);
        for one in held {
            let at = if one == k {
                point
            } else {
                self.world.bodies().position[one]
            };
            self.pull_at(one, at, at + by);
        }
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
pub(super) fn vector<S: Space>(values: [f64; 3]) -> S::Vector {
    let axes = values.into_iter().enumerate();
    axes.fold(S::Vector::default(), |v, (axis, x)| {
        v.with_component(axis, x)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::World3;

    fn with_ball(gravity: f64) -> Running<D3> {
        let mut world = World3::reference();
        world.settings_mut().gravity = DVec3::new(0.0, -gravity, 0.0);
        let ball = Body::rigid(Shape3::ball(0.1).unwrap()).named("ball");
        world.add(ball).unwrap();
        Running::new(Scene::new("a ball", 3), world)
    }

    #[test]
    fn a_hand_holds_a_body_like_a_spring() {
        let mut running = with_ball(9.81);
        let grip = Grip {
            object: 0,
            point: [0.0; 3],
            target: [1.0, 2.0, 3.0],
        };
        for _ in 0..2400 {
            running.pull(&grip);
            running.step().unwrap();
        }
        // A spring of ω² per mass sags by g/ω² and pulls straight up at rest.
        let sag = 9.81 / (HAND_RATE * HAND_RATE);
        let [x, y, z] = running.frame().positions[0];
        assert!((x - 1.0).abs() < 1e-6 && (z - 3.0).abs() < 1e-6, "{x} {z}");
        assert!((y - (2.0 - sag)).abs() < 1e-6, "{y}");
    }

    #[test]
    fn a_hand_at_a_cloth_carries_it() {
        let scene = drystone_scene::gallery::find("flag")
            .unwrap()
            .scene()
            .unwrap();
        let drystone_scene::AnyWorld::Solid(world) = scene.build().unwrap() else {
            panic!("a flag is in space");
        };
        let mut running = Running::new(scene, world);
        let frame = running.frame();
        let bodies = running.world.bodies();
        let node = (0..bodies.len()).rfind(|&k| bodies.is_dynamic(k)).unwrap();
        let [x, y, z] = frame.positions[node];
        let grip = Grip {
            object: node as u32,
            point: [0.0; 3],
            target: [x, y, z + 0.4],
        };
        for _ in 0..120 {
            running.pull(&grip);
            running.step().unwrap();
        }
        // Towards the hand, and not through the roof.
        let moved = running.frame().positions[node][2] - z;
        assert!((0.1..0.6).contains(&moved), "{moved}");
    }

    #[test]
    fn a_strategy_that_can_not_step_a_scene_is_refused() {
        for (name, strategy, why) in [
            ("heavy-chain", "parallel", "joints"),
            ("flag", "realtime", "deformables"),
        ] {
            let scene = drystone_scene::gallery::find(name)
                .unwrap()
                .scene()
                .unwrap();
            let drystone_scene::AnyWorld::Solid(world) = scene.build().unwrap() else {
                panic!("{name} is in space");
            };
            let mut running = Running::new(scene, world);
            let before = running.settings();
            let change = Change {
                strategy: Some(strategy.into()),
                ..Change::default()
            };
            let reason = running.change(&change).unwrap_err();
            assert!(reason.contains(why), "{reason}");
            assert_eq!(running.settings(), before);
        }
    }

    #[test]
    fn a_hand_at_nothing_does_nothing() {
        let mut running = with_ball(0.0);
        let grip = Grip {
            object: 7,
            point: [0.0; 3],
            target: [1.0; 3],
        };
        running.pull(&grip);
        running.step().unwrap();
        assert_eq!(running.frame().positions[0], [0.0; 3]);
    }

    #[test]
    fn a_thrown_ball_flies_as_it_was_thrown() {
        let mut running = with_ball(0.0);
        let throw = Throw {
            position: [0.0, 5.0, 0.0],
            velocity: [2.4, 0.0, 0.0],
            radius: 0.2,
        };
        running.throw(&throw).unwrap();
        running.throw(&throw).unwrap();
        running.step().unwrap();
        let stage = running.stage();
        assert_eq!(stage.objects.len(), 3);
        assert_ne!(stage.objects[1].name, stage.objects[2].name);
        assert!((running.frame().velocities[1][0].abs() - 2.4).abs() < 1e-9);
        let bad = Throw {
            radius: -1.0,
            ..throw
        };
        assert!(running.throw(&bad).is_err());
    }

    #[test]
    fn a_change_that_can_not_be_used_changes_nothing() {
        let mut running = with_ball(9.81);
        let before = running.settings();
        for bad in [
            Change {
                dt: Some(0.0),
                ..Change::default()
            },
            Change {
                solver: Some("magic".into()),
                dt: Some(0.01),
                ..Change::default()
            },
            Change {
                strategy: Some("hope".into()),
                ..Change::default()
            },
            Change {
                restitution: Some(2.0),
                gravity: Some([0.0; 3]),
                ..Change::default()
            },
        ] {
            assert!(running.change(&bad).is_err(), "{bad:?}");
            assert_eq!(running.settings(), before, "{bad:?}");
        }
        let good = Change {
            friction: Some(0.25),
            solver: Some("newton".into()),
            strategy: Some("realtime".into()),
            substeps: Some(3),
            ..Change::default()
        };
        running.change(&good).unwrap();
        let after = running.settings();
        assert_eq!((after.friction, after.solver.as_str()), (0.25, "newton"));
        assert_eq!(after.strategy, "realtime");
        assert_eq!(after.substeps, Some(3));
    }
}
