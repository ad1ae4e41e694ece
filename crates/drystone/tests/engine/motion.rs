//! Free motion, scripts, damping, locked axes and forces at points, against closed forms.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common::{exact, ground3, run, surface};
use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::judge::{Figure, Grade};
use drystone::{
    Body, Keyframe, MaterialId, Motion, Pose, Push, Script, Settings, Shape2, Shape3, World2,
    World3,
};

fn weightless() -> World3 {
    World3::new(Settings {
        gravity: DVec3::ZERO,
        dt: 1.0 / 240.0,
        ..Settings::reference()
    })
    .unwrap()
}

/// A torque-free body spun about its intermediate axis flips over and over; energy and angular
/// momentum stay. The momentum is kept by construction; energy oscillates by O(h²ω²), without
/// drift: the bound holds over a minute as it does over a second.
#[test]
fn a_wing_nut_flips_and_keeps_energy_and_angular_momentum() {
    let mut world = weightless();
    let shape = Shape3::cuboid(DVec3::new(0.5, 0.1, 0.25)).unwrap();
    // Half edges 0.5, 0.1, 0.25: inertia is least about x, largest about y, between about z.
    let id = world
        .add(Body::rigid(shape).spinning(DVec3::new(0.01, 0.0, 5.0)))
        .unwrap();
    let momentum = world.bodies().angular_momentum(id.index());
    let energy = world.energy().kinetic;
    let mut flips = 0;
    let mut up = true;
    while world.time() < 60.0 {
        world.step().unwrap();
        let now = world.bodies().angular_momentum(id.index());
        assert!((now - momentum).length() < 1e-9 * momentum.length());
        assert!((world.energy().kinetic - energy).abs() < 2e-3 * energy);
        let z = (world.bodies().rotation[id.index()] * DVec3::Z).z;
        if (z > 0.9 && !up) || (z < -0.9 && up) {
            up = !up;
            flips += 1;
        }
    }
    assert!(flips >= 10, "{flips} flips");
}

/// Fast spin and large steps: nothing blows up, because angular momentum bounds the spin.
#[test]
fn a_fast_spinning_body_stays_bounded_at_any_step() {
    for dt in [0.01, 0.1, 1.0] {
        let mut world = weightless();
        world.settings_mut().dt = dt;
        let shape = Shape3::cuboid(DVec3::new(0.5, 0.02, 0.1)).unwrap();
        let id = world
            .add(Body::rigid(shape).spinning(DVec3::new(3.0, 40.0, -25.0)))
            .unwrap();
        let momentum = world.bodies().angular_momentum(id.index()).length();
        for _ in 0..1000 {
            world.step().unwrap();
        }
        let now = world.bodies().angular_momentum(id.index()).length();
        assert!((now - momentum).abs() < 1e-9 * momentum);
    }
}

/// Free fall: symplectic Euler gives v = g t exactly and x = ½ g t (t + h).
#[test]
fn free_fall_is_exact_for_its_scheme() {
    let mut world: World2 = exact(0.01);
    let id = world.add(Body::rigid(Shape2::ball(0.1).unwrap())).unwrap();
    run(&mut world, 1.0);
    let y = world.pose(id).unwrap().position.y;
    assert!((world.motion(id).unwrap().linear.y + 9.81).abs() < 1e-12);
    assert!((y + 0.5 * 9.81 * 1.0 * 1.01).abs() < 1e-12);
}

/// A force off the centre turns a body as r × F / I says, in one step exactly.
#[test]
fn a_force_at_a_point_turns_the_body() {
    let mut world = weightless();
    let id = world
        .add(Body::rigid(Shape3::cuboid(DVec3::splat(0.5)).unwrap()).with_mass(6.0))
        .unwrap();
    let (force, point) = (DVec3::new(0.0, 3.0, 0.0), DVec3::new(0.5, 0.0, 0.2));
    world.add_force(id, force, point).unwrap();
    world.step().unwrap();
    let h = 1.0 / 240.0;
    let motion = world.motion(id).unwrap();
    // A cube of 6 kg and 1 m has inertia 1 kg·m² about any axis.
    assert!((motion.linear - force * h / 6.0).length() < 1e-15);
    assert!((motion.spin - point.cross(force) * h).length() < 1e-15);
    // For one step only.
    world.step().unwrap();
    assert!((world.motion(id).unwrap().linear - force * h / 6.0).length() < 1e-15);
}

