//! Steps whose outcome is tampered with before the judge sees it: each tampering is seen, by name and
//! amount.
#![allow(clippy::unwrap_used)]

use super::World;
use crate::judge::whole_step::Burst;
use crate::judge::{Certificate, Figure, Grade};
use crate::math::algebra::D3;
use crate::strategy::step::StepOutput;
use crate::{Body, BodyId, Deformable, Joint, Mesh, Settings, Shape3, Strategy, Substance, World3};
use glamx::DVec3;

/// Makes a step and lets `tamper` change its outcome before it is judged.
pub(super) fn tampered(
    world: &mut World3,
    tamper: impl FnOnce(&mut World3, &mut StepOutput<D3>),
) -> Certificate {
    try_tampered(world, tamper).unwrap()
}

/// The same, where so much energy may be made that the step is refused.
pub(super) fn try_tampered(
    world: &mut World3,
    tamper: impl FnOnce(&mut World3, &mut StepOutput<D3>),
) -> Result<Certificate, Burst> {
    world.joints.sort_pairs();
    let (dt, threads) = (world.settings.dt, world.settings.threads);
    crate::dynamics::integrate::steer(&mut world.bodies, world.time, dt);
    world.bodies.copy_state(&mut world.before, threads);
    let end = world.end_of_step();
    let mut output = world.step_bodies(end, &mut |_| {}).unwrap();
    tamper(world, &mut output);
    let certificate = world.certify(output.solution.as_ref().unwrap());
    world.accept(end);
    certificate.map(Option::unwrap)
}

fn world_of(strategy: Strategy) -> World3 {
    World::new(Settings {
        dt: 1.0 / 60.0,
        strategy,
        ..Settings::default()
    })
    .unwrap()
}

fn realtime() -> World3 {
    world_of(Strategy::Realtime(crate::Realtime::default()))
}

fn center(world: &World3, body: BodyId) -> DVec3 {
    world.bodies.position[body.index()]
}

fn stone(at: DVec3) -> Body<D3> {
    Body::rigid(Shape3::cuboid(DVec3::new(0.5, 0.3, 0.2)).unwrap()).at(at)
}

/// A stone that slides and loses much energy, and others in flight, one of them damped.
fn busy(strategy: Strategy) -> (World3, [BodyId; 3]) {
    let mut world = world_of(strategy);
    let floor = Body::fixed(Shape3::half_space(DVec3::Y).unwrap());
    world.add(floor.named("floor")).unwrap();
    let sliding = stone(DVec3::new(0.0, 0.301, 0.0)).moving(DVec3::X * 5.0);
    let flying = stone(DVec3::new(0.0, 50.0, 0.0))
        .moving(DVec3::new(1.0, 8.0, -2.0))
        .spinning(DVec3::new(2.0, -1.0, 3.0));
    let mut damped = stone(DVec3::new(9.0, 40.0, 0.0)).moving(DVec3::X * 4.0);
    (damped.linear_damping, damped.angular_damping) = (0.5, 2.0);
    damped.spin = DVec3::new(1.0, 3.0, -2.0);
    let ids = [
        world.add(sliding.named("sliding")).unwrap(),
        world.add(flying.named("flying")).unwrap(),
        world.add(damped.named("damped")).unwrap(),
    ];
    (world, ids)
}

#[test]
fn flight_under_constant_forces_is_judged_exact() {
    let (mut world, [sliding, flying, damped]) =
        busy(Strategy::Realtime(crate::Realtime::default()));
    // What rubs has errors of its own.
    world.remove(sliding).unwrap();
    for step in 0..60 {
        world
            .add_force(
                flying,
                DVec3::new(300.0, -20.0, 7.0),
                center(&world, flying),
            )
            .unwrap();
        world
            .add_force(damped, DVec3::new(0.0, 9.0, 70.0), center(&world, damped))
            .unwrap();
        let certificate = tampered(&mut world, |_, _| {});
        for figure in [Figure::Energy, Figure::Momentum, Figure::AngularMomentum] {
            let share = certificate.shares.of(figure);
            assert_eq!(
                figure.grade(share),
                Grade::Exact,
                "{figure:?} {share} in step {step}: {certificate:#?}"
            );
        }
        assert!(certificate.energy.work_j.abs() > 1.0);
    }
}

