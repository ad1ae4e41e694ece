//! Nodes of deformables that are attached to bodies, in every strategy that serves them.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::{
    Barrier, Body, BodyId, D2, D3, Deformable, DeformableId, Impacts, Mesh, Motion, Pose, Script,
    Settings, Shape2, Shape3, Strategy, Substance, World2, World3,
};

const DT: f64 = 1.0 / 120.0;
const PARALLEL: Strategy = Strategy::Parallel(Impacts::PARALLEL);

/// Those that watch motion.
fn watching() -> Vec<Strategy> {
    vec![
        PARALLEL,
        Strategy::Sequential(Impacts::SEQUENTIAL),
        Strategy::Barrier(Barrier::default()),
    ]
}

/// All that serve attachments with implicit elastic forces.
fn all() -> Vec<Strategy> {
    let mut list = watching();
    list.push(Strategy::Velocity);
    list
}

fn world(strategy: Strategy, gravity: f64) -> World3 {
    World3::new(Settings {
        dt: DT,
        gravity: DVec3::NEG_Y * gravity,
        strategy,
        ..Settings::default()
    })
    .unwrap()
}

const ROPE: Substance = Substance {
    young: 2e7,
    poisson: 0.3,
    density: 900.0,
    thickness: 0.02,
    damping: 0.01,
    bending: 0.01,
};
const WOVEN: Substance = Substance {
    young: 3e4,
    poisson: 0.3,
    density: 200.0,
    thickness: 0.012,
    damping: 3e-3,
    bending: 0.01,
};

fn cuboid(half: [f64; 3]) -> Shape3 {
    Shape3::cuboid(DVec3::from_array(half)).unwrap()
}

/// Force in y on a body by all contacts of the last step, N.
fn lift(world: &World3, body: BodyId) -> f64 {
    let index = body.index() as u32;
    let impulse = |c: &drystone::contact::detection::Contact<D3>| match index {
        k if k == c.b => c.impulse.y,
        k if k == c.a => -c.impulse.y,
        _ => 0.0,
    };
    world.solved_contacts().iter().map(impulse).sum::<f64>() / world.settings().dt
}

/// Attached nodes, the body, and where they are on it.
struct Grip {
    body: BodyId,
    nodes: Vec<(BodyId, DVec3)>,
}

impl Grip {
    /// Must be called where nothing has moved yet.
    fn new(world: &World3, id: DeformableId, nodes: &[u32], body: BodyId) -> Self {
        let all = world.nodes(id).unwrap();
        let pose = world.pose(body).unwrap();
        let of = |&k: &u32| {
            let node = all[k as usize];
            (node, pose.local_point(world.pose(node).unwrap().position))
        };
        Self {
            body,
            nodes: nodes.iter().map(of).collect(),
        }
    }

    /// How far a node is off its place at most, m.
    fn error(&self, world: &World3) -> f64 {
        let pose = world.pose(self.body).unwrap();
        let off = |(node, place): &(BodyId, DVec3)| {
            (world.pose(*node).unwrap().position - pose.point(*place)).length()
        };
        self.nodes.iter().map(off).fold(0.0, f64::max)
    }
}

/// Adds a deformable with nodes attached to a body.
fn attach(
    world: &mut World3,
    mut soft: Deformable<D3>,
    nodes: &[u32],
    body: BodyId,
) -> (DeformableId, Grip) {
    soft.attached.extend(nodes.iter().map(|&k| (k, body)));
    let id = world.add_deformable(soft).unwrap();
    let grip = Grip::new(world, id, nodes, body);
    (id, grip)
}

fn momentum(world: &World3) -> DVec3 {
    let bodies = world.bodies();
    let moving = (0..bodies.len()).filter(|&k| bodies.is_dynamic(k));
    moving.fold(DVec3::ZERO, |sum, k| {
        sum + bodies.motion[k].linear * bodies.mass(k)
    })
}

/// A rope that is pinned at one end and carries 3 kg at the other.
fn plumb(strategy: Strategy) -> (World3, BodyId, DeformableId, Grip) {
    let mut world = world(strategy, 9.81);
    let weight = Body::rigid(cuboid([0.1; 3])).at(DVec3::new(0.0, -1.1, 0.0));
    let weight = world.add(weight.with_mass(3.0)).unwrap();
    let mesh = Mesh::<D3>::rope(DVec3::ZERO, DVec3::NEG_Y, 20);
    let mut rope = Deformable::new(mesh, ROPE).pinned([0]);
    rope.linear_damping = 1.0;
    let (rope, grip) = attach(&mut world, rope, &[20], weight);
    (world, weight, rope, grip)
}

