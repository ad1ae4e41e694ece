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
    assert_eq!(error(ball, "substep"), "");
    for (joint, strategy, word) in [
        (ball, "velocity", "substep"),
        (
            "kind = \"ball\"\na = \"post\"\nb = \"bop\"",
            "substep",
            "bop",
        ),
        ("kind = \"ball\"\na = \"post\"", "substep", "two bodies"),
        ("kind = \"ball\"\nchain = \"link\"", "substep", "link"),
        (
            "kind = \"ball\"\na = \"post\"\nb = \"bob\"\nlimits = [0, 1]",
            "substep",
            "no effect",
        ),
        (
            "kind = \"spring\"\na = \"post\"\nb = \"bob\"",
            "substep",
            "stiffness",
        ),
        (
            "kind = \"hinge\"\na = \"post\"\nb = \"bob\"\naxis = [0, 0, 0]",
            "substep",
            "length",
        ),
        (
            "kind = \"hinge\"\na = \"post\"\nb = \"bob\"\nlimits = [90, -90]",
            "substep",
            "limits",
        ),
    ] {
        let message = error(joint, strategy);
        assert!(message.contains(word), "{joint}: {message}");
    }
}
