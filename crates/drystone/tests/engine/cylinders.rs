//! Cylinders and cones in the strategies that watch motion: prisms and pyramids of 32 sides around
//! the round solids.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::watched::{CLOTH, Surface, assert_surfaces_apart, block, prism};
use drystone::glam::{DQuat, DVec3};
use drystone::{
    Barrier, Body, BodyId, Deformable, DeformableId, Impacts, Mesh, Pose, Settings, Shape3,
    StepError, Strategy, World, World3,
};
use std::f64::consts::{FRAC_PI_2, PI};

const G: f64 = 9.81;
/// Half of the angle that a side of the prism is seen under.
const ALPHA: f64 = PI / 32.0;

const PARALLEL: Strategy = Strategy::Parallel(Impacts::PARALLEL);
const SEQUENTIAL: Strategy = Strategy::Sequential(Impacts::SEQUENTIAL);

fn barrier() -> Strategy {
    Strategy::Barrier(Barrier::default())
}

fn world(strategy: Strategy, dt: f64) -> World3 {
    World::new(Settings {
        dt,
        strategy,
        ..Settings::default()
    })
    .unwrap()
}

fn add_floor(world: &mut World3, normal: DVec3) {
    let floor = Body::fixed(Shape3::half_space(normal).unwrap());
    world.add(floor.named("floor")).unwrap();
}

/// A step after which the certificate, which looks at the round solids, finds no overlap.
fn step(world: &mut World3) {
    let certificate = world.step().unwrap().certificate.unwrap();
    assert!(certificate.penetration_m == 0.0, "{certificate:?}");
}

/// Upward force on a body by all contacts, N, as a mean over some steps.
fn mean_force(world: &mut World3, body: BodyId, steps: usize) -> f64 {
    let mut sum = 0.0;
    for _ in 0..steps {
        step(world);
        for contact in world.solved_contacts().iter() {
            if contact.b as usize == body.index() {
                sum += contact.impulse.y;
            } else if contact.a as usize == body.index() {
                sum -= contact.impulse.y;
            }
        }
    }
    sum / (steps as f64 * world.settings().dt)
}

#[test]
fn standing_cylinders_and_cones_press_with_their_weight() {
    for strategy in [barrier(), PARALLEL, SEQUENTIAL] {
        for shape in [Shape3::cylinder(0.2, 0.1), Shape3::cone(0.2, 0.1)] {
            let mut world = world(strategy, 1.0 / 240.0);
            add_floor(&mut world, DVec3::Y);
            let body = Body::rigid(shape.unwrap())
                .at(DVec3::Y * (0.2 + 5e-4))
                .with_mass(2.0);
            let body = world.add(body).unwrap();
            for _ in 0..60 {
                step(&mut world);
            }
            let force = mean_force(&mut world, body, 60);
            assert!(
                (force - 2.0 * G).abs() < 1e-3,
                "{}: {force}",
                strategy.name()
            );
            let pose = world.pose(body).unwrap();
            let (height, up) = (pose.position.y, pose.rotation * DVec3::Y);
            assert!(
                (0.2..0.201).contains(&height),
                "{}: {height}",
                strategy.name()
            );
            assert!(up.y > 1.0 - 1e-6, "{}: {up}", strategy.name());
        }
    }
}

/// How far a prism with the inertia of a solid cylinder of radius r has rolled down a slope, m:
/// it turns about one edge after the other, and each side comes down without bounce. It rests where
/// its weight is above a side.
fn rolled(r: f64, slope: f64, seconds: f64) -> f64 {
    if slope < ALPHA {
        return 0.0;
    }
    let corner = r / ALPHA.cos();
    let inertia = 0.5 * r * r + corner * corner;
    let kept = (0.5 * r * r + corner * corner * (2.0 * ALPHA).cos()) / inertia;
    let (mut sides, mut angle, mut spin) = (0.0, -ALPHA, 0.0);
    let dt = 1e-5;
    for _ in 0..(seconds / dt) as usize {
        spin += dt * G * corner / inertia * (angle + slope).sin();
        angle += dt * spin;
        if angle > ALPHA {
            (sides, angle, spin) = (sides + 1.0, -ALPHA, kept * spin);
        }
    }
    corner * (2.0 * sides * ALPHA.sin() + angle.sin() + ALPHA.sin())
}