#[test]
fn a_weight_hangs_on_its_rope_with_its_weight_and_stays_on_it() {
    for strategy in all() {
        let name = strategy.name();
        let (mut world, weight, rope, grip) = plumb(strategy);
        let mut most: f64 = 0.0;
        for _ in 0..600 {
            world.step().unwrap();
            most = most.max(grip.error(&world));
        }
        let force = lift(&world, weight);
        assert!((force / (3.0 * 9.81) - 1.0).abs() < 0.01, "{name}: {force}");
        // `velocity` repairs what is more than its slop.
        let allowed = match strategy {
            Strategy::Velocity => 1e-3,
            _ => 1e-12,
        };
        println!("{name}: off by {most:e} m at most, {force} N");
        assert!(most < allowed, "{name}: {most}");
        // Stretched by F L/(E A) and its own weight.
        let section = 0.25 * std::f64::consts::PI * 0.02_f64.powi(2);
        let stretch = 3.0 * 9.81 / (2e7 * section) + 900.0 * 9.81 / (2.0 * 2e7);
        let end = *world.nodes(rope).unwrap().last().unwrap();
        let found = -world.pose(end).unwrap().position.y - 1.0;
        println!("{name}: stretched by {found} m of {stretch}");
        assert!((found / stretch - 1.0).abs() < 0.02, "{name}: {found}");
        // The rope lets go when its weight is taken away.
        world.remove(weight).unwrap();
        world.step().unwrap();
    }
}

#[test]
fn a_pendulum_in_the_plane_swings_in_its_time() {
    for strategy in all() {
        let name = strategy.name();
        let mut world = World2::new(Settings {
            dt: DT,
            strategy,
            ..Settings::default()
        })
        .unwrap();
        let side = 0.1_f64.to_radians().sin();
        let place = DVec2::new(20.0 * side, -1.0);
        let bob = Body::rigid(Shape2::ball(0.05).unwrap()).at(place);
        let bob = world.add(bob.with_mass(20.0)).unwrap();
        let mesh = Mesh::<D2>::rope(DVec2::ZERO, place, 4);
        let mut rope = Deformable::new(
            mesh,
            Substance {
                young: 2e9,
                density: 1.0,
                ..ROPE
            },
        )
        .pinned([0]);
        rope.attached.push((4, bob));
        world.add_deformable(rope).unwrap();
        // Its rope ends in its middle: it does not turn with it.
        let length = place.length();
        let period = 2.0 * std::f64::consts::PI * (length / 9.81).sqrt();
        let mut crossings = Vec::new();
        let mut last = place.x;
        for step in 1..480 {
            world.step().unwrap();
            let x = world.pose(bob).unwrap().position.x;
            if last * x < 0.0 {
                crossings.push((f64::from(step) - x.abs() / (x.abs() + last.abs())) * DT);
            }
            last = x;
        }
        let found = 2.0 * (crossings[2] - crossings[0]) / 2.0;
        println!("{name}: {found} s of {period}");
        assert!((found / period - 1.0).abs() < 0.01, "{name}: {found}");
    }
}

#[test]
fn a_node_on_a_spinning_body_stays_on_it() {
    for strategy in watching() {
        let name = strategy.name();
        let mut world = world(strategy, 0.0);
        let wheel = Body::rigid(cuboid([0.2, 0.05, 0.2])).spinning(DVec3::new(0.5, 20.0, 0.0));
        let wheel = world.add(wheel.with_mass(5.0)).unwrap();
        let mesh = Mesh::<D3>::rope(DVec3::X * 0.2, DVec3::X * 0.5, 6);
        let (_, grip) = attach(&mut world, Deformable::new(mesh, ROPE), &[0], wheel);
        let mut most: f64 = 0.0;
        for _ in 0..240 {
            world.step().unwrap();
            most = most.max(grip.error(&world));
        }
        println!("{name}: off by {most:e} m at most");
        // Without the arc in its rows it would be 20² / 120² · 0.2 / 2 m, 2.8 mm.
        assert!(most < 1e-3, "{name}: {most}");
    }
}

