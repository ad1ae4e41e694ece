//! Whatever the bytes, an import is a scene or an error.

use crate::common::{import_bytes, model};
use proptest::prelude::*;

const GLTF: &str = r#"{"asset":{"version":"2.0"},"extensions":{"KHR_implicit_shapes":{"shapes":[
{"type":"capsule","capsule":{"height":1,"radiusTop":0.2}}]},"KHR_physics_rigid_bodies":{
"physicsJoints":[{"limits":[{"linearAxes":[0,1,2],"min":0,"max":0}],"drives":[{"type":"angular",
"axis":1,"velocityTarget":1}]}]}},"buffers":[{"byteLength":12,"uri":"data:;base64,AAAAAAAAAAAAAAAA"}],
"bufferViews":[{"buffer":0,"byteLength":12}],"accessors":[{"bufferView":0,"componentType":5126,
"count":1,"type":"VEC3"}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
"nodes":[{"children":[1],"extensions":{"KHR_physics_rigid_bodies":{"motion":{"mass":1},"collider":
{"geometry":{"shape":0}}}}},{"translation":[0,1,0],"extensions":{"KHR_physics_rigid_bodies":
{"joint":{"connectedNode":2,"joint":0}}}},{}]}"#;

const STL: &str = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
                   vertex 0 1 0\nendloop\nendfacet\nendsolid s\n";

const USD: &str = include_str!("../../../../fuzz/corpus/usd/joints.usda");

/// A sound file of each kind.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("m.urdf", std::fs::read(model("arm.urdf")).unwrap()),
        ("m.xml", std::fs::read(model("pendulum.xml")).unwrap()),
        ("m.gltf", GLTF.as_bytes().to_vec()),
        ("m.stl", STL.as_bytes().to_vec()),
        ("m.usda", USD.as_bytes().to_vec()),
        ("m.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_vec()),
    ]
}

#[test]
fn the_seeds_themselves_are_sound() {
    for (name, bytes) in seeds() {
        import_bytes(name, &bytes).unwrap_or_else(|error| panic!("{error}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_bytes_never_panic(
        which in 0..6_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        is_cut in prop::bool::weighted(0.2),
    ) {
        let (name, mut bytes) = seeds().swap_remove(which);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        match import_bytes(name, &bytes) {
            Ok(imported) => drop(imported.scene.build()),
            Err(error) => prop_assert!(error.to_string().contains(name), "{error}"),
        }
    }

    /// Digits and words in place of others keep the syntax, and so get further in.
    #[test]
    fn changed_numbers_never_panic(
        which in 0..6_usize,
        at in any::<prop::sample::Index>(),
        number in prop_oneof![Just("-1"), Just("0"), Just("1e308"), Just("99999999999"), Just("7"),
                              Just("0.5"), Just("-1e-300")],
    ) {
        let (name, bytes) = seeds().swap_remove(which);
        let digits: Vec<usize> = (0..bytes.len()).filter(|&k| bytes[k].is_ascii_digit()).collect();
        let at = digits[at.index(digits.len())];
        let changed = [&bytes[..at], number.as_bytes(), &bytes[at + 1..]].concat();
        match import_bytes(name, &changed) {
            Ok(imported) => drop(imported.scene.build()),
            Err(error) => prop_assert!(error.to_string().contains(name), "{error}"),
        }
    }

    #[test]
    fn any_bytes_never_panic(
        which in 0..6_usize,
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let (name, _) = seeds().swap_remove(which);
        drop(import_bytes(name, &bytes));
    }
}
