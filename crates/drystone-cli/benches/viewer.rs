//! What the viewer adds to a step of ten thousand bodies: making the frame and encoding it.
//!
//! `cargo bench -p drystone-cli --bench viewer [-- BODIES]` drops bodies of three kinds, steps
//! them until they touch, and prints the mean processor time of a step, of its frame and of the
//! frame's bytes, on one thread, however busy the machine is (Linux). The page's side is measured in the browser: `crates/drystone-view/web/test/many.mjs`.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use drystone_scene::{AnyWorld, Scene};
use drystone_view::live::wire;

/// Steps before and while time is taken.
const BEFORE: u32 = 60;
const STEPS: u32 = 20;

/// Boxes, balls and capsules that fall side by side.
fn scene(bodies: usize) -> String {
    let side = ((bodies / 3) as f64).cbrt();
    let (wide, high) = (1.2 * side, 0.9 * side);
    let kind = |name: &str, shape: &str, seed: u32| {
        format!(
            "[[bodies]]\nname = \"{name}\"\n{shape}\nposition = [0, {}, 0]\n\
             repeat.random = {{ count = {}, region = [{wide}, {high}, {wide}], turned = true, \
             seed = {seed} }}\n",
            0.5 * high + 0.5,
            bodies / 3,
        )
    };
    format!(
        "dimension = 3\nstrategy = \"realtime\"\n[[bodies]]\nname = \"floor\"\nkind = \"fixed\"\n\
         shape.half_space.normal = [0, 1, 0]\n{}{}{}",
        kind("box", "shape.box.size = [0.4, 0.25, 0.3]", 1),
        kind("ball", "shape.ball.radius = 0.2", 2),
        kind("rod", "shape.capsule = { length = 0.3, radius = 0.12 }", 3),
    )
}

/// Processor time of this thread in s (Linux: the first number, in ns).
fn own_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    nanoseconds.map_or(f64::NAN, |ns: f64| 1e-9 * ns)
}

fn main() {
    let asked = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let bodies: usize = asked.unwrap_or(10_000);
    let scene = Scene::from_toml(&scene(bodies), "many").unwrap();
    let AnyWorld::Solid(mut world) = scene.build().unwrap() else {
        panic!("the scene is in space");
    };
    for _ in 0..BEFORE {
        world.step().unwrap();
    }
    let mut times = [0.0; 3];
    let (mut contacts, mut size) = (0, 0);
    for _ in 0..STEPS {
        let start = own_time();
        world.step().unwrap();
        let stepped = own_time();
        let frame = world.frame();
        let framed = own_time();
        let bytes = wire::frame(0, &frame, &[]);
        times[0] += stepped - start;
        times[1] += framed - stepped;
        times[2] += own_time() - framed;
        (contacts, size) = (frame.contacts.len(), bytes.len());
    }
    let ms = |time: f64| 1e3 * time / f64::from(STEPS);
    println!("{} bodies, {contacts} contacts", world.bodies().len());
    println!("step {:8.2} ms", ms(times[0]));
    println!("frame {:7.2} ms", ms(times[1]));
    println!(
        "bytes {:7.2} ms, {:.2} MB",
        ms(times[2]),
        1e-6 * size as f64
    );
}
