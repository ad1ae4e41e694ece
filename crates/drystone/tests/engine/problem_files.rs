//! Problems written and read: the same bits back, and no text that brings the reader down.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use drystone::contact::problem::file::{ProblemFileError, from_json, read, to_json, to_local_form};
use drystone::contact::problem::local_form::AnyProblem;
use drystone::contact::problem::{ContactProblem, Impulses, Island, Response, Row, Side};
use drystone::glam::{DRot2, DVec2, DVec3};
use drystone::{Body, Components, D2, D3, Motion, Shape2, Shape3, Space, World2, World3};
use proptest::prelude::*;

/// The example of the module documentation.
const EXAMPLE: &str = r#"{
"format": "drystone-problem", "version": 1, "dimension": 2,
"problem": {
"dt": 0.01,
"responses": [
{"inv_mass":[1.0,1.0],"inv_inertia":0.0}
],
"free": [
{"linear":[0.5,-1.0],"spin":0.0}
],
"rows": [
{"a":"fixed","b":{"particle":{"body":0}},"basis":[0.0,1.0,-1.0,0.0],"mu":0.5,"target":0.0}
],
"islands": [
{"start":0,"end":1}
],
"delassus": null
}}
"#;

fn world2(seed: &[f64]) -> ContactProblem<D2> {
    let mut world = World2::reference();
    world
        .add(Body::fixed(Shape2::half_space(DVec2::Y).unwrap()))
        .unwrap();
    for (k, s) in seed.chunks_exact(3).enumerate() {
        let body = if k % 2 == 0 {
            Body::rigid(Shape2::cuboid(DVec2::new(0.3, 0.2)).unwrap())
        } else {
            Body::particle(Shape2::ball(0.25).unwrap())
        };
        let at = DVec2::new(s[0], 0.2 + 0.3 * k as f64);
        let body = body.at(at).turned(DRot2::new(s[1]));
        world.add(body.moving(DVec2::new(s[1], s[2]))).unwrap();
    }
    world.problem()
}

fn world3(seed: &[f64]) -> ContactProblem<D3> {
    let mut world = World3::reference();
    world
        .add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    for (k, s) in seed.chunks_exact(3).enumerate() {
        let shape = if k % 2 == 0 {
            Shape3::cuboid(DVec3::new(0.3, 0.2, 0.25))
        } else {
            Shape3::ball(0.25)
        };
        let at = DVec3::new(s[0], 0.2 + 0.3 * k as f64, s[1]);
        let body = Body::rigid(shape.unwrap()).at(at);
        world.add(body.moving(DVec3::splat(s[2]))).unwrap();
    }
    world.problem()
}