#[test]
fn a_free_body_with_a_cloth_keeps_its_momentum() {
    for strategy in all() {
        let name = strategy.name();
        let mut world = world(strategy, 0.0);
        let rod = Body::rigid(cuboid([0.02, 0.02, 0.3]))
            .at(DVec3::X * -0.34)
            .moving(DVec3::new(1.0, 0.5, -0.2))
            .spinning(DVec3::new(0.0, 0.0, 3.0));
        let rod = world.add(rod.with_mass(0.5)).unwrap();
        let cloth = Deformable::new(Mesh::cloth([0.6, 0.4], [9, 6]), WOVEN);
        let edge: Vec<u32> = (0..7).map(|k| 10 * k).collect();
        let (_, grip) = attach(&mut world, cloth, &edge, rod);
        let before = momentum(&world);
        let mut most: f64 = 0.0;
        for step in 0..120 {
            world.step().unwrap();
            most = most.max(grip.error(&world));
            let lost = (momentum(&world) - before).length() / before.length();
            // `barrier` carries nodes, the others stop their rounds at 0.05 mm/s.
            let allowed = match strategy {
                Strategy::Velocity => 1e-3,
                Strategy::Barrier(_) => 1e-12,
                _ => 1e-5,
            };
            assert!(lost < allowed, "{name}, step {step}: {lost}");
        }
        let lost = (momentum(&world) - before).length() / before.length();
        println!("{name}: off by {most:e} m at most, lost {lost:e} of its momentum");
    }
}

/// A flag on a pole that a script swings and turns.
fn flag(strategy: Strategy, cells: [u32; 2], threads: u32) -> (World3, DeformableId, Grip) {
    let mut world = world(strategy, 9.81);
    world.settings_mut().threads = threads;
    let script = Script::Swing {
        amplitude: DVec3::new(0.3, 0.05, 0.1),
        turn: DVec3::new(0.2, 0.8, 0.0),
        frequency_hz: 1.0,
        phase: 0.0,
    };
    let pole = Body::kinematic(cuboid([0.02, 0.3, 0.02]), script).at(DVec3::X * -0.37);
    let pole = world.add(pole).unwrap();
    let upright = Pose {
        position: DVec3::ZERO,
        rotation: DQuat::from_rotation_x(0.5 * std::f64::consts::PI),
    };
    let mesh = Mesh::cloth([0.6, 0.4], cells).placed(&upright);
    let thickness = 0.3 * 0.6 / f64::from(cells[0]);
    let cloth = Deformable::new(mesh, Substance { thickness, ..WOVEN });
    let edge: Vec<u32> = (0..=cells[1]).map(|k| (cells[0] + 1) * k).collect();
    let (id, grip) = attach(&mut world, cloth, &edge, pole);
    (world, id, grip)
}

#[test]
fn a_pole_carries_its_flag_along_and_nothing_intersects() {
    for strategy in all() {
        let name = strategy.name();
        let (mut world, _, grip) = flag(strategy, [12, 8], 1);
        let mut most: f64 = 0.0;
        let steps = if name == "sequential" { 60 } else { 180 };
        for step in 0..steps {
            world.step().unwrap();
            most = most.max(grip.error(&world));
            let found = world.audit().unwrap().intersections;
            assert!(found.is_empty(), "{name}, step {step}: {found:?}");
        }
        println!("{name}: off by {most:e} m at most");
        let allowed = match strategy {
            Strategy::Velocity => 5e-3,
            // What sweeps leave where the cloth is pressed against the pole.
            Strategy::Parallel(_) | Strategy::Sequential(_) => 1e-3,
            _ => 1e-12,
        };
        assert!(most < allowed, "{name}: {most}");
    }
}

/// A net that is held at its border, a stone that hangs on its middle by a node, and a ball that
/// falls on both.
fn loaded_net(strategy: Strategy) -> (World3, BodyId, Grip) {
    let mut world = world(strategy, 9.81);
    let n = 8;
    let stone = Body::rigid(cuboid([0.06; 3])).at(DVec3::Y * -0.08);
    let stone = world.add(stone.with_mass(1.0)).unwrap();
    let ball = Body::rigid(Shape3::ball(0.15).unwrap()).at(DVec3::new(0.02, 0.4, 0.01));
    world.add(ball.with_mass(2.0)).unwrap();
    let at = |k: u32| [k % (n + 1), k / (n + 1)];
    let border = (0..(n + 1) * (n + 1)).filter(|&k| at(k).iter().any(|x| [0, n].contains(x)));
    let substance = Substance {
        young: 2e6,
        density: 900.0,
        thickness: 0.012,
        damping: 0.02,
        ..WOVEN
    };
    let net = Deformable::new(Mesh::net([0.8, 0.8], [n, n]), substance).pinned(border);
    let middle = (n + 1) * (n / 2) + n / 2;
    let (_, grip) = attach(&mut world, net, &[middle], stone);
    (world, stone, grip)
}