/// A standing push grows as it says, and acts at its point of the turning body.
#[test]
fn a_standing_push_turns_with_the_body() {
    let mut world = weightless();
    let body = Body {
        pushes: vec![Push {
            force: DVec3::Y,
            rate: DVec3::ZERO,
            point: DVec3::X * 0.5,
        }],
        ..Body::rigid(Shape3::ball(0.5).unwrap()).with_mass(1.0)
    };
    let id = world.add(body).unwrap();
    run(&mut world, 2.0);
    // The torque F r cos θ slows as the arm turns to the force: θ oscillates about 90°,
    // so the spin has been positive and the energy is F r sin θ plus what the push lifts.
    let motion = world.motion(id).unwrap();
    let angle = 2.0 * world.bodies().rotation[id.index()].z.asin();
    let inertia = 0.4 * 0.25;
    let turned = 0.5 * inertia * motion.spin.z * motion.spin.z;
    assert!(
        (turned - 0.5 * angle.sin()).abs() < 0.02,
        "{turned} J at {angle} rad"
    );
    assert!((motion.linear.y - 2.0).abs() < 1e-9);
}

/// Damping decays as (1 + h c)^−n, near e^(−c t), and never reverses, whatever the rate.
#[test]
fn damping_slows_without_reversing() {
    for rate in [0.5, 1e6] {
        let mut world = weightless();
        let body = Body {
            linear_damping: rate,
            angular_damping: rate,
            ..Body::rigid(Shape3::ball(0.5).unwrap())
                .moving(DVec3::X)
                .spinning(DVec3::Z)
        };
        let id = world.add(body).unwrap();
        run(&mut world, 1.0);
        let motion = world.motion(id).unwrap();
        let expected = (1.0 + rate / 240.0_f64).powi(-240);
        assert!((motion.linear.x - expected).abs() < 1e-12);
        assert!((motion.spin.z - expected).abs() < 1e-12);
    }
}

/// A body locked to a line and without turning stays on it when something hits it.
#[test]
fn locked_axes_do_not_move() {
    let mut world: World3 = exact(1.0 / 240.0);
    let m = surface(&mut world, 0.8, 0.5);
    ground3(&mut world, m);
    let locked = Body {
        locked_axes: [false, true, true],
        locked_spins: [true, true, true],
        ..Body::rigid(Shape3::cuboid(DVec3::splat(0.3)).unwrap())
            .of(m)
            .at(DVec3::new(0.0, 0.3, 0.0))
            .moving(DVec3::new(1.0, 7.0, 7.0))
    };
    let id = world.add(locked).unwrap();
    world
        .add(
            Body::rigid(Shape3::ball(0.2).unwrap())
                .of(m)
                .at(DVec3::new(-1.0, 0.5, 0.1))
                .moving(DVec3::new(6.0, 0.0, 0.0)),
        )
        .unwrap();
    run(&mut world, 1.0);
    let pose = world.pose(id).unwrap();
    assert!(pose.position.x > 0.3);
    assert_eq!((pose.position.y, pose.position.z), (0.3, 0.0));
    assert_eq!(pose.rotation, DQuat::IDENTITY);
}

