//! URDF robots as scenes.

use crate::common::{import_bytes, model, period, solid};
use drystone_scene::Scene;
use drystone_scene::import::{ImportOptions, import};
use drystone_scene::schema::{Inertia, JointKind, Kind};

#[test]
fn the_arm_is_understood_and_the_rest_is_listed() {
    let imported = import(&model("arm.urdf"), &ImportOptions::default()).unwrap();
    let scene = &imported.scene;
    assert_eq!(scene.name, "arm");
    let kinds: Vec<_> = scene.bodies.iter().map(|body| body.kind).collect();
    assert_eq!(kinds, [Kind::Fixed, Kind::Rigid]);
    let shoulder = &scene.joints[0];
    assert_eq!(shoulder.kind, JointKind::Hinge);
    let [lower, upper] = shoulder.limits.unwrap();
    assert!((lower + 85.943_669_269_623_48).abs() < 1e-9 && lower == -upper);
    // z up became y up.
    let at = shoulder.at.as_deref().unwrap();
    assert!(
        at[0] == 0.0 && (at[1] - 2.0).abs() < 1e-15 && at[2].abs() < 1e-15,
        "{at:?}"
    );
    let listed = imported.unsupported.join("\n");
    for what in ["visual", "transmission", "effort", "velocity"] {
        assert!(listed.contains(what), "{what} is missing in {listed}");
    }
}

/// Of the arm with its hand about their common centre.
#[test]
fn fixed_links_are_one_body_with_the_mass_of_both() {
    let imported = import(&model("arm.urdf"), &ImportOptions::default()).unwrap();
    let given = imported.scene.bodies[1].mass_properties.clone().unwrap();
    assert!((given.mass - 3.0).abs() < 1e-15);
    // (2 · 0.5 + 1 · 1)/3 below the shoulder.
    let center = given.center.unwrap();
    assert!((center[2] + 2.0 / 3.0).abs() < 1e-15, "{center:?}");
    let Inertia::Solid(inertia) = given.inertia else {
        panic!("an inertia in space");
    };
    let expected = 0.17 + 2.0 / 36.0 + 0.01 + 1.0 / 9.0;
    assert!((inertia[0] - expected).abs() < 1e-15, "{inertia:?}");
    assert!((inertia[2] - 0.02).abs() < 1e-15, "{inertia:?}");
}

/// T = 2π √(I/(m g d)) about the shoulder, and 0.05 rad make it longer by θ²/16 only.
#[test]
fn the_arm_swings_with_the_period_of_its_inertia() {
    let mut scene: Scene = import(&model("arm.urdf"), &ImportOptions::default())
        .unwrap()
        .scene;
    scene.dt = Some(1.0 / 480.0);
    let mut world = solid(&scene);
    let arm = world.body("upper").unwrap();
    // The direction in which it hangs is its −z.
    let measured = period(&mut world, |world| {
        let pose = world.pose(arm).unwrap();
        (pose.rotation * drystone::glam::DVec3::Z).z
    });
    let about_shoulder: f64 = 0.17 + 2.0 * 0.25 + 0.01 + 1.0;
    let expected = std::f64::consts::TAU * (about_shoulder / (3.0 * 9.81 * (2.0 / 3.0))).sqrt();
    let error = (measured / expected - 1.0).abs();
    assert!(error < 5e-3, "{measured} s instead of {expected} s");
}

#[test]
fn the_scene_can_be_written_and_read_again() {
    let imported = import(&model("arm.urdf"), &ImportOptions::default()).unwrap();
    let text = imported.scene.to_toml().unwrap();
    let mut again = Scene::from_toml(&text, "arm.toml").unwrap();
    again.source = imported.scene.source.clone();
    assert_eq!(again, imported.scene);
}

fn robot(inside: &str) -> String {
    format!("<robot name=\"r\">\n{inside}\n</robot>")
}

