//! The real-time strategy in motion, at its default 1/60 s, against closed forms.

use drystone::glam::{DQuat, DRot2, DVec2, DVec3};
use drystone::{
    Body, BodyId, Material, MaterialId, Push, Realtime, Settings, Shape2, Shape3, Space, Strategy,
    World, World2, World3,
};
use std::f64::consts::{FRAC_PI_2, TAU};

pub(crate) const G: f64 = 9.81;

/// The strategy as it is by default.
pub(crate) fn settings<S: Space>() -> Settings<S> {
    Settings {
        dt: 1.0 / 60.0,
        strategy: Strategy::Realtime(Realtime::default()),
        ..Settings::default()
    }
}

pub(crate) fn world3() -> World3 {
    World3::new(settings()).unwrap()
}

pub(crate) fn world2() -> World2 {
    World2::new(settings()).unwrap()
}

pub(crate) fn weightless() -> World3 {
    World3::new(Settings {
        gravity: DVec3::ZERO,
        ..settings()
    })
    .unwrap()
}

pub(crate) fn surface<S: Space>(world: &mut World<S>, friction: f64, e: f64) -> MaterialId {
    let material = Material {
        friction,
        restitution: e,
        ..Material::default()
    };
    world.materials.add(material).unwrap()
}

pub(crate) fn run<S: Space>(world: &mut World<S>, seconds: f64) {
    while world.time() < seconds - 0.5 * world.settings().dt {
        world.step().unwrap();
    }
}

pub(crate) fn mechanical<S: Space>(world: &World<S>) -> f64 {
    let energy = world.energy();
    energy.kinetic + energy.potential
}

/// x += h v + h²a/2 and v += h a are exact for a constant a: only rounding is left.
#[test]
fn a_projectile_flies_along_its_parabola() {
    let (mut space, mut plane) = (world3(), world2());
    let (start, velocity) = (DVec3::new(0.0, 5.0, -1.0), DVec3::new(3.0, 4.0, 1.0));
    let force = DVec3::new(0.5, -1.0, 2.0);
    let push = Push {
        force,
        rate: DVec3::ZERO,
        point: DVec3::ZERO,
    };
    let ball = Body::rigid(Shape3::ball(0.1).unwrap()).with_mass(2.0);
    let thrown = |body: Body<drystone::D3>| body.at(start).moving(velocity);
    let free = space.add(thrown(ball.clone())).unwrap();
    let pushed = Body {
        pushes: vec![push],
        ..thrown(ball)
    };
    let pushed = space.add(pushed.at(start + DVec3::X * 50.0)).unwrap();
    let flat = Body::rigid(Shape2::ball(0.1).unwrap())
        .at(start.truncate())
        .moving(velocity.truncate());
    let flat = plane.add(flat).unwrap();
    run(&mut space, 2.0);
    run(&mut plane, 2.0);
    let way = |a: DVec3| velocity * 2.0 + a * 2.0;
    let gravity = DVec3::Y * -G;
    let at = |id: BodyId| space.pose(id).unwrap().position;
    assert!((at(free) - start - way(gravity)).length() < 1e-9);
    let expected = start + DVec3::X * 50.0 + way(gravity + force / 2.0);
    assert!((at(pushed) - expected).length() < 1e-9);
    let flown = plane.pose(flat).unwrap().position - start.truncate();
    assert!((flown - way(gravity).truncate()).length() < 1e-9);
    assert!((plane.motion(flat).unwrap().linear.y - (4.0 - 2.0 * G)).abs() < 1e-9);
}

/// Near enough to a wall for a contact, and never in touch: the kernels' single precision and no more
/// is lost.
#[test]
fn what_flies_along_a_wall_without_touching_it_flies_along_its_parabola() {
    let mut world = world3();
    let wall = Shape3::cuboid(DVec3::new(0.5, 30.0, 3.0)).unwrap();
    let wall = Body::fixed(wall).at(DVec3::X * -0.6002);
    world.add(wall).unwrap();
    let ball = Body::rigid(Shape3::ball(0.1).unwrap());
    let ball = world.add(ball.moving(DVec3::Y * 2.0)).unwrap();
    run(&mut world, 2.0);
    let pose = world.pose(ball).unwrap().position;
    assert!(
        (pose - DVec3::Y * (4.0 - 2.0 * G)).length() < 1e-5,
        "{pose}"
    );
}

