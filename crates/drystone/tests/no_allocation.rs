//! A settled step of the real-time strategy asks for no memory.
//!
//! Alone in its program, since it counts what every thread of it allocates.

#![allow(missing_docs, clippy::unwrap_used, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use drystone::glam::DVec3;
use drystone::{Body, Joint, Realtime, Settings, Shape3, Strategy, World3};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn world() -> World3 {
    World3::new(Settings {
        dt: 1.0 / 60.0,
        strategy: Strategy::Realtime(Realtime {
            sleep_after: 0.0,
            ..Realtime::default()
        }),
        certify_every: 0,
        threads: 1,
        ..Settings::default()
    })
    .unwrap()
}

fn allocations_of_a_step(world: &mut World3, warm_up: u32) -> u64 {
    for _ in 0..warm_up {
        world.step().unwrap();
    }
    let mut most = 0;
    for _ in 0..10 {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        world.step().unwrap();
        most = most.max(ALLOCATIONS.load(Ordering::Relaxed) - before);
    }
    most
}

fn wall() -> World3 {
    let mut world = world();
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    world.add(Body::fixed(floor)).unwrap();
    let block = Shape3::cuboid(DVec3::splat(0.5)).unwrap();
    for row in 0..5 {
        for column in 0..(5 - row) {
            let x = f64::from(column) + 0.5 * f64::from(row);
            let at = DVec3::new(x, 0.5 + f64::from(row), 0.0);
            world.add(Body::rigid(block.clone()).at(at)).unwrap();
        }
    }
    world
}

fn hanging_chain() -> World3 {
    let mut world = world();
    let link = Shape3::ball(0.1).unwrap();
    let mut last = world.add(Body::fixed(link.clone())).unwrap();
    for k in 1..=20 {
        let at = DVec3::new(0.0, -0.3 * f64::from(k), 0.0);
        let next = world.add(Body::rigid(link.clone()).at(at)).unwrap();
        let middle = at + DVec3::new(0.0, 0.15, 0.0);
        world.join(Joint::ball(last, next).at(middle)).unwrap();
        last = next;
    }
    world
}

/// Links that lie on a floor.
fn lying_chain() -> World3 {
    let mut world = world();
    let floor = Shape3::half_space(DVec3::Y).unwrap();
    world.add(Body::fixed(floor)).unwrap();
    let link = Shape3::ball(0.1).unwrap();
    let mut last = None;
    for k in 0..20 {
        let at = DVec3::new(0.3 * f64::from(k), 0.1, 0.0);
        let next = world.add(Body::rigid(link.clone()).at(at)).unwrap();
        if let Some(last) = last {
            let middle = at - DVec3::new(0.15, 0.0, 0.0);
            world.join(Joint::ball(last, next).at(middle)).unwrap();
        }
        last = Some(next);
    }
    world
}

/// One test, so that no other thread allocates meanwhile.
#[test]
fn a_settled_step_allocates_nothing() {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let mut worlds = [
        ("wall", wall()),
        ("chain", hanging_chain()),
        ("chain on the floor", lying_chain()),
    ];
    assert!(
        ALLOCATIONS.load(Ordering::Relaxed) > before,
        "nothing is counted"
    );
    for (name, world) in &mut worlds {
        let count = allocations_of_a_step(world, 300);
        assert_eq!(count, 0, "a step of the {name} allocates {count} times");
    }
}
