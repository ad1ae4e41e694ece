//! Models of other programs in, scenes and deformables out.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{drystone_in, fail, folder_with, report, stderr, succeed};

/// A pendulum on a hinge, with a transmission that is not read.
const ROBOT: &str = r#"<robot name="pendulum">
  <link name="base"/>
  <link name="arm">
    <inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.5"/><geometry><box size="0.1 0.1 1"/></geometry></collision>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="base"/><child link="arm"/><axis xyz="1 0 0"/>
  </joint>
  <transmission name="gears"/>
</robot>"#;

/// A box on a floor.
const SOLID: &str = r#"
name = "box"
dimension = 3
seconds = 0.2
dt = 0.01
[[bodies]]
name = "floor"
kind = "fixed"
shape.half_space.normal = [0, 1, 0]
[[bodies]]
name = "box"
shape.box.size = [1, 1, 1]
position = [0.1, 0.7, 0]
rotation = { axis = [1, 2, 3], angle = 20 }
"#;

const CLOTHS: &str = r#"
dimension = 3
seconds = 0.1
[[deformables]]
name = "a cloth"
shape.cloth = { size = [1, 1], cells = [3, 3] }
pinned = ["left"]
[[deformables]]
name = "rope"
shape.rope = { from = [0, 1, 0], to = [1, 1, 0], segments = 4 }
pinned = ["start"]
"#;

#[test]
fn import_says_what_is_understood_and_what_is_not() {
    let (folder, _) = folder_with("arm.urdf", ROBOT);
    let text = succeed(folder.path(), &["import", "arm.urdf", "--out", "arm.toml"]);
    assert!(text.contains("2 bodies: 1 that contact moves"), "{text}");
    assert!(text.contains("1 joint"), "{text}");
    assert!(text.contains("transmission"), "{text}");
    assert!(text.contains("wrote     arm.toml"), "{text}");
    // The model itself and the scene made of it are one run, bit for bit.
    let direct = report(folder.path(), &["arm.urdf", "--seconds", "0.5"]);
    let scene = report(folder.path(), &["arm.toml", "--seconds", "0.5"]);
    assert_eq!(direct["state_hash"], scene["state_hash"]);
    assert!(direct["state_hash"].is_string() || direct["state_hash"].is_number());
    let output = drystone_in(folder.path(), &["run", "arm.urdf", "--seconds", "0.1"]);
    assert!(
        stderr(&output).contains("transmission"),
        "it is said in a run too"
    );
}

#[test]
fn a_scene_goes_to_gltf_and_back() {
    let (folder, _) = folder_with("box.toml", SOLID);
    let text = succeed(folder.path(), &["export", "box.toml", "--out", "box.glb"]);
    assert!(text.contains("with physics"), "{text}");
    let before = report(folder.path(), &["box.toml"]);
    let after = report(folder.path(), &["box.glb"]);
    assert_eq!(before["state_hash"], after["state_hash"]);
    assert_eq!(before["steps"], after["steps"]);
    // Visual meshes and colours are no part of scenes; all else is read.
    let text = succeed(folder.path(), &["import", "box.glb", "--strict=motion"]);
    assert!(text.contains("changes looks"), "{text}");
    succeed(
        folder.path(),
        &["export", "pyramid", "--out", "pyramid.glb"],
    );
    succeed(folder.path(), &["check", "pyramid.glb"]);
}

#[test]
fn what_gltf_with_physics_can_not_hold_is_an_error_that_says_why() {
    let (folder, _) = folder_with("cloths.toml", CLOTHS);
    let message = fail(folder.path(), &["export", "arch-25", "--out", "a.glb"], 1);
    assert!(message.contains("flat"), "{message}");
    let message = fail(
        folder.path(),
        &["export", "cloths.toml", "--out", "a.glb"],
        1,
    );
    assert!(message.contains("deformables"), "{message}");
    let message = fail(folder.path(), &["export", "pyramid", "--out", "a.usda"], 2);
    assert!(message.contains("--record"), "{message}");
}

