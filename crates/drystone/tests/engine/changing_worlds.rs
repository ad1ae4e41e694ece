//! Bodies that come and go, who meets whom, and what a step tells about it.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use drystone::glam::{DVec2, DVec3};
use drystone::world::query::{Filter, Ray};
use drystone::{
    Body, BodyId, D3, Encounter, Event, Groups, Hooks, Material, Realtime, Script, Settings,
    Shape2, Shape3, Space, Strategy, World, World2, World3,
};

fn strategies() -> [Strategy; 2] {
    [Strategy::Velocity, Strategy::Realtime(Realtime::default())]
}

fn settings<S: Space>(strategy: Strategy) -> Settings<S> {
    Settings {
        dt: strategy.usual_dt(),
        strategy,
        events: true,
        ..Settings::default()
    }
}

fn run<S: Space>(world: &mut World<S>, seconds: f64) -> Vec<Event<S>> {
    let mut events = Vec::new();
    for _ in 0..(seconds / world.settings().dt).round() as u32 {
        world.step().unwrap();
        events.extend_from_slice(world.events());
    }
    events
}

fn floor(world: &mut World3) -> BodyId {
    let body = Body::fixed(Shape3::half_space(DVec3::Y).unwrap());
    world.add(body.named("floor")).unwrap()
}

fn cube(world: &mut World3, at: DVec3) -> BodyId {
    let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    world.add(Body::rigid(shape).at(at)).unwrap()
}

fn height(world: &World3, id: BodyId) -> f64 {
    world.pose(id).unwrap().position.y
}

#[test]
fn a_stone_falls_when_the_one_below_is_taken_away() {
    for strategy in strategies() {
        let mut world = World3::new(settings(strategy)).unwrap();
        floor(&mut world);
        let lower = cube(&mut world, DVec3::new(0.0, 0.5, 0.0));
        let upper = cube(&mut world, DVec3::new(0.0, 1.5, 0.0));
        run(&mut world, 2.0);
        assert!((height(&world, upper) - 1.5).abs() < 0.01);
        world.remove(lower).unwrap();
        run(&mut world, 2.0);
        assert!((height(&world, upper) - 0.5).abs() < 0.02, "{strategy:?}");
    }
}

#[test]
fn the_name_of_a_removed_body_names_nothing_even_when_its_place_is_taken() {
    let mut world = World3::reference();
    let first = cube(&mut world, DVec3::ZERO);
    world.remove(first).unwrap();
    assert!(world.remove(first).is_err());
    let second = cube(&mut world, DVec3::ONE);
    assert_eq!(first.index(), second.index());
    assert_ne!(first, second);
    assert!(world.pose(first).is_none() && world.motion(first).is_none());
    assert!(world.add_force(first, DVec3::X, DVec3::ZERO).is_err());
    assert!(world.pose(second).is_some());
    assert_eq!(world.body("body 0"), Some(second));
}

#[test]
fn removed_bodies_are_not_found_by_queries_nor_drawn() {
    let mut world = World3::reference();
    let ball = world.add(Body::fixed(Shape3::ball(1.0).unwrap())).unwrap();
    let ray = Ray::new(DVec3::new(0.0, 5.0, 0.0), DVec3::NEG_Y);
    assert!(world.cast_ray(&ray, &Filter::all()).unwrap().is_some());
    world.remove(ball).unwrap();
    assert!(world.cast_ray(&ray, &Filter::all()).unwrap().is_none());
    assert!(world.signed_distance(DVec3::ZERO).is_none());
    assert!(world.stage().objects[0].parts.is_empty());
}

#[test]
fn bodies_may_come_and_go_in_any_order() {
    for strategy in strategies() {
        let mut world = World3::new(settings(strategy)).unwrap();
        floor(&mut world);
        let mut alive = Vec::new();
        for k in 0..60_u32 {
            let at = DVec3::new(f64::from(k % 5), 1.0 + f64::from(k % 7), f64::from(k % 3));
            alive.push(cube(&mut world, at));
            if k % 3 == 2 {
                let taken = alive.swap_remove((7 * k as usize) % alive.len());
                world.remove(taken).unwrap();
            }
            world.step().unwrap();
        }
        run(&mut world, 3.0);
        for &id in &alive {
            assert!(height(&world, id) > 0.4, "{strategy:?}");
        }
    }
}