#[test]
fn energy_added_to_one_free_body_is_seen_by_name_and_amount() {
    for strategy in Strategy::all() {
        let (mut world, [_, flying, _]) = busy(strategy);
        for _ in 0..3 {
            tampered(&mut world, |_, _| {});
        }
        let mut clean = world.clone();
        let without = tampered(&mut clean, |_, _| {});
        let mut added = 0.0;
        let certificate = tampered(&mut world, |world, _| {
            let k = flying.index();
            let before = world.bodies.kinetic_energy(k);
            world.bodies.motion[k].spin *= 1.5;
            added = world.bodies.kinetic_energy(k) - before;
        });
        let change = |of: fn(&Certificate) -> f64| of(&certificate) - of(&without);
        let seen = change(|c| c.energy.made_j - c.energy.lost_j);
        let name = strategy.name();
        assert!(
            (seen - added).abs() < 1e-9 * added,
            "{name}: {seen} of {added}"
        );
        assert_eq!(certificate.energy_at.as_deref(), Some("flying"), "{name}");
        let spun = change(|c| c.angular_momentum_n_m_s);
        assert!(spun > 0.4 * world.bodies.angular_momentum(flying.index()).length() / 1.5);
    }
}

#[test]
fn momentum_moved_from_one_body_to_another_is_seen() {
    let (mut world, [_, flying, damped]) = busy(Strategy::Realtime(crate::Realtime::default()));
    tampered(&mut world, |_, _| {});
    let moved = DVec3::new(0.3, 0.0, -0.1);
    let certificate = tampered(&mut world, |world, _| {
        for (body, sign) in [(flying, 1.0), (damped, -1.0)] {
            let k = body.index();
            let mass = world.bodies.mass(k);
            world.bodies.motion[k].linear += moved * (sign / mass);
        }
    });
    assert!((certificate.momentum_n_s - moved.length()).abs() < 1e-9 * moved.length());
    assert!(["flying", "damped"].contains(&certificate.momentum_at.as_deref().unwrap()));
}

#[test]
fn an_opened_joint_is_seen() {
    let mut world = realtime();
    let hook = world.add(Body::fixed(Shape3::ball(0.1).unwrap())).unwrap();
    let bob = world.add(stone(DVec3::new(1.0, 0.0, 0.0))).unwrap();
    world.join(Joint::ball(hook, bob).at(DVec3::ZERO)).unwrap();
    for _ in 0..5 {
        let fine = tampered(&mut world, |_, _| {});
        assert!(fine.joints.gap_m < 1e-4, "{}", fine.joints.gap_m);
    }
    let certificate = tampered(&mut world, |world, _| {
        world.bodies.position[bob.index()].z += 0.01;
    });
    assert!((certificate.joints.gap_m - 0.01).abs() < 1e-4);
    assert_eq!(certificate.shares.grade(Figure::JointGap), Grade::Poor);
}

#[test]
fn a_force_across_a_gap_is_seen() {
    let mut world = realtime();
    let floor = Body::fixed(Shape3::half_space(DVec3::Y).unwrap());
    world.add(floor.named("floor")).unwrap();
    world.add(stone(DVec3::Y * 0.3).named("stone")).unwrap();
    for _ in 0..30 {
        let fine = tampered(&mut world, |_, _| {});
        assert_eq!(fine.push_apart_m, 0.0);
    }
    let certificate = tampered(&mut world, |_, output| {
        let solution = output.solution.as_mut().unwrap();
        let [solved, _] = solution.own_contacts.as_mut().unwrap();
        solved[0].point.separation = 0.061;
        solved[0].impulse = solved[0].point.normal * 4000.0 / 60.0;
    });
    assert!((certificate.push_apart_n - 4000.0).abs() < 1e-6);
    assert!((certificate.push_apart_m - 0.061).abs() < 0.004);
    let at = certificate.push_apart_at.unwrap();
    assert_eq!((at.a.as_str(), at.b.as_str()), ("floor", "stone"));
    assert_eq!(
        Figure::PushApart.grade(certificate.shares.push_apart),
        Grade::Poor
    );
}

