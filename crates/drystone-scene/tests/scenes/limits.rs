//! Numbers and crowds that are too much are refused at load, with what and how much would be right.

use drystone_scene::{Scene, SceneError};
use std::fmt::Write as _;
use std::time::Instant;

fn error_of(toml: &str) -> String {
    match Scene::from_toml(toml, "test.toml").and_then(|scene| scene.build()) {
        Ok(_) => panic!("this builds"),
        Err(error) => full(&error),
    }
}

fn full(error: &SceneError) -> String {
    error.to_string()
}

/// Boxes at so many places that are next to nothing apart.
fn crowd(count: u32, spread: f64) -> String {
    let mut toml = "dimension = 3\n".to_owned();
    for k in 0..count {
        let at = spread * f64::from(k);
        writeln!(
            toml,
            "[[bodies]]\nshape.box = {{ size = [1, 1, 1] }}\nposition = [{at}, 0, 0]"
        )
        .unwrap();
    }
    toml
}

#[test]
fn thousands_of_boxes_in_one_another_are_refused_with_the_limit_on_pairs() {
    let start = Instant::now();
    let error = error_of(&crowd(4_000, 1e-5));
    // Eight million pairs overlap; a hundred thousand, and four for each, are looked at.
    assert!(error.contains("more than 116000 pairs"), "{error}");
    assert!(error.contains("100000 and 4 a body"), "{error}");
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn any_number_of_bodies_at_one_place_is_refused_by_the_first_two() {
    let toml = crowd(3, 0.0);
    assert!(error_of(&toml).contains("same pose"));
    let start = Instant::now();
    let error = error_of(&crowd(20_000, 0.0));
    assert!(
        error.contains("`body 0` and `body 1` are at the same pose"),
        "{error}"
    );
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn numbers_beyond_the_range_are_refused_at_their_field() {
    let body = |more: &str| {
        format!(
            "dimension = 3\n[[bodies]]\nname = \"far\"\nshape.ball = {{ radius = 1 }}\n{more}\n"
        )
    };
    for (more, bound) in [
        ("position = [1e160, 0, 0]", "1e12 m"),
        ("velocity = [0, 1e160, 0]", "1e9 m/s"),
        ("spin = [0, 0, 1e10]", "1e9 rad/s"),
        ("mass = 1e30", "1e18 kg"),
    ] {
        for strategy in [
            "velocity",
            "realtime",
            "parallel",
            "barrier",
            "sequential",
            "penalty",
        ] {
            let error = error_of(&format!("strategy = \"{strategy}\"\n{}", body(more)));
            assert!(error.contains(bound), "{strategy}: {error}");
            let field = more.split(' ').next().unwrap();
            assert!(error.contains(field), "{strategy}: {error}");
        }
    }
    let error = error_of(&format!("dt = 1e-9\n{}", body("")));
    assert!(error.contains("1e-7 s"), "{error}");
}

#[test]
fn masses_and_sizes_too_far_apart_are_refused_by_both_names() {
    let scene = |fields: [&str; 2]| {
        let [a, b] = fields;
        format!(
            "dimension = 3\n[[bodies]]\nname = \"large\"\n{a}\n[[bodies]]\nname = \"small\"\n\
             position = [5e9, 0, 0]\n{b}\n"
        )
    };
    let ball =
        |radius: &str, mass: &str| format!("shape.ball = {{ radius = {radius} }}\nmass = {mass}");
    for (a, b, what) in [
        (ball("1", "1e9"), ball("1", "1e-7"), "mass"),
        (ball("1e6", "1"), ball("1e-7", "1"), "size"),
    ] {
        let error = error_of(&scene([&a, &b]));
        assert!(
            error.contains(what) && error.contains("times that of"),
            "{error}"
        );
        assert!(
            error.contains("`large`") && error.contains("`small`"),
            "{error}"
        );
    }
}