/// Slides off a sphere without friction, from rest: N = m (g cos θ − v²/r), until that is 0. A
/// reference integration goes as far as it slides, and a parabola from there on.
#[test]
fn a_ball_leaves_the_top_of_a_sphere_where_it_should() {
    for start in [0.3_f64, 0.15] {
        let mut world = world3();
        let smooth = surface(&mut world, 0.0, 0.0);
        let sphere = Shape3::ball(1.0).unwrap();
        world.add(Body::fixed(sphere).of(smooth)).unwrap();
        let reach = 1.1;
        let place = |angle: f64| DVec3::new(angle.sin(), angle.cos(), 0.0) * reach;
        let ball = Body::rigid(Shape3::ball(0.1).unwrap()).of(smooth);
        let ball = world.add(ball.at(place(start))).unwrap();
        let (mut angle, mut rate, mut time, h) = (start, 0.0_f64, 0.0, 1e-5);
        while G * angle.cos() > reach * rate * rate {
            rate += 0.5 * h * G / reach * angle.sin();
            angle += h * rate;
            rate += 0.5 * h * G / reach * angle.sin();
            time += h;
        }
        let speed = DVec3::new(angle.cos(), -angle.sin(), 0.0) * (reach * rate);
        let end = time + 0.4;
        let steps = (end * 60.0).round();
        run(&mut world, steps / 60.0);
        let late = steps / 60.0 - time;
        let expected = place(angle) + speed * late - DVec3::Y * (0.5 * G * late * late);
        let off = world.pose(ball).unwrap().position - expected;
        // Planes that touch the sphere are what it slides on: it is above it by (vh)²/2r, 1 mm where it
        // leaves.
        assert!(off.length() < 5e-3, "{off} from {start} rad");
    }
}

/// v' = a − c v has a closed form: exact at any damping, and the terminal velocity is a/c.
#[test]
fn what_falls_through_a_viscous_medium_follows_its_closed_form() {
    for c in [1e-9, 0.3, 4.0, 500.0] {
        let mut world = world3();
        let body = Body {
            linear_damping: c,
            ..Body::rigid(Shape3::ball(0.1).unwrap()).moving(DVec3::X)
        };
        let id = world.add(body).unwrap();
        run(&mut world, 2.0);
        let lost = -f64::exp_m1(-2.0 * c);
        let fallen = G / c * (2.0 - lost / c);
        let fallen = if c < 1e-6 { 2.0 * G } else { fallen };
        let at = world.pose(id).unwrap().position;
        assert!((at.y + fallen).abs() < 1e-7, "{c}: {at}");
        assert!((at.x - lost / c).abs() < 1e-6 * 2.0, "{c}: {at}");
        let speed = world.motion(id).unwrap().linear.y;
        assert!((speed + G / c * lost).abs() < 1e-6, "{c}: {speed}");
    }
}

/// Damping acts on motion: what rests or hangs carries its weight, whatever its damping.
#[test]
fn a_weight_that_rests_or_hangs_does_not_depend_on_damping() {
    for c in [0.0, 4.0, 60.0] {
        let mut world = world3();
        world
            .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
            .unwrap();
        let damped = |body: Body<drystone::D3>| Body {
            linear_damping: c,
            angular_damping: c,
            ..body.with_mass(2.0)
        };
        let cube = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        let rests = Body::rigid(cube).at(DVec3::new(5.0, 0.5, 0.0));
        let rests = world.add(damped(rests)).unwrap();
        let hook = Body::fixed(Shape3::ball(0.05).unwrap()).at(DVec3::Y * 4.0);
        let hook = world.add(hook).unwrap();
        let hangs = Body::rigid(Shape3::ball(0.1).unwrap()).at(DVec3::Y * 3.0);
        let hangs = world.add(damped(hangs)).unwrap();
        let joint = drystone::Joint::ball(hook, hangs).at(DVec3::Y * 4.0);
        let joint = world.join(joint).unwrap();
        let mut carried = 0.0;
        for _ in 0..60 {
            world.step().unwrap();
            let contacts = world.solved_contacts();
            let on = contacts.iter().filter(|contact| {
                let k = rests.index() as u32;
                contact.a == k || contact.b == k
            });
            carried = on.map(|contact| contact.impulse.length()).sum::<f64>() * 60.0;
        }
        assert!((carried / (2.0 * G) - 1.0).abs() < 1e-3, "{c}: {carried} N");
        let pull = world.reaction(joint).unwrap().force.length();
        assert!((pull / (2.0 * G) - 1.0).abs() < 1e-6, "{c}: {pull} N");
    }
}