#[test]
fn a_node_pushed_through_a_face_is_seen() {
    let mut world = world_of(Strategy::Velocity);
    let table = Body::fixed(Shape3::cuboid(DVec3::new(1.0, 0.2, 1.0)).unwrap());
    world.add(table.named("table")).unwrap();
    let mesh = Mesh::<D3>::cloth([1.0, 1.0], [6, 6]);
    let mut cloth = Deformable::new(mesh, Substance::default()).named("cloth");
    for vertex in &mut cloth.mesh.vertices {
        vertex.y += 0.25;
    }
    world.add_deformable(cloth).unwrap();
    for _ in 0..20 {
        tampered(&mut world, |_, _| {});
    }
    assert!(world.audit().unwrap().intersections.is_empty());
    let node = world.deformables.iter().next().unwrap().nodes[24];
    let certificate = tampered(&mut world, |world, _| {
        world.bodies.position[node as usize].y -= 0.06;
        let mut contacts = std::mem::take(&mut world.contacts);
        contacts.find(&crate::dynamics::contact_set::Surroundings {
            bodies: &world.bodies,
            deformables: &world.deformables,
            joints: &world.joints,
            rules: world.pair_rules(),
            ahead: world.settings.of_step().lookahead(),
            joints_are_contacts: true,
        });
        world.contacts = contacts;
    });
    assert!(
        certificate.penetration_m > 0.05,
        "{}",
        certificate.penetration_m
    );
    assert!(!world.audit().unwrap().intersections.is_empty());
}

#[test]
fn a_displacement_without_velocity_is_seen_by_name_and_amount() {
    let (mut world, [_, flying, _]) = busy(Strategy::Realtime(crate::Realtime::default()));
    for _ in 0..3 {
        let fine = tampered(&mut world, |_, _| {});
        assert!(fine.shares.displacement < 1e-3, "{fine:?}");
    }
    let certificate = tampered(&mut world, |world, _| {
        world.bodies.position[flying.index()].x += 0.05;
    });
    let seen = certificate.displacement_m;
    // What gravity changed of its velocity may have moved it by 1.4 mm to any side.
    assert!((0.05 - seen).abs() < 2e-3, "{seen}");
    assert_eq!(certificate.displaced.as_deref(), Some("flying"));
    assert_eq!(certificate.shares.grade(Figure::Displacement), Grade::Poor);
}

/// A step that makes more energy than there was ends the run, and names the body; the world stays
/// where it was.
#[test]
fn more_energy_made_than_there_was_is_an_error_that_names_the_body() {
    for strategy in Strategy::all().into_iter().filter(Strategy::refuses_bursts) {
        let (mut world, [_, flying, _]) = busy(strategy);
        world.step().unwrap();
        let before = world.motion(flying).unwrap();
        world.bodies.copy_state(&mut world.before, 1);
        let end = world.end_of_step();
        let output = world.step_bodies(end, &mut |_| {}).unwrap();
        world.bodies.motion[flying.index()].spin *= 1e6;
        let burst = world
            .certify(output.solution.as_ref().unwrap())
            .unwrap_err();
        let error = world.reject(crate::strategy::step::Failure::Burst(burst));
        assert!(error.to_string().contains("`flying`"), "{error}");
        assert_eq!(world.motion(flying).unwrap(), before);
        assert_eq!(world.steps(), 1);
        world.step().unwrap();
    }
}