#[test]
fn groups_decide_who_meets_whom() {
    for strategy in strategies() {
        let mut world = World3::new(settings(strategy)).unwrap();
        floor(&mut world);
        let shape = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
        let ghost = Body::rigid(shape.clone())
            .at(DVec3::new(0.0, 3.0, 0.0))
            .in_groups(0b10, 0b01);
        let ghost = world.add(ghost).unwrap();
        let table = Body::fixed(shape)
            .at(DVec3::new(0.0, 0.5, 0.0))
            .in_groups(0b10, u32::MAX);
        world.add(table).unwrap();
        run(&mut world, 2.0);
        assert!((height(&world, ghost) - 0.5).abs() < 0.02, "{strategy:?}");
        // From now on it does not even meet the floor.
        world
            .set_groups(
                ghost,
                Groups {
                    member: 0b10,
                    meets: 0,
                },
            )
            .unwrap();
        run(&mut world, 1.0);
        assert!(height(&world, ghost) < -2.0, "{strategy:?}");
    }
}

#[test]
fn a_sensor_tells_who_comes_and_goes_and_touches_nobody() {
    for strategy in strategies() {
        let mut world = World2::new(Settings {
            gravity: DVec2::ZERO,
            ..settings(strategy)
        })
        .unwrap();
        let gate = Body::fixed(Shape2::cuboid(DVec2::new(0.5, 2.0)).unwrap()).as_sensor();
        let gate = world.add(gate).unwrap();
        let ball = Body::rigid(Shape2::ball(0.1).unwrap())
            .at(DVec2::new(-2.0, 0.0))
            .moving(DVec2::new(2.0, 0.0));
        let ball = world.add(ball).unwrap();
        let events = run(&mut world, 2.0);
        let expected = [
            Event::SensorEntered {
                sensor: gate,
                body: ball,
            },
            Event::SensorLeft {
                sensor: gate,
                body: ball,
            },
        ];
        assert_eq!(events, expected, "{strategy:?}");
        assert_eq!(world.motion(ball).unwrap().linear, DVec2::new(2.0, 0.0));
    }
}

#[test]
fn contacts_begin_and_end_and_tell_their_impulse() {
    for strategy in strategies() {
        let mut world = World3::new(settings(strategy)).unwrap();
        world
            .materials
            .set_default(Material {
                restitution: 0.0,
                ..Material::default()
            })
            .unwrap();
        let floor = floor(&mut world);
        let ball = Body::rigid(Shape3::ball(0.5).unwrap())
            .at(DVec3::new(0.0, 1.0, 0.0))
            .with_mass(2.0);
        let ball = world.add(ball).unwrap();
        let events = run(&mut world, 1.0);
        assert_eq!(events.len(), 1, "{strategy:?}: {events:?}");
        let Event::ContactBegan {
            a,
            b,
            impulse,
            point,
        } = events[0]
        else {
            panic!("{events:?}");
        };
        assert_eq!((a, b), (floor, ball));
        assert!(point.length() < 0.05, "{point}");
        // It fell half a metre: m √(2 g h), less what is left of the step it stops in. The real-time
        // strategy closes the gap first and stops the ball in the step after.
        let expected = 2.0 * (2.0_f64 * 9.81 * 0.5).sqrt();
        let least = match strategy {
            Strategy::Realtime(_) => 0.2,
            _ => 0.8,
        };
        let part = impulse.y / expected;
        assert!(part > least && part < 1.2, "{strategy:?}: {impulse}");
        world.remove(floor).unwrap();
        let events = run(&mut world, 0.1);
        assert_eq!(events.len(), 1, "{events:?}");
        assert!(matches!(events[0], Event::ContactEnded { .. }));
    }
}

#[test]
fn a_belt_carries_a_box_at_its_speed() {
    for strategy in strategies() {
        let mut world = World3::new(settings(strategy)).unwrap();
        let mut belt = Body::fixed(Shape3::cuboid(DVec3::new(20.0, 0.5, 2.0)).unwrap());
        belt.surface_velocity = DVec3::new(1.5, 0.0, 0.5);
        world.add(belt).unwrap();
        let load = cube(&mut world, DVec3::new(0.0, 1.0, 0.0));
        run(&mut world, 1.5);
        let moving = world.motion(load).unwrap().linear;
        let expected = DVec3::new(1.5, 0.0, 0.5);
        assert!(
            (moving - expected).length() < 0.01,
            "{strategy:?}: {moving}"
        );
        let certificate = world.step().unwrap().certificate.unwrap();
        assert!(certificate.residual_m_s < 0.02, "{certificate:?}");
        assert!(certificate.energy_made_j < 0.1, "{certificate:?}");
    }
}

#[test]
fn a_box_accelerates_on_a_belt_by_friction_alone() {
    let mut world = World3::new(settings(Strategy::Velocity)).unwrap();
    world
        .materials
        .set_default(Material {
            friction: 0.3,
            ..Material::default()
        })
        .unwrap();
    let mut belt = Body::fixed(Shape3::half_space(DVec3::Y).unwrap());
    belt.surface_velocity = DVec3::new(-5.0, 0.0, 0.0);
    world.add(belt).unwrap();
    let load = cube(&mut world, DVec3::new(0.0, 0.5, 0.0));
    run(&mut world, 1.0);
    let speed = world.motion(load).unwrap().linear.x;
    assert!((speed + 0.3 * 9.81).abs() < 0.05, "{speed}");
}

