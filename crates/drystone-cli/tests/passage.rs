//! What the program says about passing through deformables.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{FLAT, fail, folder_with, report, succeed};

const CLOTH: &str = r#"
dimension = 3
seconds = 0.3
dt = 0.01

[[bodies]]
name = "ball"
position = [0.02, 0.15, 0.03]
shape.ball.radius = 0.03

[[deformables]]
name = "cloth"
shape.cloth = { size = [1, 1], cells = [5, 5] }
thickness = 0.02
young = 4e5
density = 100
pinned = ["border"]
"#;

#[test]
fn every_step_is_judged() {
    let (folder, _) = folder_with("cloth.toml", CLOTH);
    let text = succeed(folder.path(), &["check", "cloth.toml", "--intersections"]);
    assert!(text.contains("no intersection in 31 states"), "{text}");
    assert!(text.contains("never nearer than"), "{text}");
    let text = succeed(folder.path(), &["run", "cloth.toml"]);
    assert!(text.contains("no intersection in 30 states"), "{text}");
    let report = report(folder.path(), &["cloth.toml"]);
    assert_eq!(report["intersections"], 0);
    let nearest = report["min_distance_m"].as_f64().unwrap();
    // Half of the thickness between the cloth's middle and the ball, less what a contact gives.
    assert!((0.008..0.0105).contains(&nearest), "{nearest}");

    let (folder, _) = folder_with("flat.toml", FLAT);
    let text = succeed(folder.path(), &["check", "flat.toml", "--intersections"]);
    assert!(text.contains("no deformables"), "{text}");
}

#[test]
fn a_start_that_intersects_is_refused_with_the_names() {
    let crossing = CLOTH.replace("0.15, 0.03", "0.01, 0.03");
    let (folder, _) = folder_with("cut.toml", &crossing);
    let message = fail(folder.path(), &["check", "cut.toml"], 1);
    assert!(
        message.contains("`ball`") && message.contains("cloth/"),
        "{message}"
    );
    assert!(message.contains("intersect at the start"), "{message}");
}

#[test]
fn scripts_that_leave_no_room_are_infeasible() {
    let press = CLOTH.replace(
        "shape.ball.radius = 0.03",
        "shape.ball.radius = 0.03\n\n[[bodies]]\nname = \"press\"\nkind = \"kinematic\"\n\
         position = [0, 0.5, 0]\nshape.box.size = [2, 0.2, 2]\n\
         script.steady.velocity = [0, -3, 0]\n\n[[bodies]]\nname = \"table\"\nkind = \"fixed\"\n\
         position = [0, -0.2, 0]\nshape.box.size = [2, 0.2, 2]",
    );
    let press = press.replace("pinned = [\"border\"]", "");
    let (folder, _) = folder_with("press.toml", &press);
    let message = fail(folder.path(), &["run", "press.toml"], 1);
    assert!(message.contains("infeasible: "), "{message}");
    assert!(message.contains("cloth/"), "{message}");
}