/// How far a cylinder of radius 0.1 m that lies on a slope goes in a second, m.
fn gone(strategy: Strategy, slope: f64) -> f64 {
    let mut world = world(strategy, 1.0 / 240.0);
    let normal = DVec3::new(slope.sin(), slope.cos(), 0.0);
    let down = DVec3::new(slope.cos(), -slope.sin(), 0.0);
    add_floor(&mut world, normal);
    let start = normal * (0.1 + 2e-4);
    let lying = DQuat::from_rotation_z(-slope) * DQuat::from_rotation_x(FRAC_PI_2);
    let body = Body::rigid(Shape3::cylinder(0.1, 0.1).unwrap())
        .at(start)
        .turned(lying);
    let body = world.add(body).unwrap();
    for _ in 0..240 {
        step(&mut world);
    }
    (world.pose(body).unwrap().position - start).dot(down)
}

#[test]
fn a_lying_cylinder_rests_and_rolls_on_slopes_as_a_prism_does() {
    for strategy in [PARALLEL, SEQUENTIAL] {
        for degrees in [4.5_f64, 8.0, 12.0] {
            let slope = degrees.to_radians();
            let (gone, due) = (gone(strategy, slope), rolled(0.1, slope, 1.0));
            assert!(
                (gone - due).abs() < 0.03 * due + 1e-3,
                "{} at {degrees}: {gone}, not {due}",
                strategy.name()
            );
        }
    }
}

/// Contacts that push from a millimetre on round corners off that stand out by half of one.
#[test]
fn in_barrier_a_small_cylinder_rolls_better_than_a_prism_and_not_better_than_a_round_one() {
    for degrees in [4.5_f64, 8.0, 12.0] {
        let slope = degrees.to_radians();
        let (gone, prism) = (gone(barrier(), slope), rolled(0.1, slope, 1.0));
        let round = G * slope.sin() / 3.0;
        assert!(
            prism < gone && gone < round,
            "{degrees}: {prism} {gone} {round}"
        );
    }
}

/// A cloth of 8 × 8 squares of 7.5 cm, held at its border.
fn held_cloth(world: &mut World3) -> DeformableId {
    let border = (0..81).filter(|k| k % 9 == 0 || k % 9 == 8 || k / 9 == 0 || k / 9 == 8);
    let sheet = Deformable::new(Mesh::cloth([0.6; 2], [8; 2]), CLOTH).pinned(border);
    world.add_deformable(sheet).unwrap()
}

#[test]
fn fast_rods_and_spikes_do_not_pass_a_held_cloth() {
    for strategy in [barrier(), PARALLEL] {
        let mut world = world(strategy, 1.0 / 240.0);
        let sheet = held_cloth(&mut world);
        let thrown = |shape: Shape3, x: f64| {
            Body::rigid(shape)
                .at(DVec3::new(x, 0.3, 0.013))
                .turned(DQuat::from_rotation_x(PI + 0.2))
                .moving(DVec3::Y * -60.0)
                .spinning(DVec3::new(20.0, 5.0, -12.0))
                .with_mass(0.01)
        };
        let rod = thrown(Shape3::cylinder(0.05, 4e-3).unwrap(), -0.11);
        let spike = thrown(Shape3::cone(0.04, 0.01).unwrap(), 0.12);
        let rod = (world.add(rod).unwrap(), prism(0.05, 4e-3, false));
        let spike = (world.add(spike).unwrap(), prism(0.04, 0.01, true));
        let rigid = [rod, spike];
        for _ in 0..12 {
            step(&mut world);
            assert_surfaces_apart(&world, &[sheet], &rigid);
            assert!(world.audit().unwrap().intersections.is_empty());
        }
        let nodes = world.nodes(sheet).unwrap();
        let heights = nodes.iter().map(|n| world.pose(*n).unwrap().position.y);
        let lowest = heights.fold(f64::INFINITY, f64::min);
        for (id, _) in &rigid {
            let y = world.pose(*id).unwrap().position.y;
            assert!(y > lowest - 0.06, "{}: {y} {lowest}", strategy.name());
        }
    }
}