#[test]
fn deformables_become_caches_beside_their_meshes() {
    let (folder, _) = folder_with("cloths.toml", CLOTHS);
    succeed(
        folder.path(),
        &["run", "cloths.toml", "--record", "run.dry"],
    );
    for out in [
        "run.glb", "run.usda", "run.obj", "run.pvd", "run.pc2", "run.mdd",
    ] {
        succeed(folder.path(), &["export", "run.dry", "--out", out]);
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let cache = read("run_1_a_cloth.pc2");
    let whole = |at: usize| i32::from_le_bytes(cache[at..at + 4].try_into().unwrap());
    let (points, samples) = (whole(16), whole(28));
    assert_eq!(samples, 7, "0.1 s at 60 frames a second");
    assert_eq!(cache.len() as i32, 32 + 12 * points * samples);
    let mesh = String::from_utf8(read("run_1_a_cloth.obj")).unwrap();
    let vertices = mesh.lines().filter(|line| line.starts_with("v ")).count();
    assert_eq!(vertices as i32, points);
    assert!(!read("run_2_rope.mdd").is_empty());
    let first = String::from_utf8(read("run_000000.obj")).unwrap();
    assert!(
        first.contains("o a cloth") && first.contains("o rope"),
        "{first}"
    );
    assert!(
        !first.contains("a cloth 1"),
        "nodes of a cloth are not drawn"
    );
    // What does not deform has no cache.
    std::fs::write(folder.path().join("box.toml"), SOLID).unwrap();
    succeed(folder.path(), &["run", "box.toml", "--record", "box.dry"]);
    let message = fail(folder.path(), &["export", "box.dry", "--out", "b.pc2"], 2);
    assert!(message.contains("deforms"), "{message}");
}

#[test]
fn hints_name_all_that_is_read() {
    let (folder, _) = folder_with("arm.urdf", ROBOT);
    std::fs::write(folder.path().join("arm.step"), "x").unwrap();
    for arguments in [
        &["run", "arm.step"],
        &["run", "none"],
        &["import", "arm.step"],
    ] {
        let message = fail(folder.path(), arguments, 1);
        for ending in [".urdf", ".glb", ".stl", ".obj", ".xml", ".usda"] {
            assert!(message.contains(ending), "{arguments:?}: {message}");
        }
    }
    let message = fail(
        folder.path(),
        &["import", "arm.urdf", "--max-bytes", "100"],
        1,
    );
    assert!(message.contains("--max-bytes"), "{message}");
    let message = fail(
        folder.path(),
        &["import", "arm.urdf", "--out", "arm.yaml"],
        2,
    );
    assert!(message.contains(".toml"), "{message}");
    fail(folder.path(), &["import", "none.urdf"], 1);
    fail(folder.path(), &["run", "none.glb"], 1);
}

/// A file of a gigabyte with nothing in it takes no room on the disk, and must take none in memory.
#[test]
fn a_gigabyte_is_refused_unread() {
    let (folder, _) = folder_with("arm.urdf", ROBOT);
    for name in ["large.glb", "large.stl", "large.urdf", "large.toml"] {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.set_len(1 << 30).unwrap();
        let message = fail(folder.path(), &["run", name], 1);
        assert!(message.contains("bytes"), "{name}: {message}");
    }
    for name in ["large.txt", "large.json"] {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.set_len(1 << 30).unwrap();
        let message = fail(folder.path(), &["solve", name], 1);
        assert!(message.contains("268435456 bytes"), "{name}: {message}");
    }
}

/// A model of which something is left out is refused where that is asked for.
#[test]
fn strict_refuses_what_is_not_understood_whole() {
    let text = "<mujoco><worldbody><light/><body><freejoint/><geom size=\"1\" solref=\"1 1\"/>\
                </body></worldbody></mujoco>";
    let (folder, _) = folder_with("m.xml", text);
    let message = fail(folder.path(), &["import", "m.xml", "--strict"], 1);
    assert!(
        message.contains("`solref` of `geom` (line 1): changes motion"),
        "{message}"
    );
    assert!(
        message.contains("`light`") && message.contains("changes looks"),
        "{message}"
    );
    let arguments = ["run", "m.xml", "--seconds", "0.01", "--strict=motion"];
    let message = fail(folder.path(), &arguments, 1);
    assert!(
        message.contains("solref") && !message.contains("light"),
        "{message}"
    );
    let text = text.replace(" solref=\"1 1\"", "");
    std::fs::write(folder.path().join("m.xml"), text).unwrap();
    succeed(folder.path(), &["check", "m.xml", "--strict=motion"]);
    fail(folder.path(), &["check", "m.xml", "--strict"], 1);
}
