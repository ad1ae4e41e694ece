//! Masses, places and inertias of MJCF models are those of MuJoCo.
//!
//! `tests/models/mjcf/expected.txt` is what MuJoCo 4.0.0 made of the models beside it, written by
//! `expected.py` there. With a Python that has `mujoco` in `DRYSTONE_MUJOCO_PYTHON`, MuJoCo is
//! asked again.

use std::path::PathBuf;
use std::process::Command;

use drystone::glam::DVec3;
use drystone_scene::import::{ImportOptions, Imported, import};
use drystone_scene::schema::{Body, Inertia, Kind};

use crate::common::model;

fn folder() -> PathBuf {
    model("mjcf")
}

fn read(file: &str) -> Imported {
    import(&folder().join(file), &ImportOptions::default()).unwrap()
}

/// A line of the table: file, body, mass (kg), place (m), trace of the inertia (kg·m²).
struct Row {
    file: String,
    body: String,
    numbers: [f64; 5],
}

fn rows(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers: Vec<f64> = words[2..]
            .iter()
            .map(|word| word.parse().unwrap())
            .collect();
        Row {
            file: words[0].to_owned(),
            body: words[1].to_owned(),
            numbers: numbers.try_into().unwrap(),
        }
    };
    text.lines().map(row).collect()
}

/// What the scene has of the same body, with z up.
fn numbers(body: &Body) -> [f64; 5] {
    let given = body.mass_properties.as_ref().unwrap();
    let place = body.position.clone().unwrap_or(vec![0.0; 3]);
    let Inertia::Solid(inertia) = &given.inertia else {
        panic!("an inertia in space");
    };
    let trace = inertia[0] + inertia[1] + inertia[2];
    [given.mass, place[0], -place[2], place[1], trace]
}

#[test]
fn masses_places_and_inertias_are_those_of_mujoco() {
    let expected = std::fs::read_to_string(folder().join("expected.txt")).unwrap();
    let rows = rows(&expected);
    assert!(rows.len() > 60);
    let mut files: Vec<&str> = rows.iter().map(|row| row.file.as_str()).collect();
    files.dedup();
    for file in files {
        let scene = read(file).scene;
        let own: Vec<&Row> = rows.iter().filter(|row| row.file == file).collect();
        let moves = |body: &&Body| body.kind == Kind::Rigid;
        let bodies: Vec<&Body> = scene.bodies.iter().filter(moves).collect();
        assert_eq!(bodies.len(), own.len(), "bodies of {file} that move");
        for row in own {
            let named = |body: &&&Body| body.name.as_deref() == Some(&row.body);
            let body = bodies.iter().find(named);
            let found = numbers(body.unwrap_or_else(|| panic!("no {} in {file}", row.body)));
            // The table has twelve digits, and MuJoCo keeps vertices in single precision.
            for (at, (found, expected)) in found.iter().zip(row.numbers).enumerate() {
                let error = (found - expected).abs() / expected.abs().max(1.0);
                let what = ["mass", "x", "y", "z", "inertia"][at];
                assert!(
                    error < 1e-7,
                    "{file}, {}: {what} is {found}, not {expected}",
                    row.body
                );
            }
        }
        scene.build().unwrap();
    }
}

#[test]
fn mujoco_says_what_is_written_down() {
    let Ok(python) = std::env::var("DRYSTONE_MUJOCO_PYTHON") else {
        eprintln!("not asked: `pip install mujoco`, and its Python in DRYSTONE_MUJOCO_PYTHON");
        return;
    };
    // MuJoCo writes its warnings into a file where it is run.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = Command::new(python);
    command
        .arg(folder().join("expected.py"))
        .current_dir(elsewhere.path());
    let output = command.output().unwrap();
    let says = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let written = std::fs::read_to_string(folder().join("expected.txt")).unwrap();
    for (now, then) in rows(&says).iter().zip(rows(&written)) {
        assert_eq!((&now.file, &now.body), (&then.file, &then.body));
        for (now, then) in now.numbers.iter().zip(then.numbers) {
            assert!(
                (now - then).abs() <= 1e-9 * then.abs().max(1.0),
                "{now} {then}"
            );
        }
    }
    assert_eq!(rows(&says).len(), rows(&written).len());
}

/// The arm may turn from −4 to 1 rad: beyond half a turn, so its limits count from their middle.
#[test]
fn ranges_beyond_half_a_turn_hold_where_the_model_says() {
    let mut scene = read("include.xml").scene;
    let joint = scene
        .joints
        .iter()
        .find(|joint| joint.name.as_deref() == Some("shoulder"));
    let limits = joint.unwrap().limits.unwrap();
    let half = (2.5_f64).to_degrees();
    assert!(
        (limits[0] + half).abs() < 1e-9 && (limits[1] - half).abs() < 1e-9,
        "{limits:?}"
    );
    // The base is held, and the arm falls by its weight about +y, to at most 1 rad.
    scene.gravity = Some(vec![0.0, -9.81, 0.0]);
    for body in &mut scene.bodies {
        if body.name.as_deref() == Some("base") {
            body.kind = Kind::Fixed;
            body.mass_properties = None;
        }
        (body.groups, body.meets) = (Some(Vec::new()), Some(Vec::new()));
    }
    let mut world = crate::common::solid(&scene);
    let (arm, mut most, mut last) = (world.body("arm").unwrap(), 0.0_f64, 0.0);
    let start = world.pose(arm).unwrap().rotation;
    for _ in 0..240 {
        world.step().unwrap();
        let turned = world.pose(arm).unwrap().rotation * start.conjugate();
        let angle = 2.0 * DVec3::new(turned.x, turned.y, turned.z).length().asin();
        most = most.max(angle);
        last = angle;
    }
    // Its weight presses it against the end, into which it runs a little as it falls.
    assert!((last - 1.0).abs() < 0.01, "the arm rests at {last} rad");
    assert!(most < 1.05, "the arm turns by {most} rad");
}