#[test]
fn broken_robots_are_errors_with_line_and_column() {
    let link = "<link name=\"a\"/>";
    let joint = |parent: &str, child: &str| {
        format!(
            "<joint name=\"{parent}{child}\" type=\"fixed\"><parent link=\"{parent}\"/>\
             <child link=\"{child}\"/></joint>"
        )
    };
    let loop_of_two = format!(
        "{link}<link name=\"b\"/>{}{}",
        joint("a", "b"),
        joint("b", "a")
    );
    let box_of = |size: &str| {
        format!(
            "<link name=\"a\"><collision><geometry><box size=\"{size}\"/></geometry></collision>\
             </link>"
        )
    };
    let deep = "<a>".repeat(100_000);
    let mass = "<link name=\"a\"><inertial><mass value=\"-1\"/></inertial></link>";
    let cases = [
        (robot(&loop_of_two), "loop"),
        (robot(&format!("{link}{link}")), "two links"),
        (
            robot(&format!("{link}{}", joint("a", "ghost"))),
            "no link `ghost`",
        ),
        (robot(&box_of("1 2")), "3 numbers"),
        (robot(&box_of("1 2 nan")), "finite"),
        (robot(&box_of("1 2 -3")), "above 0"),
        (robot(mass), "0 or more"),
        (robot(&deep), "nested"),
        (robot("<link/>"), "`name`"),
        ("<sdf/>".to_owned(), "robot"),
        ("<robot".to_owned(), "not XML"),
        (String::new(), "not XML"),
        (
            "<!DOCTYPE r [<!ENTITY a \"aaaa\">]><robot>&a;</robot>".to_owned(),
            "not XML",
        ),
    ];
    for (text, words) in cases {
        let error = import_bytes("r.urdf", text.as_bytes()).unwrap_err();
        assert!(error.line_and_column().is_some(), "{error}");
        let error = error.to_string();
        assert!(
            error.contains("r.urdf:") && error.contains(words),
            "{error}"
        );
    }
}

#[test]
fn files_outside_the_folder_are_refused_unless_allowed() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("robot");
    std::fs::create_dir(&inner).unwrap();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    std::fs::write(outer.path().join("m.obj"), mesh).unwrap();
    std::fs::write(inner.join("m.obj"), mesh).unwrap();
    let absolute = outer.path().join("m.obj").display().to_string();
    let path = inner.join("r.urdf");
    let attempt = |name: &str, allow_outside: bool| {
        let text = robot(&format!(
            "<link name=\"a\"><collision><geometry><mesh filename=\"{name}\"/></geometry>\
             </collision></link>"
        ));
        std::fs::write(&path, text).unwrap();
        let options = ImportOptions {
            allow_outside,
            ..ImportOptions::default()
        };
        import(&path, &options)
    };
    for name in ["m.obj", "./m.obj", "package://robot/m.obj"] {
        attempt(name, false).unwrap().scene.build().unwrap();
    }
    let file = format!("file://{absolute}");
    for name in [
        "../m.obj",
        "x/../../m.obj",
        absolute.as_str(),
        file.as_str(),
    ] {
        let error = attempt(name, false).unwrap_err().to_string();
        assert!(error.contains("is not read"), "{error}");
    }
    for name in ["../m.obj", absolute.as_str(), file.as_str()] {
        attempt(name, true).unwrap();
    }
    for name in ["http://example.org/m.obj", "file:m.obj"] {
        attempt(name, true).unwrap_err();
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&absolute, inner.join("link.obj")).unwrap();
        let error = attempt("link.obj", false).unwrap_err().to_string();
        assert!(error.contains("link"), "{error}");
    }
}

#[test]
fn more_bytes_than_allowed_are_not_read() {
    let options = ImportOptions {
        max_bytes: 100,
        ..ImportOptions::default()
    };
    let error = import(&model("arm.urdf"), &options)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("100 bytes") && error.contains("arm.urdf"),
        "{error}"
    );
}

/// The engine limits angles to ±3.1 rad; wider limits, up to half a turn, are none.
#[test]
fn limits_of_nearly_half_a_turn_leave_a_hinge_free() {
    let robot = |limit: f64| {
        let text = std::fs::read_to_string(model("arm.urdf")).unwrap();
        let given = "lower=\"-1.5\" upper=\"1.5\"";
        assert!(text.contains(given), "{text}");
        let limits = format!("lower=\"-{limit}\" upper=\"{limit}\"");
        let imported = import_bytes("arm.urdf", text.replace(given, &limits).as_bytes()).unwrap();
        imported.scene.build().unwrap();
        imported.scene.joints[0].limits
    };
    assert!(robot(3.09).is_some());
    for limit in [3.11, 3.13, 3.15, 6.3] {
        assert_eq!(robot(limit), None, "{limit} rad");
    }
}