/// Rolls down a slope from rest: ½ g sin θ t²/(1 + I/mr²). Of order two, and the same from the first
/// step on: what single precision leaves is 1e-5.
#[test]
fn balls_cylinders_and_discs_roll_down_a_slope_by_the_closed_form() {
    for slope in [0.1_f64, 0.35] {
        let n = DVec3::new(slope.sin(), slope.cos(), 0.0);
        let way = |inertia: f64| 0.5 * G * slope.sin() * 4.0 / (1.0 + inertia);
        let lying = DQuat::from_rotation_x(FRAC_PI_2);
        for (shape, rotation, inertia) in [
            (Shape3::ball(0.3).unwrap(), DQuat::IDENTITY, 0.4),
            (Shape3::cylinder(0.5, 0.3).unwrap(), lying, 0.5),
        ] {
            let mut world = world3();
            let rough = surface(&mut world, 0.9, 0.0);
            let floor = Shape3::half_space(n).unwrap();
            world.add(Body::fixed(floor).of(rough)).unwrap();
            let mut body = Body::rigid(shape).of(rough).at(n * 0.3);
            body.pose.rotation = rotation;
            let id = world.add(body).unwrap();
            run(&mut world, 2.0);
            let rolled = (world.pose(id).unwrap().position - n * 0.3).length();
            assert!((rolled / way(inertia) - 1.0).abs() < 5e-4, "{rolled} m");
        }
        let mut world = world2();
        let rough = surface(&mut world, 0.9, 0.0);
        let floor = Shape2::half_space(n.truncate()).unwrap();
        world.add(Body::fixed(floor).of(rough)).unwrap();
        let disc = Body::rigid(Shape2::ball(0.3).unwrap()).of(rough);
        let id = world.add(disc.at(n.truncate() * 0.3)).unwrap();
        run(&mut world, 2.0);
        let rolled = (world.pose(id).unwrap().position - n.truncate() * 0.3).length();
        assert!((rolled / way(0.5) - 1.0).abs() < 5e-4, "{rolled} m");
    }
}

/// Kinetic energy and angular momentum of a free box, from slow to nearly half a turn a step, and
/// beyond it.
#[test]
fn a_free_box_keeps_its_energy_however_fast_it_spins() {
    for speed in [1.0, 30.0, 180.0, 300.0] {
        for about in [DVec3::Y, DVec3::Z, DVec3::new(0.3, 1.0, -0.5)] {
            let mut world = weightless();
            let shape = Shape3::cuboid(DVec3::new(0.5, 0.25, 0.1)).unwrap();
            let spin = (about + DVec3::splat(0.01)).normalize() * speed;
            let id = world.add(Body::rigid(shape).spinning(spin)).unwrap();
            let (energy, k) = (world.energy().kinetic, id.index());
            let momentum = world.bodies().angular_momentum(k);
            for _ in 0..60 {
                world.step().unwrap();
                let change = world.energy().kinetic / energy - 1.0;
                assert!(change.abs() < 1e-3, "{speed} rad/s about {about}: {change}");
                let now = world.bodies().angular_momentum(k);
                assert!((now - momentum).length() < 1e-12 * momentum.length());
            }
        }
    }
}

/// A body of revolution: its axis goes round the angular momentum at L/I, whatever the cone.
#[test]
fn a_free_top_precesses_by_the_closed_form() {
    let mut world = weightless();
    let shape = Shape3::cylinder(0.05, 0.2).unwrap();
    let top = Body::rigid(shape).with_mass(1.0);
    let id = world.add(top.spinning(DVec3::new(4.0, 60.0, 0.0))).unwrap();
    let across = (3.0 * 0.2 * 0.2 + 0.1 * 0.1) / 12.0;
    let momentum = world.bodies().angular_momentum(id.index());
    let (along, rate) = (momentum.normalize(), momentum.length() / across);
    let start = DVec3::Y;
    let cone = along.dot(start);
    for _ in 0..600 {
        world.step().unwrap();
        let axis = world.pose(id).unwrap().rotation * DVec3::Y;
        let turn = DQuat::from_axis_angle(along, rate * world.time());
        assert!((axis - turn * start).length() < 1e-4 * TAU);
        assert!((along.dot(axis) - cone).abs() < 1e-9);
    }
}

/// Peaks at e²ⁿh, by the height and by what height the velocity is good for: a bounce happens when it
/// happens, not at the end of the step.
#[test]
fn a_ball_bounces_to_e_squared_of_its_height() {
    for (e, h) in [(0.5, 1.0), (0.8, 1.0), (0.8, 0.37), (1.0, 1.0)] {
        let mut world = world3();
        let bouncy = surface(&mut world, 0.0, e);
        let floor = Shape3::half_space(DVec3::Y).unwrap();
        world.add(Body::fixed(floor).of(bouncy)).unwrap();
        let ball = Body::rigid(Shape3::ball(0.1).unwrap()).of(bouncy);
        let id = world.add(ball.at(DVec3::Y * (h + 0.1))).unwrap();
        let (mut rises, mut bounces) = (false, 0);
        while bounces < 4 {
            world.step().unwrap();
            let speed = world.motion(id).unwrap().linear.y;
            if speed <= 0.0 && rises {
                bounces += 1;
                let y = world.pose(id).unwrap().position.y - 0.1;
                let peak = y + speed * speed / (2.0 * G);
                let expected = h * e.powi(2 * bounces);
                assert!(
                    (peak / expected - 1.0).abs() < 1e-3,
                    "{e}: {peak} {expected}"
                );
            }
            rises = speed > 0.0;
        }
    }
}