#[test]
fn what_no_code_asks_for_is_listed_with_place_and_effect() {
    let text = r#"<mujoco model="m">
        <option timestep="0.001"><flag contact="enable" warmstart="disable"/></option>
        <default><geom solref="0.01 1" rgba="1 0 0 1"/><motor ctrlrange="0 1"/></default>
        <worldbody>
          <light pos="0 0 1"/>
          <body name="a"><freejoint/><geom size="1" sparkle="2"/><wobble/></body>
          <body name="b"><joint armature="3"/><geom size="1"/></body>
        </worldbody>
        <future thing="1"/>
        </mujoco>"#;
    let imported = crate::common::import_bytes("m.xml", text.as_bytes()).unwrap();
    let found = |what: &str| {
        let named = |unread: &&drystone_scene::import::Unread| unread.what.contains(what);
        let unread = imported.unread.iter().find(named);
        unread.unwrap_or_else(|| panic!("{what} in {:?}", imported.unread))
    };
    for (what, place, words) in [
        ("`sparkle`", "line 6", "changes motion"),
        ("`wobble`", "line 6", "changes motion"),
        ("`armature`", "line 7", "changes motion"),
        ("`solref`", "line 3", "changes motion"),
        ("`rgba`", "line 3", "changes looks"),
        ("`light`", "line 5", "changes looks"),
        ("`warmstart`", "line 2", "changes motion"),
        ("`timestep`", "line 2", "changes motion"),
        ("`future`", "line 9", "changes motion"),
    ] {
        let unread = found(what);
        assert_eq!(unread.place, place, "{unread}");
        assert_eq!(unread.effect.words(), words, "{unread}");
    }
    // A default of what is not there is no difference.
    assert!(
        !imported
            .unsupported
            .iter()
            .any(|what| what.contains("ctrlrange"))
    );
}

#[test]
fn includes_that_go_in_circles_are_errors_that_name_the_circle() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.xml", "<mujoco><include file=\"b.xml\"/></mujoco>");
    write("b.xml", "<mujoco><include file=\"c.xml\"/></mujoco>");
    write("c.xml", "<mujoco><include file=\"./b.xml\"/></mujoco>");
    let error = import(&folder.path().join("a.xml"), &ImportOptions::default()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("c.xml:1") && error.contains("includes itself"),
        "{error}"
    );
    write(
        "d.xml",
        "<mujoco><asset><model name=\"m\" file=\"d.xml\"/></asset></mujoco>",
    );
    let error = import(&folder.path().join("d.xml"), &ImportOptions::default()).unwrap_err();
    assert!(error.to_string().contains("includes itself"), "{error}");
    write("e.xml", "<mujoco><include file=\"none.xml\"/></mujoco>");
    let error = import(&folder.path().join("e.xml"), &ImportOptions::default()).unwrap_err();
    assert!(error.to_string().contains("none.xml"), "{error}");
}

#[test]
fn a_model_of_which_nothing_moves_is_an_error() {
    let text = r#"<mujoco><worldbody><body>
        <flexcomp name="f" type="grid" count="3 3 3"/></body></worldbody></mujoco>"#;
    let error = crate::common::import_bytes("m.xml", text.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("flexcomp"), "{error}");
}

#[test]
fn copies_of_copies_are_refused_before_they_fill_the_memory() {
    let mut text = "<geom size=\"1\"/>".to_owned();
    for _ in 0..12 {
        text = format!("<replicate count=\"1000\">{text}</replicate>");
    }
    let text = format!("<mujoco><worldbody>{text}</worldbody></mujoco>");
    let error = crate::common::import_bytes("m.xml", text.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("elements"), "{error}");
}

#[test]
fn flags_switch_off_weight_and_contacts() {
    let text = r#"<mujoco><option gravity="0 0 -5"><flag gravity="disable" contact="disable"/></option>
        <worldbody><geom type="plane" size="1 1 1"/>
        <body name="a" pos="0 0 0.05"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"#;
    let scene = crate::common::import_bytes("m.xml", text.as_bytes())
        .unwrap()
        .scene;
    let mut world = crate::common::solid(&scene);
    for _ in 0..10 {
        world.step().unwrap();
    }
    let y = world.pose(world.body("a").unwrap()).unwrap().position.y;
    assert!((y - 0.05).abs() < 1e-12, "{y}");
}
