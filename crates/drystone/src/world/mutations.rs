//! Random tampering with any part of a step's outcome: none above the resolution of the judge goes
//! unnoticed, whichever body, joint or contact it is.
//!
//! The resolution is that of [`crate::judge::grade`]: some figure's share, or a part of the energy over
//! what is there, changes by more than what is *exact*.
#![allow(clippy::unwrap_used)]

use super::World;
use super::tampering::{tampered, try_tampered};
use crate::judge::{Certificate, Figure};
use crate::math::algebra::{Components, D3};
use crate::model::body::Kind;
use crate::strategy::step::StepOutput;
use crate::{
    Body, Deformable, Joint, Mesh, Realtime, Settings, Shape3, Strategy, Substance, World3,
};
use glamx::{DQuat, DVec3};
use proptest::prelude::{
    ProptestConfig, Strategy as _, TestCaseError, prop, prop_assert, proptest,
};

/// What is done to a step.
#[derive(Clone, Copy, Debug)]
struct Mutation {
    kind: u8,
    which: usize,
    direction: DVec3,
    /// Of what is there, or of the size of what is changed.
    amount: f64,
}

fn mutations() -> impl proptest::strategy::Strategy<Value = Mutation> {
    let direction = prop::array::uniform3(-1.0..1.0)
        .prop_map(DVec3::from_array)
        .prop_filter("a direction", |d| d.length() > 0.2);
    (0..5_u8, 0..1000_usize, direction, 0.03..1.0).prop_map(|(kind, which, d, amount)| Mutation {
        kind,
        which,
        direction: d.normalize(),
        amount,
    })
}

/// A tower at rest, stones in flight, a pendulum, two stones on a hinge in the air, and, where the
/// strategy serves it, a cloth that falls.
fn world(strategy: Strategy) -> World3 {
    let mut world = World::new(Settings {
        dt: 1.0 / 60.0,
        strategy,
        ..Settings::default()
    })
    .unwrap();
    let floor = Body::fixed(Shape3::half_space(DVec3::Y).unwrap());
    world.add(floor).unwrap();
    let block = Shape3::cuboid(DVec3::new(0.4, 0.25, 0.3)).unwrap();
    for k in 0..3 {
        let at = DVec3::Y * (0.25 + 0.5 * f64::from(k));
        world.add(Body::rigid(block.clone()).at(at)).unwrap();
    }
    for k in 0..2 {
        let at = DVec3::new(5.0 + 3.0 * f64::from(k), 20.0, 1.0);
        let mut stone = Body::rigid(block.clone())
            .at(at)
            .moving(DVec3::new(1.0, 3.0, -2.0))
            .spinning(DVec3::new(1.0, -2.0, 0.5));
        stone.linear_damping = 0.3 * f64::from(k);
        world.add(stone).unwrap();
    }
    let hook = Body::fixed(Shape3::ball(0.1).unwrap()).at(DVec3::new(-5.0, 9.0, 0.0));
    let hook = world.add(hook).unwrap();
    let bob = Body::rigid(block.clone()).at(DVec3::new(-4.0, 9.0, 0.0));
    let bob = world.add(bob).unwrap();
    let place = DVec3::new(-5.0, 9.0, 0.0);
    world.join(Joint::ball(hook, bob).at(place)).unwrap();
    let halves = [0.0, 1.0].map(|x| {
        let half = Body::rigid(block.clone()).at(DVec3::new(-12.0 + x, 30.0, 0.0));
        world.add(half.spinning(DVec3::Z)).unwrap()
    });
    let middle = DVec3::new(-11.5, 30.0, 0.0);
    let hinge = Joint::hinge(halves[0], halves[1], crate::Axis::FREE);
    world.join(hinge.at(middle)).unwrap();
    if !strategy.refuses(crate::Feature::Deformables) {
        let mut cloth =
            Deformable::new(Mesh::<D3>::cloth([1.0, 1.0], [3, 3]), Substance::default());
        for vertex in &mut cloth.mesh.vertices {
            *vertex += DVec3::new(20.0, 12.0, 0.0);
        }
        world.add_deformable(cloth).unwrap();
    }
    world
}

/// Tampers with a step, as far as there is something to tamper with.
fn mutate(world: &mut World3, output: &mut StepOutput<D3>, mutation: &Mutation) -> bool {
    let Mutation {
        kind,
        which,
        direction,
        amount,
    } = *mutation;
    let bodies = &mut world.bodies;
    let moved: Vec<usize> = (0..bodies.len())
        .filter(|&k| bodies.is_dynamic(k))
        .collect();
    let k = moved[which % moved.len()];
    let is_rigid = bodies.kind[k] == Kind::Rigid;
    let size = bodies.size(k);
    match kind {
        0 => {
            let speed = bodies.motion[k].linear.length().max(0.2);
            bodies.motion[k].linear += direction * (amount * speed);
        }
        1 if is_rigid => {
            let spin = bodies.motion[k].spin.length().max(2.0);
            bodies.motion[k].spin += direction * (amount * spin);
        }
        2 => bodies.position[k] += direction * (amount * size),
        3 if is_rigid => {
            let turn = DQuat::from_axis_angle(direction, amount);
            bodies.rotation[k] = (turn * bodies.rotation[k]).normalize();
        }
        4 => {
            let impulses = &mut output.solution.as_mut().unwrap().answered.impulses.local;
            let pressed: Vec<usize> = (0..impulses.len())
                .filter(|&row| impulses[row].component(0) > 0.1)
                .collect();
            if pressed.is_empty() {
                return false;
            }
            impulses[pressed[which % pressed.len()]] *= 1.0 + amount;
        }
        _ => return false,
    }
    true
}

/// By how much the figure that shows it best exceeds what is exact.
fn noticed(clean: &Certificate, tampered: &Certificate) -> f64 {
    let excess = |figure: Figure| {
        let change = tampered.shares.of(figure) - clean.shares.of(figure);
        change / figure.bounds()[0]
    };
    let parts = |of: &Certificate| {
        let energy = of.energy;
        [energy.made_j, energy.lost_j, energy.dissipated_j]
    };
    let least = Figure::Energy.bounds()[0] * clean.energy.scale_j;
    let energies = parts(clean).into_iter().zip(parts(tampered));
    let moved = energies.map(|(was, is)| (is - was).abs() / least);
    let shares = Figure::ALL.into_iter().map(excess);
    shares.chain(moved).fold(0.0, f64::max)
}

fn is_noticed(strategy: Strategy, steps: usize, mutation: &Mutation) -> Result<(), TestCaseError> {
    let mut world = world(strategy);
    for _ in 0..steps {
        world.step().unwrap();
    }
    let clean = tampered(&mut world.clone(), |_, _| {});
    let mut is_done = false;
    let after = try_tampered(&mut world, |world, output| {
        is_done = mutate(world, output, mutation);
    });
    // A step with more energy made than there was is refused.
    let Ok(after) = after else { return Ok(()) };
    let by = noticed(&clean, &after);
    prop_assert!(!is_done || by > 1.0, "{by}: {clean:#?} {after:#?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_that_is_changed_in_a_step_of_the_default_goes_unnoticed(
        mutation in mutations(), steps in 2..20_usize
    ) {
        is_noticed(Strategy::Realtime(Realtime::default()), steps, &mutation)?;
    }

    #[test]
    fn nothing_that_is_changed_in_a_step_of_the_reference_goes_unnoticed(
        mutation in mutations(), steps in 2..10_usize
    ) {
        is_noticed(Strategy::Velocity, steps, &mutation)?;
    }
}