#[test]
fn a_one_way_platform_holds_from_above_and_lets_through_from_below() {
    for strategy in strategies() {
        let mut world = World2::new(settings(strategy)).unwrap();
        let mut platform = Body::fixed(Shape2::cuboid(DVec2::new(2.0, 0.05)).unwrap());
        platform.one_way = Some(DVec2::Y);
        world.add(platform).unwrap();
        let jumper = Body::rigid(Shape2::cuboid(DVec2::splat(0.2)).unwrap())
            .at(DVec2::new(0.0, -1.0))
            .moving(DVec2::new(0.0, 6.5));
        let jumper = world.add(jumper).unwrap();
        let mut highest = f64::NEG_INFINITY;
        for _ in 0..(3.0 / world.settings().dt) as u32 {
            world.step().unwrap();
            highest = highest.max(world.pose(jumper).unwrap().position.y);
        }
        assert!(highest > 1.0, "{strategy:?}: {highest}");
        let y = world.pose(jumper).unwrap().position.y;
        assert!((y - 0.25).abs() < 0.01, "{strategy:?}: {y}");
    }
}

struct Slippery(BodyId);

impl Hooks<D3> for Slippery {
    fn modify(&self, encounter: &mut Encounter<'_, D3>) {
        if encounter.a == self.0 || encounter.b == self.0 {
            encounter.surface.friction = 0.0;
        }
    }
}

struct Apart(BodyId, BodyId);

impl Hooks<D3> for Apart {
    fn allows(&self, a: BodyId, b: BodyId) -> bool {
        (a, b) != (self.0, self.1)
    }
}

#[test]
fn a_program_may_change_contacts_and_forbid_them() {
    for strategy in strategies() {
        let mut world = World3::new(settings(strategy)).unwrap();
        let floor = floor(&mut world);
        let (one, other) = (
            cube(&mut world, DVec3::new(0.0, 0.5, 0.0)),
            cube(&mut world, DVec3::new(5.0, 0.5, 0.0)),
        );
        world.set_hooks(Some(Arc::new(Slippery(one))));
        let push = drystone::Motion {
            linear: DVec3::new(0.0, 0.0, 3.0),
            spin: DVec3::ZERO,
        };
        world.set_motion(one, push).unwrap();
        world.set_motion(other, push).unwrap();
        run(&mut world, 1.0);
        let speed = |id| world.motion(id).unwrap().linear.z;
        assert!(
            (speed(one) - 3.0).abs() < 0.05,
            "{strategy:?}: {}",
            speed(one)
        );
        assert!(speed(other).abs() < 0.05, "{strategy:?}: {}", speed(other));
        world.set_hooks(Some(Arc::new(Apart(floor, other))));
        run(&mut world, 1.0);
        assert!(height(&world, other) < -2.0);
        assert!(height(&world, one) > 0.45);
    }
}

#[test]
fn a_platform_carries_what_stands_on_it() {
    for strategy in strategies() {
        let mut world = World3::new(settings(strategy)).unwrap();
        let shape = Shape3::cuboid(DVec3::new(2.0, 0.1, 2.0)).unwrap();
        let script = Script::Steady {
            velocity: DVec3::new(0.5, 0.2, 0.0),
            spin: DVec3::ZERO,
        };
        world.add(Body::kinematic(shape, script)).unwrap();
        let rider = cube(&mut world, DVec3::new(0.0, 0.6, 0.0));
        run(&mut world, 4.0);
        let at = world.pose(rider).unwrap().position;
        let expected = DVec3::new(2.0, 0.6 + 0.8, 0.0);
        assert!((at - expected).length() < 0.05, "{strategy:?}: {at}");
    }
}

#[test]
fn ten_thousand_kilometres_away_a_stack_stands_as_at_the_origin() {
    for strategy in strategies() {
        let far = DVec3::new(1e7, 0.0, -1e7);
        let mut world = World3::new(settings(strategy)).unwrap();
        floor(&mut world);
        let mut top = None;
        for k in 0..5 {
            let at = far + DVec3::new(0.0, 0.5 + f64::from(k), 0.0);
            top = Some(cube(&mut world, at));
        }
        run(&mut world, 3.0);
        let moved = world.pose(top.unwrap()).unwrap().position - far;
        let expected = DVec3::new(0.0, 4.5, 0.0);
        assert!((moved - expected).length() < 5e-3, "{strategy:?}: {moved}");
    }
}