/// u for some impulses, by the problem and by its local form read back.
fn local_form_agrees<S: Space>(
    problem: &ContactProblem<S>,
    local: &ContactProblem<S>,
) -> Result<(), TestCaseError> {
    let some = |k: usize| {
        let number = |axis: usize| ((3 * k + axis) as f64 * 0.7).sin();
        (0..S::DIM).fold(S::Vector::default(), |v, axis| {
            v.with_component(axis, number(axis))
        })
    };
    let impulses = Impulses {
        local: (0..problem.rows.len()).map(some).collect(),
    };
    let (u, v) = (problem.velocities(&impulses), local.velocities(&impulses));
    for row in 0..problem.rows.len() {
        let (a, b) = (
            problem.offset_velocity(row, &u),
            local.offset_velocity(row, &v),
        );
        for axis in 0..S::DIM {
            let (a, b) = (a.component(axis), b.component(axis));
            prop_assert!((a - b).abs() < 1e-10 * (1.0 + a.abs()), "{a} and {b}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_problem_comes_back_bit_for_bit(seed in prop::collection::vec(-0.5..0.5, 15)) {
        let flat = world2(&seed);
        prop_assert_eq!(&read(&to_json(&flat).unwrap()).unwrap(), &AnyProblem::Flat(flat.clone()));
        let solid = world3(&seed);
        let text = to_json(&solid).unwrap();
        prop_assert_eq!(&read(&text).unwrap(), &AnyProblem::Solid(solid.clone()));
        prop_assert_eq!(read(&text).unwrap().to_json().unwrap(), text);

        // Through the local form u is the same to rounding, and from there bit for bit.
        let AnyProblem::Flat(local) = read(&to_local_form(&flat)).unwrap() else {
            panic!("should be flat")
        };
        local_form_agrees(&flat, &local)?;
        let again = read(&to_json(&local).unwrap()).unwrap();
        prop_assert_eq!(again, AnyProblem::Flat(local.clone()));
        let AnyProblem::Solid(local) = read(&to_local_form(&solid)).unwrap() else {
            panic!("should be solid")
        };
        local_form_agrees(&solid, &local)?;
        prop_assert_eq!(read(&to_local_form(&local)).unwrap(), AnyProblem::Solid(local.clone()));
    }

    /// Any finite number survives, down to the sign of zero and the last subnormal.
    #[test]
    fn numbers_come_back_bit_for_bit(bits in any::<[u64; 4]>()) {
        let numbers = bits.map(f64::from_bits);
        prop_assume!(numbers.iter().all(|x| x.is_finite()));
        let problem = ContactProblem::<D2> {
            dt: numbers[0].abs().max(f64::MIN_POSITIVE),
            responses: vec![Response::default()],
            free: vec![Motion { linear: DVec2::new(numbers[1], numbers[2]), spin: numbers[3] }],
            ..ContactProblem::default()
        };
        let AnyProblem::Flat(back) = from_json(&to_json(&problem).unwrap()).unwrap() else {
            panic!("should be flat")
        };
        prop_assert_eq!(back.dt.to_bits(), problem.dt.to_bits());
        prop_assert_eq!(back.free[0].linear.x.to_bits(), bits[1]);
        prop_assert_eq!(back.free[0].linear.y.to_bits(), bits[2]);
        prop_assert_eq!(back.free[0].spin.to_bits(), bits[3]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Text of any kind is read or refused.
    #[test]
    fn random_text_is_refused(text in "\\PC{0,200}") {
        let _ = read(&text);
        let _ = read(&format!("{{{text}"));
        let _ = read(&format!("dimension 2 contacts {text}"));
    }

    /// Good files with bytes changed, cut out or repeated: whatever is read can be judged.
    #[test]
    fn mutated_files_are_read_or_refused(
        at in 0.0..1.0, length in 0..40_usize, with in "[-0-9eE.,:\\[\\]{}\" \\n]{0,12}",
        which in 0..3_u8
    ) {
        let seed = [0.1, 0.2, -0.3, 0.0, 0.1, 0.2];
        let text = match which {
            0 => EXAMPLE.to_owned(),
            1 => to_json(&world3(&seed)).unwrap(),
            _ => to_local_form(&world2(&seed)),
        };
        let start = (at * text.len() as f64) as usize;
        let end = (start + length).min(text.len());
        let mutated = format!("{}{with}{}", &text[..start], &text[end..]);
        match read(&mutated) {
            Ok(AnyProblem::Flat(p)) => judge_without_panic(&p),
            Ok(AnyProblem::Solid(p)) => judge_without_panic(&p),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

fn judge_without_panic<S: Space>(problem: &ContactProblem<S>) {
    let impulses = Impulses {
        local: vec![S::Vector::splat(1.0); problem.rows.len()],
    };
    let _ = drystone::judge::residual::judge(problem, &impulses);
    let _ = drystone::judge::fclib_error(problem, &impulses);
}

/// A file that announces four milliards of contacts is refused when its bytes end, at once.
#[test]
fn counts_reserve_nothing() {
    for text in [
        "dimension 3\ncontacts 4000000000\nmu 0.5",
        "dimension 3\ncontacts 4294967295\nmu",
        "dimension 2\ncontacts 1\nmu 0.5\nq 0 0\nW 4000000000\n0 0 1",
    ] {
        let started = std::time::Instant::now();
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains("ends"), "{error}");
        assert!(started.elapsed().as_secs_f64() < 1.0);
    }
    let deep = "{\"format\":".to_owned() + &"[".repeat(1_000_000);
    assert!(read(&deep).is_err());
}

#[test]
fn the_documented_example_is_read() {
    let AnyProblem::Flat(problem) = read(EXAMPLE).unwrap() else {
        panic!("should be flat")
    };
    assert_eq!(problem.rows[0].b, Side::Particle { body: 0 });
    assert_eq!(to_json(&problem).unwrap(), EXAMPLE);
}

#[test]
fn errors_name_the_field() {
    for (from, to, expected) in [
        ("drystone-problem", "stones", "format must be"),
        ("\"version\": 1", "\"version\": 2", "version must be"),
        ("\"dimension\": 2", "\"dimension\": 4", "dimension must be"),
        ("\"dimension\": 2", "\"dimension\": 3", "line 6, column"),
        ("\"dt\": 0.01", "\"dt\": 0.0", "dt: must be"),
        ("\"dt\": 0.01", "\"dt\": 1e999", "number out of range"),
        (
            "[1.0,1.0]",
            "[1.0,-1.0]",
            "response 0: inv_mass: must be finite",
        ),
        ("\"mu\":0.5", "\"mu\":-0.5", "row 0: mu: must be"),
        ("\"mu\":0.5", "\"mu\":0.5,\"nu\":1", "unknown field `nu`"),
        (
            "{\"body\":0}",
            "{\"body\":1}",
            "row 0: b: body: must be below 1",
        ),
        (
            "[0.0,1.0,-1.0,0.0]",
            "[0.0,1.0,-1.0,0.1]",
            "row 0: basis: columns",
        ),
        (
            "\"end\":1",
            "\"end\":2",
            "island 0: must start at row 0 and end above it",
        ),
        (
            "{\"start\":0,\"end\":1}",
            "",
            "islands: must cover all 1 rows",
        ),
        (
            "null",
            "{\"starts\":[0],\"columns\":[],\"blocks\":[],\"q\":[[1,2]]}",
            "delassus: starts: must be 2 rising",
        ),
        (
            "null",
            "{\"starts\":[0,1],\"columns\":[1],\"blocks\":[[1,0,0,1]],\"q\":[[1,2]]}",
            "delassus: row 0, column 1: must be a row of the same island",
        ),
        (
            "null",
            "{\"starts\":[0,1],\"columns\":[0],\"blocks\":[[1,0,0.5,1]],\"q\":[[1,2]]}",
            "delassus: W is not symmetric",
        ),
    ] {
        let text = EXAMPLE.replacen(from, to, 1);
        assert_ne!(text, EXAMPLE, "{from}");
        let error = read(&text).map(|_| ()).unwrap_err().to_string();
        assert!(
            error.contains(expected),
            "`{error}` should say `{expected}`"
        );
    }
}

#[test]
fn a_body_in_two_islands_is_refused() {
    let AnyProblem::Flat(mut problem) = read(EXAMPLE).unwrap() else {
        panic!("should be flat")
    };
    problem.rows.push(Row {
        mu: 0.1,
        ..problem.rows[0]
    });
    problem.islands.push(Island { start: 1, end: 2 });
    let error = to_json(&problem).unwrap_err();
    assert!(matches!(error, ProblemFileError::Invalid(_)), "{error}");
    assert!(error.to_string().contains("body 0 moves"), "{error}");
}

/// The public problems, where they are present.
#[test]
fn the_public_problems_come_back() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/contact-problems"
    );
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("skipped: there is no {folder}");
        return;
    };
    for entry in entries {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let problem = read(&text).unwrap();
        assert_eq!(read(&problem.to_json().unwrap()).unwrap(), problem);
    }
}
