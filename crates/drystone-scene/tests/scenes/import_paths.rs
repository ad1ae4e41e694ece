//! Which files are read: one rule for scenes and all readers of models.

use std::path::Path;
use std::time::{Duration, Instant};

use drystone_scene::Scene;
use drystone_scene::import::{ImportOptions, import};

use crate::common::import_bytes;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

fn scene(file: &str) -> String {
    format!(
        "dimension = 3\n[[bodies]]\nname = \"m\"\nkind = \"fixed\"\nshape.mesh.file = \"{file}\"\n"
    )
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn meshes_of_scenes_are_read_below_the_scenes_folder_only() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("scene");
    std::fs::create_dir_all(folder.join("meshes")).unwrap();
    write(outer.path(), "secret.obj", TRIANGLE);
    write(&folder, "meshes/own.obj", TRIANGLE);
    let path = folder.join("s.toml");
    let load = |file: &str, options: &ImportOptions| {
        write(&folder, "s.toml", &scene(file));
        Scene::load_with(&path, options).map_err(|error| error.to_string())
    };
    let usual = ImportOptions::default();
    load("meshes/own.obj", &usual).unwrap();
    load("meshes/../meshes/own.obj", &usual).unwrap();
    let whole = outer.path().join("secret.obj").display().to_string();
    let mut outside = vec!["../secret.obj".to_owned(), whole];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret.obj", folder.join("link.obj")).unwrap();
        outside.push("link.obj".to_owned());
    }
    for file in &outside {
        let error = load(file, &usual).unwrap_err();
        assert!(error.contains("--allow-outside"), "{error}");
        let allowed = ImportOptions {
            allow_outside: true,
            ..ImportOptions::default()
        };
        load(file, &allowed).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_errors_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["pipe.toml", "pipe.obj", "pipe.urdf"] {
        let made = std::process::Command::new("mkfifo")
            .arg(folder.path().join(name))
            .status();
        assert!(made.unwrap().success());
    }
    let start = Instant::now();
    let error = Scene::load(&folder.path().join("pipe.toml"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("not a plain file"), "{error}");
    write(folder.path(), "s.toml", &scene("pipe.obj"));
    let error = Scene::load(&folder.path().join("s.toml"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("not a plain file"), "{error}");
    let usual = ImportOptions::default();
    let error = import(&folder.path().join("pipe.urdf"), &usual)
        .unwrap_err()
        .to_string();
    assert!(error.contains("not a plain file"), "{error}");
    let outside = ImportOptions {
        allow_outside: true,
        ..ImportOptions::default()
    };
    write(folder.path(), "s.toml", &scene("/dev/zero"));
    let error = Scene::load_with(&folder.path().join("s.toml"), &outside)
        .unwrap_err()
        .to_string();
    assert!(error.contains("not a plain file"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn elements_of_too_many_attributes_are_refused_quickly() {
    let mut text = "<!-- don't --><mujoco><worldbody><geom size=\"1\"".to_owned();
    for number in 0..300_000 {
        text += &format!(" a{number}=\"1\"");
    }
    text += "/></worldbody></mujoco>";
    let start = Instant::now();
    let error = import_bytes("m.xml", text.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("attributes") && error.contains("m.xml:1:"),
        "{error}"
    );
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn names_in_gltf_are_decoded_before_it_is_asked_where_they_lead() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("model");
    std::fs::create_dir(&folder).unwrap();
    for path in [outer.path().join("secret.bin"), folder.join("own file.bin")] {
        std::fs::write(path, [0; 64]).unwrap();
    }
    let read = |uri: &str| {
        let text = format!(
            r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"uri":"{uri}","byteLength":64}}]}}"#
        );
        write(&folder, "m.gltf", &text);
        import(&folder.join("m.gltf"), &ImportOptions::default()).map_err(|e| e.to_string())
    };
    read("own%20file.bin").unwrap();
    for uri in ["%2e%2e/secret.bin", "..%2Fsecret.bin"] {
        let error = read(uri).unwrap_err();
        assert!(error.contains("outside"), "{error}");
    }
    assert!(read("own%2").is_err() && read("own%zzfile.bin").is_err());
}

const ROBOT: &str = r#"<robot name="r"><link name="base"/>
    <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3"/></inertial>
    <collision><geometry><mesh filename="package://PKG/meshes/a.obj"/></geometry></collision></link>
    <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"#;

#[test]
fn packages_are_found_around_the_model_and_where_it_is_said() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path();
    for folder in [
        "src/own/urdf",
        "src/own/meshes",
        "src/other/meshes",
        "else/third/meshes",
    ] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    for package in ["src/own", "src/other", "else/third"] {
        write(root, &format!("{package}/meshes/a.obj"), TRIANGLE);
    }
    let path = root.join("src/own/urdf/r.urdf");
    let read = |package: &str, options: &ImportOptions| {
        std::fs::write(&path, ROBOT.replace("PKG", package)).unwrap();
        import(&path, options).map_err(|error| error.to_string())
    };
    let usual = ImportOptions::default();
    read("own", &usual).unwrap();
    // What lies beside is read if it is a package.
    assert!(read("other", &usual).is_err());
    write(root, "src/other/package.xml", "<package/>");
    read("other", &usual).unwrap();
    assert!(read("third", &usual).is_err());
    for folder in ["else", "else/third"] {
        let options = ImportOptions {
            package_paths: vec![root.join(folder)],
            ..ImportOptions::default()
        };
        read("third", &options).unwrap();
    }
    assert!(read("own/../other/..", &usual).is_err());
    assert!(read("..", &usual).is_err());
}

#[test]
fn triangles_without_area_are_dropped_and_counted() {
    let text = format!("{TRIANGLE}f 1 1 2\nv 2 0 0\nf 1 2 5\n");
    let imported = import_bytes("m.obj", text.as_bytes()).unwrap();
    assert!(
        imported
            .unsupported
            .iter()
            .any(|what| what.contains("2 of 6 triangles")),
        "{:?}",
        imported.unsupported
    );
    imported.scene.build().unwrap();
}

#[test]
fn inertias_that_no_mass_has_are_told() {
    let text = ROBOT.replace("package://PKG/meshes/a.obj", "a.obj");
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.obj", TRIANGLE);
    write(folder.path(), "r.urdf", &text);
    let told = |text: &str| {
        write(folder.path(), "r.urdf", text);
        let imported = import(&folder.path().join("r.urdf"), &ImportOptions::default()).unwrap();
        let (_, warnings) = imported.scene.build_with_warnings().unwrap();
        warnings
            .iter()
            .any(|warning| warning.message.contains("an inertia that no mass has"))
    };
    assert!(told(&text), "1 + 1 < 3");
    assert!(
        !told(&text.replace("izz=\"3\"", "izz=\"2\"")),
        "a flat disk"
    );
}

#[test]
fn a_thickness_that_is_not_given_follows_short_edges() {
    let text = "dimension = 3\nstrategy = \"parallel\"\n[[deformables]]\nname = \"c\"\n\
        [deformables.shape.mesh]\npoints = [[0, 0, 0], [0.01, 0, 0], [0, 0, 0.01]]\n\
        triangles = [[0, 2, 1]]\n";
    Scene::from_toml(text, "s.toml").unwrap().build().unwrap();
}