#[test]
fn a_stone_on_a_net_stays_on_it_when_a_ball_falls_on_both() {
    for strategy in watching() {
        let name = strategy.name();
        let (mut world, stone, grip) = loaded_net(strategy);
        let steps = if name == "sequential" { 60 } else { 240 };
        let mut most: f64 = 0.0;
        let mut lowest: f64 = 0.0;
        for step in 0..steps {
            world.step().unwrap();
            most = most.max(grip.error(&world));
            lowest = lowest.min(world.pose(stone).unwrap().position.y);
            let found = world.audit().unwrap().intersections;
            assert!(found.is_empty(), "{name}, step {step}: {found:?}");
        }
        println!("{name}: off by {most:e} m at most, down to {lowest} m");
        assert!(most < 1e-3, "{name}: {most}");
        assert!(lowest < -0.09, "{name}: {lowest}");
    }
}

#[test]
fn a_large_sheet_on_a_heavy_body_stays_on_it() {
    let n = 32;
    let mut world = world(PARALLEL, 9.81);
    let floor = Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).at(DVec3::NEG_Y);
    world.add(floor).unwrap();
    let block = Body::rigid(cuboid([0.3, 0.1, 0.7])).at(DVec3::new(-0.91, 0.0, 0.0));
    let block = world.add(block.with_mass(100.0)).unwrap();
    let thickness = 0.4 * 1.2 / f64::from(n);
    let cloth = Deformable::new(
        Mesh::cloth([1.2; 2], [n; 2]),
        Substance { thickness, ..WOVEN },
    );
    let edge: Vec<u32> = (0..=n).map(|k| (n + 1) * k).collect();
    let (id, grip) = attach(&mut world, cloth, &edge, block);
    let sheet: f64 = {
        let nodes = world.nodes(id).unwrap();
        nodes.iter().map(|k| world.bodies().mass(k.index())).sum()
    };
    let (mut most, mut fallen): (f64, f64) = (0.0, 0.0);
    for step in 0..60 {
        world.step().unwrap();
        most = most.max(grip.error(&world));
        fallen = (f64::from(step) + 1.0) * DT * 9.81;
        // All of it falls together: before it meets the floor only weight changes its momentum.
        if step < 45 {
            let due = -(100.0 + sheet) * fallen;
            let off = (momentum(&world).y - due).abs() / -due;
            assert!(off < 1e-4, "step {step}: {off}");
        }
        let found = world.audit().unwrap().intersections;
        assert!(found.is_empty(), "step {step}: {found:?}");
    }
    println!("off by {most:e} m at most after {fallen} m/s");
    assert!(most < 2e-4, "{most}");
}

/// A node that can't move can hold a body, but in `barrier` no body can carry it.
#[test]
fn a_body_hangs_on_a_pinned_node_where_that_is_served() {
    for strategy in all() {
        let mut world = world(strategy, 9.81);
        let weight = Body::rigid(cuboid([0.1; 3]))
            .at(DVec3::Y * -0.12)
            .named("weight");
        let weight = world.add(weight).unwrap();
        let mesh = Mesh::<D3>::rope(DVec3::ZERO, DVec3::Y, 10);
        let rope = Deformable::new(mesh, ROPE).pinned([0, 10]);
        let (_, grip) = attach(&mut world, rope, &[0], weight);
        if matches!(strategy, Strategy::Barrier(_)) {
            let error = world.step().unwrap_err().to_string();
            assert!(
                error.contains("attached") && error.contains("`weight`"),
                "{error}"
            );
            continue;
        }
        for _ in 0..60 {
            world.step().unwrap();
        }
        let off = grip.error(&world);
        assert!(off < 1e-6, "{}: {off}", strategy.name());
    }
}

