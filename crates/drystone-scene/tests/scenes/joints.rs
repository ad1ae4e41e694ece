//! Joints in scenes: what is written holds, and mistakes are named.

use drystone_scene::{AnyWorld, Scene, gallery};

/// The largest gap of a joint in a run of a scene of the gallery, m.
fn largest_gap(name: &str, steps: u32) -> f64 {
    let entry = gallery::find(name).unwrap();
    let AnyWorld::Solid(mut world) = entry.scene().unwrap().build().unwrap() else {
        panic!("{name} is in space");
    };
    let mut largest = 0.0_f64;
    for _ in 0..steps {
        world.step().unwrap();
        largest = largest.max(world.joint_error().0);
    }
    largest
}

#[test]
fn the_heavy_chain_opens_nowhere_by_more_than_a_millimetre() {
    let gap = largest_gap("heavy-chain", 720);
    assert!(gap < 1e-3, "{gap} m");
}

#[test]
fn the_rope_bridge_holds_under_its_blocks() {
    let gap = largest_gap("rope-bridge", 600);
    assert!(gap < 1e-3, "{gap} m");
}

fn error(joint: &str, strategy: &str) -> String {
    let text = format!(
        "dimension = 3\nstrategy = \"{strategy}\"\n\
         [[bodies]]\nname = \"post\"\nkind = \"fixed\"\nshape.ball.radius = 0.1\n\
         [[bodies]]\nname = \"bob\"\nshape.ball.radius = 0.1\nposition = [1, 0, 0]\n\
         [[joints]]\n{joint}\n"
    );
    let scene = Scene::from_toml(&text, "joint.toml").unwrap();
    match scene.build() {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn mistakes_in_joints_are_named() {
    let ball = "kind = \"ball\"\na = \"post\"\nb = \"bob\"";
    assert_eq!(error(ball, "realtime"), "");
    assert_eq!(error(ball, "velocity"), "");
    for (joint, strategy, word) in [
        (ball, "barrier", "`strategy = \"velocity\" or \"realtime\"`"),
        (
            "kind = \"ball\"\na = \"post\"\nb = \"bop\"",
            "realtime",
            "bop",
        ),
        ("kind = \"ball\"\na = \"post\"", "realtime", "two bodies"),
        ("kind = \"ball\"\nchain = \"link\"", "realtime", "link"),
        (
            "kind = \"ball\"\na = \"post\"\nb = \"bob\"\nlimits = [0, 1]",
            "realtime",
            "no effect",
        ),
        (
            "kind = \"spring\"\na = \"post\"\nb = \"bob\"",
            "realtime",
            "stiffness",
        ),
        (
            "kind = \"hinge\"\na = \"post\"\nb = \"bob\"\naxis = [0, 0, 0]",
            "realtime",
            "length",
        ),
        (
            "kind = \"hinge\"\na = \"post\"\nb = \"bob\"\nlimits = [90, -90]",
            "realtime",
            "limits",
        ),
    ] {
        let message = error(joint, strategy);
        assert!(message.contains(word), "{joint}: {message}");
    }
}

const SOFT: &str = "[[deformables]]\nname = \"cloth\"\nposition = [0, 3, 0]\n\
                    shape.cloth = { size = [1, 1], cells = [4, 4] }\n";
const BALL: &str = "kind = \"ball\"\na = \"post\"\nb = \"bob\"\n";
const LOOSE: &str = "name = \"gimbal\"\nkind = \"axes\"\na = \"post\"\nb = \"bob\"\n\
                     linear = [{ free = true }, { free = true }, { free = true }]\n";

/// A scene with a joint and a cloth.
fn mixed(strategy: &str, joint: &str) -> Scene {
    let text = format!(
        "dimension = 3\n{strategy}\n\
         [[bodies]]\nname = \"post\"\nkind = \"fixed\"\nshape.ball.radius = 0.1\n\
         [[bodies]]\nname = \"bob\"\nshape.ball.radius = 0.1\nposition = [1, 0, 0]\n\
         [[joints]]\n{joint}{SOFT}"
    );
    Scene::from_toml(&text, "mixed.toml").unwrap()
}

#[test]
fn joints_and_deformables_are_stepped_by_velocity_unasked() {
    let scene = mixed("", BALL);
    assert_eq!(scene.strategy_name(), "velocity");
    let mut world = scene.build().unwrap();
    for _ in 0..10 {
        world.step().unwrap();
    }
    assert!(mixed("strategy = \"velocity\"", BALL).build().is_ok());
}

#[test]
fn remedies_are_strategies_that_serve_the_scene() {
    for (strategy, about) in [
        ("realtime", "deformables (`cloth`)"),
        ("barrier", "joints (`joint 0`)"),
        ("penalty", "joints (`joint 0`)"),
    ] {
        let scene = mixed(&format!("strategy = \"{strategy}\""), BALL);
        let error = scene.build().unwrap_err().to_string();
        let remedy = "write `strategy = \"velocity\"` at the top";
        assert!(error.contains(about) && error.contains(remedy), "{error}");
    }
    let error = error(LOOSE, "velocity");
    assert!(
        error.contains("`gimbal`") && error.contains("joints[0]"),
        "{error}"
    );
    assert!(error.contains("write `strategy = \"realtime\"`"), "{error}");
    let error = mixed("", LOOSE).build().unwrap_err().to_string();
    assert!(error.contains("no strategy serves"), "{error}");
}

#[test]
fn the_swing_stays_on_its_hooks_and_the_jelly_on_the_seat() {
    let entry = gallery::find("swing").unwrap();
    let AnyWorld::Solid(mut world) = entry.scene().unwrap().build().unwrap() else {
        panic!("it is in space");
    };
    let mut largest = (0.0_f64, 0.0_f64);
    for _ in 0..960 {
        world.step().unwrap();
        let (gap, angle) = world.joint_error();
        largest = (largest.0.max(gap), largest.1.max(angle));
    }
    assert!(largest.0 < 1e-3, "{largest:?}");
    let bodies = world.bodies();
    let seat = world.pose(world.body("seat").unwrap()).unwrap();
    let of_jelly = |k: &usize| bodies.name(*k).starts_with("jelly/");
    let nodes: Vec<usize> = (0..bodies.len()).filter(of_jelly).collect();
    assert!(!nodes.is_empty());
    for k in nodes {
        let at = bodies.origin(k).position - seat.position;
        assert!(at.length() < 0.6, "{at}");
    }
}
