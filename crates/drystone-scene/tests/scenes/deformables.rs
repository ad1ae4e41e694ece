//! Deformables in scenes: nothing intersects over the whole length of any scene of the gallery,
//! and what is wrong with a mesh, a file or a start state is named.

use drystone_scene::{Scene, gallery};
use std::path::PathBuf;

/// Runs a scene of the gallery and judges every state.
fn assert_nothing_intersects(name: &str) {
    let scene = gallery::find(name).unwrap().scene().unwrap();
    let mut world = scene.build().unwrap();
    assert!(world.has_deformables(), "{name}");
    let steps = (scene.seconds / world.dt()).round() as u64;
    for step in 0..steps {
        world
            .step()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let audit = world.audit().unwrap();
        if let Some(found) = audit.intersections.first() {
            let [a, b] = found
                .bodies
                .map(|id| world.body_name(id.index()).to_owned());
            panic!("{name}, step {step}: {a} and {b} at {:?}", found.place);
        }
        assert!(audit.min_distance_m.is_some_and(|d| d > 0.0));
    }
}

macro_rules! never_intersect {
    ($($test:ident: $name:literal),* $(,)?) => {
        /// Scenes that a test below runs.
        const JUDGED: &[&str] = &[$($name),*];
        $(
            #[test]
            fn $test() {
                assert_nothing_intersects($name);
            }
        )*
    };
}

never_intersect! {
    cloth_on_sphere: "cloth-on-sphere",
    five_sheets: "five-sheets",
    cloth_through_ring: "cloth-through-ring",
    flag: "flag",
    rope_knot: "rope-knot",
    net_with_marbles: "net-with-marbles",
    jelly_cube: "jelly-cube",
    jelly_stack: "jelly-stack",
    card_and_cloth: "card-and-cloth",
    twisting_mat: "twisting-mat",
    closing_box: "closing-box",
    soft_chain: "soft-chain",
    trampoline: "trampoline",
    swing: "swing",
    hanging_rope: "hanging-rope",
}

#[test]
fn every_scene_with_deformables_is_judged() {
    let soft = gallery::entries().iter().filter(|entry| {
        let scene = entry.scene().unwrap();
        // Other strategies judge themselves: `barrier` in the tests of the engine.
        !scene.deformables.is_empty() && scene.strategy_name() == "velocity"
    });
    let soft: Vec<&str> = soft.map(|entry| entry.name).collect();
    assert!(soft.len() >= 12, "{soft:?}");
    for name in soft {
        assert!(JUDGED.contains(&name), "{name}");
    }
}

fn error_of(text: &str) -> String {
    let scene = Scene::from_toml(text, "soft.toml").unwrap();
    scene.build().unwrap_err().to_string()
}

const CLOTH: &str = "dimension = 3\n[[deformables]]\nname = \"cloth\"\n\
    shape.cloth = { size = [1, 1], cells = [4, 4] }\n";

#[test]
fn an_intersecting_start_is_refused_and_the_pair_is_named() {
    let crossing = format!(
        "{CLOTH}[[deformables]]\nname = \"other\"\nshape.cloth = {{ size = [1, 1], cells = [4, 4] }}\n\
         position = [0.03, 0, 0.02]\nrotation = {{ axis = [1, 0, 0], angle = 70 }}\n"
    );
    let error = error_of(&crossing);
    assert!(error.contains("intersect at the start"), "{error}");
    assert!(
        error.contains("cloth/") && error.contains("other/"),
        "{error}"
    );

    let through = "[[bodies]]\nname = \"ball\"\nkind = \"fixed\"\nshape.ball.radius = 0.1\n";
    let error = error_of(&format!("{CLOTH}{through}"));
    assert!(
        error.contains("`ball`") && error.contains("intersect"),
        "{error}"
    );

    // Thicknesses may overlap: that is contact, and comes apart.
    let near = "[[bodies]]\nname = \"ball\"\nkind = \"fixed\"\nposition = [0, 0.103, 0]\n\
                shape.ball.radius = 0.1\n";
    Scene::from_toml(&format!("{CLOTH}{near}"), "soft.toml")
        .unwrap()
        .build()
        .unwrap();
}