/// A single look a step, and a ball of 40 m/s: the fail-safe has most to do.
#[test]
fn the_fail_safe_tears_no_node_off_its_body() {
    let hurried = Impacts {
        most: 1,
        ..Impacts::PARALLEL
    };
    let (mut world, _, grip) = loaded_net(Strategy::Parallel(hurried));
    let ball = world.bodies().id(1);
    let motion = Motion {
        linear: DVec3::Y * -40.0,
        spin: DVec3::ZERO,
    };
    world.set_motion(ball, motion).unwrap();
    let (mut most, mut rescued): (f64, u32) = (0.0, 0);
    for step in 0..60 {
        let resolution = world.step().unwrap().resolution;
        rescued += u32::from(resolution.gave_up);
        most = most.max(grip.error(&world));
        let found = world.audit().unwrap().intersections;
        assert!(found.is_empty(), "step {step}: {found:?}");
    }
    println!("off by {most:e} m at most, {rescued} steps with the fail-safe");
    // The ball goes 33 cm in a step, and the stone turns by a good part of a radian.
    assert!(rescued > 0 && most < 5e-3, "{rescued} {most}");
}

#[test]
fn snapshots_and_threads_change_no_bits() {
    for strategy in watching() {
        let name = strategy.name();
        let mut worlds = [1, 2, 3].map(|threads| flag(strategy, [12, 8], threads).0);
        for step in 0..40 {
            for world in &mut worlds {
                world.step().unwrap();
            }
            let [first, others @ ..] = worlds.each_ref().map(World3::state_hash);
            assert_eq!(others, [first; 2], "{name}, step {step}");
        }
        let [mut world, mut other, _] = worlds;
        other.restore(&world.snapshot()).unwrap();
        for step in 0..5 {
            world.step().unwrap();
            other.step().unwrap();
            assert_eq!(
                world.state_hash(),
                other.state_hash(),
                "{name}, step {step}"
            );
        }
    }
}

#[test]
fn a_large_flag_has_the_same_bits_for_any_number_of_threads() {
    let mut worlds = [1, 2, 3].map(|threads| flag(PARALLEL, [40, 26], threads));
    for step in 0..12 {
        for (world, _, grip) in &mut worlds {
            world.step().unwrap();
            let off = grip.error(world);
            assert!(off < 1e-3, "step {step}: {off}");
        }
        let [first, others @ ..] = worlds.each_ref().map(|(world, ..)| world.state_hash());
        assert_eq!(others, [first; 2], "step {step}");
    }
    assert!(worlds[0].0.audit().unwrap().intersections.is_empty());
}

/// A program may put a body elsewhere: its nodes come after it, at 2 m/s and no faster. `barrier`
/// leaves them where they are on it.
#[test]
fn nodes_come_after_a_body_that_was_put_elsewhere() {
    for strategy in watching() {
        let name = strategy.name();
        let mut world = world(strategy, 0.0);
        let block = world
            .add(Body::rigid(cuboid([0.1; 3])).with_mass(3.0))
            .unwrap();
        let mesh = Mesh::<D3>::rope(DVec3::X * 0.11, DVec3::X * 0.61, 10);
        let (_, grip) = attach(&mut world, Deformable::new(mesh, ROPE), &[0], block);
        world.step().unwrap();
        world.set_pose(block, Pose::at(DVec3::X * -0.05)).unwrap();
        let mut last = grip.error(&world);
        for step in 0..60 {
            world.step().unwrap();
            let off = grip.error(&world);
            assert!(
                (last - off) / DT < 2.01,
                "{name}, step {step}: {last} {off}"
            );
            last = off;
        }
        match strategy {
            Strategy::Barrier(_) => assert!((last - 0.05).abs() < 1e-9, "{last}"),
            _ => assert!(last < 1e-6, "{name}: {last}"),
        }
    }
}

/// A large sheet, whose nodes meet the floor by themselves, beside a weight on a rope, which does
/// not: the judge sees both as they were solved.
#[test]
fn the_judge_sees_split_sheets_and_attachments_side_by_side() {
    let (mut world, ..) = plumb(PARALLEL);
    let floor = Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).at(DVec3::Y * -2.0);
    world.add(floor).unwrap();
    let thickness = 0.4 / 32.0;
    let place = Pose::at(DVec3::new(3.0, -2.0 + 0.6 * thickness, 0.0));
    let mesh = Mesh::cloth([1.0; 2], [32; 2]).placed(&place);
    let cloth = Deformable::new(mesh, Substance { thickness, ..WOVEN });
    world.add_deformable(cloth).unwrap();
    for _ in 0..20 {
        world.step().unwrap();
    }
    assert!(world.solved_contacts().len() > 500);
    let certificate = world.step().unwrap().certificate.unwrap();
    assert!(certificate.momentum_n_s < 1e-9, "{certificate:?}");
}
