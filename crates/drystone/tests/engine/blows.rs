//! Blows on bodies with joints: contact and joints act at once, by closed forms.

use drystone::glam::{DQuat, DVec3};
use drystone::{
    Axis, Body, BodyId, Combine, D3, Joint, Material, MaterialId, Pose, Realtime, Settings, Shape3,
    Strategy, World3,
};

const DT: f64 = 1.0 / 60.0;
/// Half the sides of a rod, m, and its mass, kg.
const HALF: DVec3 = DVec3::new(0.5, 0.05, 0.05);
const ROD: f64 = 2.0;
/// Of the ball, kg; its speed, m/s.
const BALL: f64 = 0.7;
const SPEED: f64 = 3.0;

fn world(gravity: DVec3) -> World3 {
    World3::new(Settings {
        dt: DT,
        gravity,
        strategy: Strategy::Realtime(Realtime {
            sleep_after: 0.0,
            ..Realtime::default()
        }),
        ..Settings::default()
    })
    .unwrap()
}

/// Without friction, with this restitution.
fn smooth(world: &mut World3, restitution: f64) -> MaterialId {
    world
        .materials
        .add(Material {
            friction: 0.0,
            restitution,
            friction_rule: Combine::Minimum,
            ..Material::default()
        })
        .unwrap()
}

fn rod(world: &mut World3, x: f64, material: MaterialId) -> BodyId {
    let body = Body::rigid(Shape3::cuboid(HALF).unwrap());
    let at = DVec3::new(x, 0.0, 0.0);
    world.add(body.at(at).with_mass(ROD).of(material)).unwrap()
}

/// A ball above the rod at x that comes down on it.
fn ball(world: &mut World3, x: f64, material: MaterialId) -> BodyId {
    let body = Body::rigid(Shape3::ball(0.1).unwrap());
    let at = DVec3::new(x, 0.25, 0.0);
    world
        .add(
            body.at(at)
                .moving(DVec3::new(0.0, -SPEED, 0.0))
                .with_mass(BALL)
                .of(material),
        )
        .unwrap()
}

/// A hinge at x that turns about z.
fn hinge(a: BodyId, b: BodyId, x: f64) -> Joint<D3> {
    Joint::hinge(a, b, Axis::FREE).placed(Pose {
        position: DVec3::new(x, 0.0, 0.0),
        rotation: DQuat::from_rotation_y(-std::f64::consts::FRAC_PI_2),
    })
}

fn kinetic(world: &World3) -> f64 {
    world.energy().kinetic
}

/// Inertia of a rod about its middle, kg·m².
fn about_middle() -> f64 {
    ROD / 3.0 * (HALF.x * HALF.x + HALF.y * HALF.y)
}

#[test]
fn a_ball_on_a_hinged_rod_turns_it_as_angular_momentum_says() {
    for e in [0.0, 0.5, 1.0] {
        let mut world = world(DVec3::ZERO);
        let material = smooth(&mut world, e);
        let post = world
            .add(Body::fixed(Shape3::ball(0.05).unwrap()).at(DVec3::new(0.0, 0.0, 1.0)))
            .unwrap();
        let door = rod(&mut world, 0.5, material);
        world.join(hinge(post, door, 0.0)).unwrap();
        let arm = 0.9;
        let hammer = ball(&mut world, arm, material);
        let before = kinetic(&world);
        for _ in 0..4 {
            world.step().unwrap();
            let made = kinetic(&world) - before;
            assert!(made < 1e-3 * before, "{made} J with e = {e}");
        }
        // m r u = I ω + m r v and r ω − v = e u about the hinge, u and v downwards.
        let inertia = about_middle() + ROD * 0.25;
        let spin = (1.0 + e) * BALL * arm * SPEED / (inertia + BALL * arm * arm);
        let left = arm * spin - e * SPEED;
        let found = -world.motion(door).unwrap().spin.z;
        let after = -world.motion(hammer).unwrap().linear.y;
        assert!((found - spin).abs() < 0.01 * spin, "{found} not {spin} /s");
        assert!(
            (after - left).abs() < 0.01 * SPEED,
            "{after} not {left} m/s"
        );
        assert!(world.joint_error().0 < 1e-4, "{:?}", world.joint_error());
    }
}