#[test]
fn bad_meshes_are_named() {
    let mesh = |inside: &str| {
        format!("dimension = 3\n[[deformables]]\nname = \"thing\"\nshape.mesh = {{ {inside} }}\n")
    };
    let square = "points = [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]";
    for (inside, part) in [
        (square.to_owned(), "exactly one kind"),
        (
            format!("{square}, triangles = [[0, 1, 2], [0, 2, 9]]"),
            "vertex 9",
        ),
        (
            format!("{square}, triangles = [[0, 1, 2]]"),
            "vertex 3 belongs to no cell",
        ),
        (
            format!("{square}, triangles = [[0, 1, 2], [0, 2, 2], [0, 2, 3]]"),
            "cell 1",
        ),
        (
            "points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], tetrahedra = [[0, 2, 1, 3]]"
                .to_owned(),
            "inside out",
        ),
        (
            "points = [[0, 0, 0], [1, 0, 0], [1, 0, 0]], segments = [[0, 1], [1, 2]]".to_owned(),
            "same place",
        ),
        (
            "points = [[0, 0, 0], [nan, 0, 0]], segments = [[0, 1]]".to_owned(),
            "finite",
        ),
        ("file = \"no.obj\"".to_owned(), "can only be read beside"),
    ] {
        let error = error_of(&mesh(&inside));
        assert!(error.contains(part), "{inside}: {error}");
    }
    let thick =
        mesh(&format!("{square}, triangles = [[0, 1, 2], [0, 2, 3]]")) + "thickness = 0.9\n";
    assert!(error_of(&thick).contains("thickness (0.9 m)"));
    let nobody = format!("{CLOTH}attached = [{{ to = \"hook\", sides = [\"left\"] }}]\n");
    assert!(error_of(&nobody).contains("no body `hook`"));
    let nothing = "dimension = 3\n[[bodies]]\nname = \"hook\"\nkind = \"fixed\"\n\
        position = [0, 3, 0]\nshape.ball.radius = 0.1\n"
        .to_owned()
        + &CLOTH.replace("dimension = 3\n", "")
        + "attached = [{ to = \"hook\" }]\n";
    assert!(error_of(&nothing).contains("names no nodes"));
}

/// A folder of its own for a test's files.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("drystone-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn meshes_are_read_from_files() {
    let folder = folder("soft");
    std::fs::write(
        folder.join("sheet.obj"),
        "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3 4\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("block.msh"),
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 2 0\n2 1 2 0\n3 0 3 0\n4 0 2 1\n\
         $EndNodes\n$Elements\n2\n1 2 2 0 1 1 2 3\n2 4 2 0 1 1 2 3 4\n$EndElements\n",
    )
    .unwrap();
    let scene = folder.join("scene.toml");
    std::fs::write(
        &scene,
        "dimension = 3\n[[deformables]]\nname = \"sheet\"\nshape.mesh.file = \"sheet.obj\"\n\
         [[deformables]]\nname = \"block\"\nshape.mesh = { file = \"block.msh\", scale = 0.5 }\n",
    )
    .unwrap();
    let mut world = Scene::load(&scene).unwrap().build().unwrap();
    assert_eq!(world.body_count(), 8);
    let top = world.body_index("block/2").unwrap();
    assert_eq!(world.frame().positions[top], [0.0, 1.5, 0.0]);
    world.step().unwrap();

    std::fs::write(folder.join("block.msh"), "$MeshFormat\n9 0 8\n").unwrap();
    let error = Scene::load(&scene).unwrap_err().to_string();
    assert!(
        error.contains("block.msh") && error.contains("line 2"),
        "{error}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
