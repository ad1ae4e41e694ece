//! OBJ and STL files as scenes.

use crate::common::{import_bytes, solid};
use drystone_scene::schema::{Kind, Shape};

/// Corners and outward triangles of a cube of 1 m.
const CORNERS: [[f32; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0],
];
const FACES: [[usize; 3]; 12] = [
    [0, 2, 1],
    [0, 3, 2],
    [4, 5, 6],
    [4, 6, 7],
    [0, 1, 5],
    [0, 5, 4],
    [2, 3, 7],
    [2, 7, 6],
    [1, 2, 6],
    [1, 6, 5],
    [3, 0, 4],
    [3, 4, 7],
];

fn binary_stl(count: u32) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(count.to_le_bytes());
    for face in FACES {
        bytes.extend([0; 12]);
        for number in face.iter().flat_map(|&k| CORNERS[k]) {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn text_stl() -> String {
    let mut text = "solid cube\n".to_owned();
    for face in FACES {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in face.map(|k| CORNERS[k]) {
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid cube\n"
}

fn obj() -> String {
    let mut text = "mtllib cube.mtl\n".to_owned();
    for [x, y, z] in CORNERS {
        text += &format!("v {x} {y} {z}\n");
    }
    for [a, b, c] in FACES {
        text += &format!("f {} {} {}\n", a + 1, b + 1, c + 1);
    }
    text
}

#[test]
fn a_cube_is_the_same_solid_from_all_three() {
    let files = [
        ("cube.stl", binary_stl(12)),
        ("cube.STL", text_stl().into_bytes()),
        ("cube.obj", obj().into_bytes()),
    ];
    for (name, bytes) in files {
        let imported = import_bytes(name, &bytes).unwrap();
        let body = &imported.scene.bodies[0];
        assert_eq!(body.kind, Kind::Rigid, "{name}");
        let Some(Shape::Mesh { points, .. }) = &body.shape else {
            panic!("{name} is no mesh");
        };
        assert_eq!(points.len(), 8, "{name}: equal corners are one vertex");
        let world = solid(&imported.scene);
        let mass = world.bodies().mass(0);
        // 1 m³ of stone, 2,600 kg/m³.
        assert!((mass - 2600.0).abs() < 1e-6, "{name}: {mass} kg");
    }
}

#[test]
fn a_mesh_inside_out_is_turned_and_an_open_one_is_fixed() {
    let inside_out = obj().replace("f 1 3 2", "f 1 2 3");
    // One triangle turned: neighbours disagree, so it is no solid.
    let open = import_bytes("open.obj", inside_out.as_bytes()).unwrap();
    assert_eq!(open.scene.bodies[0].kind, Kind::Fixed);
    let mut all_turned = String::new();
    for line in obj().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["f", a, b, c] => all_turned += &format!("f {a} {c} {b}\n"),
            _ => all_turned += &format!("{line}\n"),
        }
    }
    let turned = import_bytes("turned.obj", all_turned.as_bytes()).unwrap();
    assert_eq!(turned.scene.bodies[0].kind, Kind::Rigid);
    assert!(
        turned
            .unsupported
            .iter()
            .any(|what| what.contains("inwards"))
    );
    turned.scene.build().unwrap();
}

#[test]
fn what_an_obj_file_has_beyond_faces_is_listed() {
    let imported = import_bytes("cube.obj", obj().as_bytes()).unwrap();
    assert_eq!(imported.unsupported.len(), 1);
    assert!(imported.unsupported[0].contains("mtllib"));
}

#[test]
fn lying_and_broken_meshes_are_errors_with_file_and_place() {
    let cut = &binary_stl(12)[..200];
    let cases: [(&str, &[u8], &str); 8] = [
        ("lies.stl", &binary_stl(u32::MAX), "byte 80"),
        ("lies.stl", &binary_stl(11), "byte 80"),
        ("cut.stl", cut, "byte 80"),
        ("short.stl", b"abc", "byte 3"),
        ("loop.stl", b"solid\nvertex 0 0 0\nendloop\n", "line 3"),
        ("text.stl", b"solid\nvertex 0 0\n", "line 2"),
        ("empty.stl", b"solid\nendsolid\n", "no triangle"),
        ("face.obj", b"v 0 0 0\nf 1 2 3\n", "line 2"),
    ];
    for (name, bytes, place) in cases {
        let error = import_bytes(name, bytes).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(place), "{error}");
    }
}

#[test]
fn numbers_that_are_none_are_refused_when_the_scene_is_built() {
    let mut bytes = binary_stl(12);
    bytes[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    if let Ok(imported) = import_bytes("nan.stl", &bytes) {
        let error = imported.scene.build().unwrap_err().to_string();
        assert!(error.contains("nan.stl"), "{error}");
    }
}