#[test]
fn a_ball_on_the_end_of_two_jointed_rods_keeps_momentum_and_energy() {
    for e in [0.0, 1.0] {
        let mut world = world(DVec3::ZERO);
        let material = smooth(&mut world, e);
        let rods = [-0.5, 0.5].map(|x| rod(&mut world, x, material));
        world.join(hinge(rods[0], rods[1], 0.0)).unwrap();
        let hammer = ball(&mut world, -1.0, material);
        let before = kinetic(&world);
        for _ in 0..4 {
            world.step().unwrap();
        }
        // An impulse P on the end and one X in the joint, equal in size to P/4 for thin rods:
        // m v₁ = P − X, I ω₁ = −a (P + X), m v₂ = X, I ω₂ = −a X, v₁ + a ω₁ = v₂ − a ω₂.
        let (a, inertia) = (HALF.x, about_middle());
        let lever = a * a / inertia;
        let x = (1.0 / ROD - lever) / (2.0 / ROD + 2.0 * lever);
        let end = (1.0 - x) / ROD + lever * (1.0 + x);
        let impulse = (1.0 + e) * SPEED / (1.0 / BALL + end);
        let left = SPEED - impulse / BALL;
        let far = x * impulse / ROD;
        let down = |id| -world.motion(id).unwrap().linear.y;
        assert!(
            (down(hammer) - left).abs() < 0.01 * SPEED,
            "{}",
            down(hammer)
        );
        assert!(
            (down(rods[1]) - far).abs() < 0.01 * SPEED,
            "{}",
            down(rods[1])
        );
        let momentum = BALL * down(hammer) + ROD * (down(rods[0]) + down(rods[1]));
        assert!((momentum - BALL * SPEED).abs() < 1e-4, "{momentum} N·s");
        let lost = before - kinetic(&world);
        let expected = 0.5 * impulse * SPEED * (1.0 - e);
        assert!(
            (lost - expected).abs() < 0.01 * before,
            "{lost} J, not {expected}"
        );
    }
}

#[test]
fn what_a_blow_does_to_a_joint_can_be_read() {
    let mut world = world(DVec3::ZERO);
    let material = smooth(&mut world, 0.0);
    let post = world
        .add(Body::fixed(Shape3::ball(0.05).unwrap()).at(DVec3::new(0.0, 0.0, 1.0)))
        .unwrap();
    let door = rod(&mut world, 0.5, material);
    let joint = world.join(hinge(post, door, 0.0)).unwrap();
    let arm = 0.9;
    ball(&mut world, arm, material);
    let mut impulse = 0.0;
    for _ in 0..4 {
        world.step().unwrap();
        impulse += world.reaction(joint).unwrap().force.y * DT;
    }
    // P on the rod and X in the hinge: m a ω = P + X, I ω = P r about the hinge.
    let inertia = about_middle() + ROD * 0.25;
    let spin = BALL * arm * SPEED / (inertia + BALL * arm * arm);
    let expected = ROD * 0.5 * spin - inertia * spin / arm;
    let size = inertia * spin / arm;
    assert!(
        (impulse.abs() - expected.abs()).abs() < 0.02 * size,
        "{impulse} N·s, not {expected}"
    );
}

/// Blocks that fall on a bridge of planks bring energy and get none back.
#[test]
fn blocks_on_a_straight_bridge_make_no_energy() {
    let mut world = world(DVec3::new(0.0, -9.81, 0.0));
    let (count, pitch) = (12, 0.52);
    let post = Shape3::ball(0.05).unwrap();
    let ends = [0.0, f64::from(count) * pitch].map(|x| {
        let body = Body::fixed(post.clone()).at(DVec3::new(x, -1.0, 0.0));
        world.add(body).unwrap()
    });
    let mut last = ends[0];
    for k in 0..count {
        let shape = Shape3::cuboid(DVec3::new(0.23, 0.06, 1.0)).unwrap();
        let at = DVec3::new((f64::from(k) + 0.5) * pitch, 0.0, 0.0);
        let body = Body::rigid(shape).at(at).with_mass(77.0);
        let plank = world.add(body).unwrap();
        world
            .join(hinge(last, plank, f64::from(k) * pitch))
            .unwrap();
        last = plank;
    }
    world
        .join(hinge(last, ends[1], f64::from(count) * pitch))
        .unwrap();
    for k in 0..3 {
        let shape = Shape3::cuboid(DVec3::splat(0.25)).unwrap();
        let at = DVec3::new(2.0 + 1.1 * f64::from(k), 1.3 + 0.6 * f64::from(k), 0.1);
        world
            .add(Body::rigid(shape).at(at).with_mass(190.0))
            .unwrap();
    }
    let total = |world: &World3| world.energy().kinetic + world.energy().potential;
    let brought = 190.0 * 9.81 * (1.0 + 1.6 + 2.2);
    let (mut before, mut made) = (total(&world), 0.0);
    for _ in 0..400 {
        world.step().unwrap();
        let now = total(&world);
        made += (now - before).max(0.0);
        before = now;
        let (gap, _) = world.joint_error();
        assert!(gap < 1e-3, "{gap} m at {} s", world.time());
    }
    assert!(made < 0.03 * brought, "{made} J of {brought}");
}