/// Two wheels and an axle with a little room between them, as one body along y.
fn wheels() -> (Shape3, Surface) {
    let parts = [(-0.08, 0.02, 0.1), (0.0, 0.055, 0.03), (0.08, 0.02, 0.1)];
    let mut whole = Surface {
        points: Vec::new(),
        edges: Vec::new(),
        faces: Vec::new(),
    };
    for (height, half, radius) in parts {
        let first = whole.points.len() as u32;
        let part = prism(half, radius, false);
        let places = part.points.iter().map(|p| *p + DVec3::Y * height);
        whole.points.extend(places);
        let after = |v: u32| first + v;
        whole.edges.extend(part.edges.iter().map(|e| e.map(after)));
        whole.faces.extend(part.faces.iter().map(|f| f.map(after)));
    }
    let solid = |(height, half, radius): (f64, f64, f64)| {
        let shape = Shape3::cylinder(half, radius).unwrap();
        (Pose::at(DVec3::Y * height), shape)
    };
    (Shape3::compound(&parts.map(solid)).unwrap(), whole)
}

#[test]
fn a_heap_of_cylinders_cones_and_wheels_never_meets() {
    for strategy in [barrier(), PARALLEL] {
        let mut world = world(strategy, 1.0 / 120.0);
        let half = DVec3::new(0.6, 0.1, 0.6);
        let ground = Body::fixed(Shape3::cuboid(half).unwrap()).at(DVec3::Y * -0.1);
        let mut rigid = vec![(world.add(ground).unwrap(), block(half))];
        let kinds = || {
            [
                (
                    Shape3::cylinder(0.12, 0.06).unwrap(),
                    prism(0.12, 0.06, false),
                ),
                (Shape3::cone(0.1, 0.08).unwrap(), prism(0.1, 0.08, true)),
                wheels(),
            ]
        };
        for (k, (shape, surface)) in kinds().into_iter().chain(kinds()).enumerate() {
            let k = k as f64;
            let at = DVec3::new(0.05 * (k - 2.0), 0.16 + 0.3 * k, 0.03 * (k % 3.0));
            let turn = DQuat::from_rotation_z(0.9 * k) * DQuat::from_rotation_x(1.3 * k);
            let body = Body::rigid(shape)
                .at(at)
                .turned(turn)
                .moving(DVec3::Y * -3.0 * k);
            rigid.push((world.add(body).unwrap(), surface));
        }
        for _ in 0..40 {
            step(&mut world);
            assert_surfaces_apart(&world, &[], &rigid);
        }
    }
}

#[test]
fn starts_that_touch_are_refused_by_name() {
    for strategy in [barrier(), PARALLEL, SEQUENTIAL] {
        // The ball is where a corner of the prism is, 0.5 % of the radius outside of the cylinder.
        for (distance, is_apart) in [(0.2, false), (0.2004, false), (0.2006, true)] {
            let mut world = world(strategy, 1.0 / 240.0);
            let post = Body::fixed(Shape3::cylinder(0.2, 0.1).unwrap());
            world.add(post.named("post")).unwrap();
            let turned = DQuat::from_rotation_y(ALPHA);
            let ball = Body::rigid(Shape3::ball(0.1).unwrap())
                .at(turned * DVec3::X * distance)
                .named("ball");
            world.add(ball).unwrap();
            match world.check_start() {
                Ok(()) => assert!(is_apart, "{distance}"),
                Err(error) => {
                    assert!(!is_apart, "{distance}: {error}");
                    assert!(matches!(error, StepError::Overlap { .. }), "{error}");
                    let text = error.to_string();
                    assert!(text.contains("post") && text.contains("ball"), "{text}");
                }
            }
        }
    }
}