/// The same in the plane, against another ball that is free: momentum and energy are kept.
#[test]
fn two_discs_meet_within_the_step() {
    let mut world = World2::new(Settings {
        gravity: DVec2::ZERO,
        ..settings()
    })
    .unwrap();
    let bouncy = surface(&mut world, 0.0, 1.0);
    let disc = |x: f64, v: f64| {
        Body::rigid(Shape2::ball(0.1).unwrap())
            .of(bouncy)
            .at(DVec2::X * x)
            .moving(DVec2::X * v)
            .with_mass(1.0)
    };
    let (a, b) = (
        world.add(disc(0.0, 7.0)).unwrap(),
        world.add(disc(1.013, 0.0)).unwrap(),
    );
    run(&mut world, 1.0);
    // They meet after 0.813 m, at 0.1161 s, which is within a step.
    let time = 0.813 / 7.0;
    let at = |id: BodyId| world.pose(id).unwrap().position.x;
    assert!((at(a) - 0.813).abs() < 1e-5, "{}", at(a));
    assert!(
        (at(b) - (1.013 + 7.0 * (1.0 - time))).abs() < 1e-5,
        "{}",
        at(b)
    );
}

/// A small ball on top of a large one: three times as fast, nine times as high.
#[test]
fn a_small_ball_on_a_large_one_rises_nine_times_as_high() {
    for h in [1.0, 0.63] {
        let mut world = world3();
        let bouncy = surface(&mut world, 0.0, 1.0);
        let floor = Shape3::half_space(DVec3::Y).unwrap();
        world.add(Body::fixed(floor).of(bouncy)).unwrap();
        let ball = |radius: f64, y: f64, mass: f64| {
            Body::rigid(Shape3::ball(radius).unwrap())
                .of(bouncy)
                .at(DVec3::Y * y)
                .with_mass(mass)
        };
        world.add(ball(0.2, 0.2 + h, 1e3)).unwrap();
        let small = world.add(ball(0.05, 0.45 + h, 1e-3)).unwrap();
        let mut top = 0.0_f64;
        while world.time() < 2.2 {
            world.step().unwrap();
            top = top.max(world.pose(small).unwrap().position.y - 0.45);
        }
        // Its own fall is h, and it starts from where the large one is at its lowest.
        assert!((top / (9.0 * h) - 1.0).abs() < 0.01, "{top} m");
    }
}

/// Just below the angle of friction: g (sin θ − μ cos θ), a small difference of large numbers.
#[test]
fn a_block_slides_just_below_the_angle_of_friction_by_the_closed_form() {
    let slope = 0.5_f64.atan();
    let friction = 0.49;
    let way = 0.5 * G * (slope.sin() - friction * slope.cos()) * 16.0;
    let n = DVec3::new(slope.sin(), slope.cos(), 0.0);
    let mut world = world3();
    let rough = surface(&mut world, friction, 0.0);
    let floor = Shape3::half_space(n).unwrap();
    world.add(Body::fixed(floor).of(rough)).unwrap();
    let mut block = Body::rigid(Shape3::cuboid(DVec3::new(0.5, 0.25, 0.5)).unwrap());
    block = block.of(rough).at(n * 0.25);
    block.pose.rotation = DQuat::from_rotation_z(-slope);
    let id = world.add(block).unwrap();
    run(&mut world, 4.0);
    let slid = (world.pose(id).unwrap().position - n * 0.25).length();
    assert!((slid / way - 1.0).abs() < 5e-3, "{slid} {way}");
    let mut world = world2();
    let rough = surface(&mut world, friction, 0.0);
    let floor = Shape2::half_space(n.truncate()).unwrap();
    world.add(Body::fixed(floor).of(rough)).unwrap();
    let mut block = Body::rigid(Shape2::cuboid(DVec2::new(0.5, 0.25)).unwrap());
    block = block.of(rough).at(n.truncate() * 0.25);
    block.pose.rotation = DRot2::from_angle(-slope);
    let id = world.add(block).unwrap();
    run(&mut world, 4.0);
    let slid = (world.pose(id).unwrap().position - n.truncate() * 0.25).length();
    assert!((slid / way - 1.0).abs() < 5e-3, "{slid} {way}");
}