/// A scripted platform is where its script says at every step's end, and carries what stands
/// on it: after the start the box moves with it to round-off.
#[test]
fn a_platform_carries_what_stands_on_it() {
    let mut world: World3 = exact(1.0 / 240.0);
    let m = surface(&mut world, 0.9, 0.0);
    let plate = Shape3::cuboid(DVec3::new(2.0, 0.1, 2.0)).unwrap();
    let script = Script::Swing {
        amplitude: DVec3::new(0.5, 0.0, 0.2),
        turn: DVec3::ZERO,
        frequency_hz: 0.25,
        // It starts at its turning point, at rest: nothing slips at the start.
        phase: 0.25,
    };
    let platform = world
        .add(Body::kinematic(plate, script).of(m).named("platform"))
        .unwrap();
    let rider = world
        .add(
            Body::rigid(Shape3::cuboid(DVec3::splat(0.2)).unwrap())
                .of(m)
                .at(DVec3::new(0.5, 0.3, 0.2)),
        )
        .unwrap();
    while world.time() < 4.0 {
        let report = world.step().unwrap();
        let wave = (std::f64::consts::TAU * (0.25 * world.time() + 0.25)).sin();
        let expected = DVec3::new(0.5, 0.0, 0.2) * wave;
        assert!((world.pose(platform).unwrap().position - expected).length() < 1e-12);
        // What the platform gives is its own work, not energy from nothing.
        let certificate = report.certificate.unwrap();
        let grade = certificate.shares.grade(Figure::Energy);
        assert_eq!(grade, Grade::Exact, "{certificate:#?}");
        // What repair of overlaps of some 1e-12 m lifts is made.
        assert!(certificate.energy_made_j < 1e-7, "{certificate:#?}");
    }
    let offset = world.pose(rider).unwrap().position - world.pose(platform).unwrap().position;
    assert!((offset - DVec3::Y * 0.3).length() < 1e-6, "{offset}");
}

/// A keyframed lift goes up and stops; what it lifts gains height.
#[test]
fn a_keyframed_lift_lifts() {
    let mut world: World2 = exact(1.0 / 240.0);
    let key = |time, y| Keyframe {
        time,
        pose: Pose::at(DVec2::new(0.0, y)),
    };
    let script = Script::Keyframes(vec![key(0.5, 0.0), key(1.5, 1.0)]);
    world
        .add(Body::kinematic(
            Shape2::cuboid(DVec2::new(1.0, 0.1)).unwrap(),
            script,
        ))
        .unwrap();
    let load = world
        .add(Body::rigid(Shape2::cuboid(DVec2::splat(0.2)).unwrap()).at(DVec2::Y * 0.3))
        .unwrap();
    run(&mut world, 3.0);
    assert!((world.pose(load).unwrap().position.y - 1.3).abs() < 1e-3);
}

/// A body whose centre of mass is not its origin keeps both apart.
#[test]
fn poses_are_of_the_origin_and_motion_is_of_the_centre_of_mass() {
    let mut world = weightless();
    let shape = Shape3::hull(&[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]).unwrap();
    let id = world
        .add(
            Body::rigid(shape)
                .of(MaterialId::default())
                .spinning(DVec3::Z),
        )
        .unwrap();
    assert!(world.pose(id).unwrap().position.length() < 1e-15);
    assert!((world.bodies().position[0] - DVec3::splat(0.25)).length() < 1e-12);
    run(&mut world, 1.0);
    // It turns about its centre of mass, which stays, while the origin goes round it.
    assert!((world.bodies().position[0] - DVec3::splat(0.25)).length() < 1e-12);
    assert!(world.pose(id).unwrap().position.length() > 0.1);
    let pose = Pose {
        position: DVec3::ONE,
        rotation: DQuat::IDENTITY,
    };
    world.set_pose(id, pose).unwrap();
    world.set_motion(id, Motion::default()).unwrap();
    assert!((world.pose(id).unwrap().position - DVec3::ONE).length() < 1e-12);
}

#[test]
fn time_goes_on_where_the_length_of_a_step_changes() {
    let mut world = World3::reference();
    world.settings_mut().dt = 0.01;
    for _ in 0..10 {
        world.step().unwrap();
    }
    world.settings_mut().dt = 0.001;
    for _ in 0..5 {
        world.step().unwrap();
    }
    assert!((world.time() - 0.105).abs() < 1e-15, "{}", world.time());
    assert_eq!(world.steps(), 15);
}
