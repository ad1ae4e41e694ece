//! Bad scenes: each is refused, at the right place, with words that help.

use drystone_scene::{Scene, SceneError};

/// A floor and what is given.
fn scene(dimension: u8, rest: &str) -> String {
    format!("dimension = {dimension}\n{rest}")
}

/// The error of a scene that must be refused when read or built.
fn error(text: &str) -> SceneError {
    match Scene::from_toml(text, "bad.toml").and_then(|scene| scene.build()) {
        Ok(_) => panic!("this was accepted:\n{text}"),
        Err(error) => error,
    }
}

/// Checks that the error points at `marked` in the text, names `field`, and says `words`.
#[track_caller]
fn refused(text: &str, marked: &str, field: &str, words: &str) {
    let error = error(text);
    let span = error.span().expect("an error has a place");
    assert_eq!(error.source_text(), Some(text));
    assert_eq!(&text[span], marked, "{error}");
    assert_eq!(error.field(), Some(field), "{error}");
    assert!(error.to_string().contains(words), "{error}");
    let (line, column) = error.line_and_column().unwrap();
    assert!(
        error
            .to_string()
            .starts_with(&format!("bad.toml:{line}:{column}: ")),
        "{error}"
    );
}

/// One 3D body with this line in it.
fn body(line: &str) -> String {
    let shape = if line.contains("shape") {
        ""
    } else {
        "shape.ball.radius = 1\n"
    };
    scene(3, &format!("[[bodies]]\nname = \"b\"\n{shape}{line}\n"))
}

#[test]
fn numbers_that_are_none() {
    refused(
        &body("position = [0, nan, 0]"),
        "nan",
        "bodies[0].position[1]",
        "finite number, not NaN",
    );
    refused(
        &body("velocity = [inf, 0, 0]"),
        "inf",
        "bodies[0].velocity[0]",
        "not inf",
    );
    refused(
        &body("spin = [0, 0, -inf]"),
        "-inf",
        "bodies[0].spin[2]",
        "not -inf",
    );
    refused(
        &body("shape.ball.radius = nan"),
        "nan",
        "bodies[0].shape.ball.radius",
        "not NaN",
    );
    refused(
        &scene(3, "gravity = [0, nan, 0]"),
        "nan",
        "gravity[1]",
        "finite",
    );
    refused(&scene(3, "seconds = inf"), "inf", "seconds", "finite");
}

#[test]
fn masses_and_densities_that_are_not_positive() {
    refused(
        &body("mass = 0"),
        "0",
        "bodies[0].mass",
        "greater than 0 (kg), not 0",
    );
    refused(&body("mass = -1.5"), "-1.5", "bodies[0].mass", "not -1.5");
    refused(
        &body("density = 0"),
        "0",
        "bodies[0].density",
        "greater than 0 (kg/m³)",
    );
    refused(
        &scene(3, "defaults.density = -1"),
        "-1",
        "defaults.density",
        "density must be",
    );
    let both = body("mass = 1\ndensity = 2");
    refused(&both, "1", "bodies[0].mass", "only one of");
    let inertia = body("mass_properties = { mass = 1, inertia = [1, -1, 1] }");
    refused(
        &inertia,
        "[1, -1, 1]",
        "bodies[0].mass_properties.inertia",
        "positive definite",
    );
}

#[test]
fn sizes_that_are_not_positive() {
    refused(
        &body("shape.ball.radius = 0"),
        "0",
        "bodies[0].shape.ball.radius",
        "greater than 0 (m)",
    );
    refused(
        &body("shape.box.size = [1, -2, 1]"),
        "-2",
        "bodies[0].shape.box.size[1]",
        "not -2",
    );
    let capsule = body("shape.capsule = { length = 0, radius = 1 }");
    refused(
        &capsule,
        "0",
        "bodies[0].shape.capsule.length",
        "greater than 0 (m)",
    );
    let wedge = body("shape.wedge = { inner_radius = 2, outer_radius = 1, angle = 20, depth = 1 }");
    refused(
        &wedge,
        "1",
        "bodies[0].shape.wedge.outer_radius",
        "greater than inner_radius",
    );
}

#[test]
fn hulls_without_volume() {
    let few = body("shape.hull.points = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]");
    let marked = "[[0, 0, 0], [1, 0, 0], [0, 1, 0]]";
    refused(
        &few,
        marked,
        "bodies[0].shape.hull.points",
        "needs 4 points",
    );
    let flat = body("shape.hull.points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]");
    assert!(error(&flat).to_string().contains("do not lie in one plane"));
    let line = scene(
        2,
        "[[bodies]]\nshape.hull.points = [[0, 0], [1, 1], [2, 2]]",
    );
    assert!(error(&line).to_string().contains("do not lie in one line"));
}

#[test]
fn meshes_with_wrong_indices() {
    let mesh = body(
        "kind = \"fixed\"\nshape.mesh = { points = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles = [[0, 1, 2], [0, 1, 3]] }",
    );
    let field = "bodies[0].shape.mesh.triangles[1]";
    refused(
        &mesh,
        "[0, 1, 3]",
        field,
        "names vertex 3, but there are only 3",
    );
    let moving = body(
        "shape.mesh = { points = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles = [[0, 1, 2]] }",
    );
    assert!(
        error(&moving)
            .to_string()
            .contains("make the body fixed or kinematic")
    );
}

#[test]
fn coefficients_out_of_range() {
    refused(
        &body("restitution = 1.5"),
        "1.5",
        "bodies[0].restitution",
        "from 0 (no bounce) to 1",
    );
    refused(
        &body("friction = -0.1"),
        "-0.1",
        "bodies[0].friction",
        "0 or more",
    );
    let material = scene(3, "[[materials]]\nname = \"ice\"\nrestitution = -1");
    refused(
        &material,
        "-1",
        "materials[0].restitution",
        "material `ice`",
    );
    let pair = scene(
        3,
        "[[materials]]\nname = \"a\"\n[[pairs]]\nbetween = [\"a\", \"a\"]\nfriction = nan",
    );
    refused(&pair, "nan", "pairs[0].friction", "pair number 1");
    refused(
        &scene(3, "defaults.friction = -2"),
        "-2",
        "defaults.friction",
        "0 or more",
    );
    refused(
        &body("linear_damping = -1"),
        "-1",
        "bodies[0].linear_damping",
        "0 or more (1/s)",
    );
}

#[test]
fn settings_that_cannot_be_used() {
    for dt in ["0", "-0.01", "nan"] {
        refused(&scene(3, &format!("dt = {dt}")), dt, "dt", "dt (s) must be");
    }
    refused(
        &scene(3, "solver.iterations = 0"),
        "0",
        "solver.iterations",
        "greater than 0",
    );
    refused(
        &scene(3, "solver.tolerance = -1.0"),
        "-1.0",
        "solver.tolerance",
        "0 or more",
    );
    refused(
        &scene(3, "contact.slop = -1.0"),
        "-1.0",
        "contact.slop",
        "slop (m)",
    );
    refused(
        &scene(4, ""),
        "4",
        "dimension",
        "must be 2 (a plane) or 3 (space)",
    );
    let solver = scene(3, "solver.name = \"pgz\"");
    refused(&solver, "\"pgz\"", "solver.name", "did you mean \"pgs\"?");
    let strategy = scene(3, "strategy = \"quickly\"");
    refused(
        &strategy,
        "\"quickly\"",
        "strategy",
        "there is \"velocity\"",
    );
}

#[test]
fn names_that_are_taken_or_unknown() {
    let twice = scene(
        3,
        "[[bodies]]\nname = \"a\"\nshape.ball.radius = 1\n[[bodies]]\nname = \"a\"\nshape.ball.radius = 1\nposition = [5, 0, 0]",
    );
    refused(&twice, "\"a\"", "bodies[1].name", "the name `a` is taken");
    assert_eq!(error(&twice).line_and_column(), Some((6, 8)));
    let materials = scene(
        3,
        "[[materials]]\nname = \"a\"\n[[materials]]\nname = \"a\"",
    );
    refused(&materials, "\"a\"", "materials[1].name", "is taken");
    let unknown = scene(
        3,
        "[[materials]]\nname = \"granite\"\n[[bodies]]\nshape.ball.radius = 1\nmaterial = \"granit\"",
    );
    refused(
        &unknown,
        "\"granit\"",
        "bodies[0].material",
        "did you mean `granite`?",
    );
    let again = error(&body("name = \"c\""));
    assert!(
        again.to_string().starts_with("bad.toml:5:1: duplicate key"),
        "{again}"
    );
    let empty = error("dimension = 3\n[[bodies]]\nname = \" \"\nshape.ball.radius = 1");
    assert!(empty.to_string().contains("must not be empty"), "{empty}");
}

#[test]
fn unknown_keys_and_words() {
    refused(
        &body("shape.ball.raduis = 1"),
        "raduis",
        "bodies[0].shape.ball.raduis",
        "unknown key `raduis`; did you mean `radius`?",
    );
    refused(
        &body("velocty = [0, 0, 0]"),
        "velocty",
        "bodies[0].velocty",
        "did you mean `velocity`?",
    );
    refused(
        &scene(3, "gravitty = 1"),
        "gravitty",
        "gravitty",
        "did you mean `gravity`?",
    );
    refused(
        &body("shape.bal.radius = 1"),
        "bal",
        "bodies[0].shape.bal",
        "did you mean `ball`?",
    );
    let error = error(&body("kind = \"static\""));
    assert!(
        error
            .to_string()
            .contains("`rigid`, `particle`, `fixed`, `kinematic`"),
        "{error}"
    );
    assert_eq!(error.object(), Some("body `b`"));
}

#[test]
fn values_of_the_wrong_type() {
    let word = error(&body("mass = \"heavy\""));
    assert!(word.to_string().contains("expected a number"), "{word}");
    assert_eq!(word.field(), Some("bodies[0].mass"));
    let rotation = error(&body("rotation = \"up\""));
    assert!(
        rotation.to_string().contains("quaternion [x, y, z, w]"),
        "{rotation}"
    );
    let count = error(&body("repeat.stack.count = -3"));
    assert_eq!(
        count.field(),
        Some("bodies[0].repeat.stack.count"),
        "{count}"
    );
    let missing = error(&scene(3, "[[bodies]]\nshape.capsule.length = 2"));
    assert!(
        missing.to_string().contains("missing key `radius`"),
        "{missing}"
    );
    let no_dimension = error("gravity = [0, 0, 0]");
    assert!(
        no_dimension.to_string().contains("missing key `dimension`"),
        "{no_dimension}"
    );
}

#[test]
fn two_bodies_at_the_same_pose() {
    let text = scene(
        3,
        "[[bodies]]\nname = \"a\"\nshape.ball.radius = 1\n[[bodies]]\nname = \"b\"\nshape.box.size = [1, 1, 1]\n",
    );
    let error = error(&text);
    assert!(
        error
            .to_string()
            .contains("bodies `a` and `b` are at the same pose"),
        "{error}"
    );
    assert_eq!(error.line_and_column().unwrap().0, 5);
    // Fixed bodies may share a pose: a floor and a wall often do.
    let corner = scene(
        3,
        "[[bodies]]\nkind = \"fixed\"\nshape.half_space.normal = [0, 1, 0]\n[[bodies]]\nkind = \"fixed\"\nshape.half_space.normal = [1, 0, 0]\n",
    );
    Scene::from_toml(&corner, "").unwrap().build().unwrap();
}

#[test]
fn a_deep_overlap_is_told_and_comes_apart_at_a_bounded_speed() {
    let text = scene(
        3,
        "strategy = \"velocity\"\ngravity = [0, 0, 0]\n[[bodies]]\nname = \"a\"\nshape.ball.radius = 1\n[[bodies]]\nname = \"b\"\nshape.ball.radius = 1\nposition = [0.5, 0, 0]\n",
    );
    let scene = Scene::from_toml(&text, "deep.toml").unwrap();
    let (mut world, warnings) = scene.build_with_warnings().unwrap();
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        warnings[0].message,
        "bodies `a` and `b` overlap by 1.500 m at the start; they will be pushed apart at no more than 2 m/s"
    );
    assert_eq!(scene.warnings(), warnings);
    let gap = |world: &drystone_scene::AnyWorld| {
        let positions = world.frame().positions;
        positions[1][0] - positions[0][0]
    };
    for _ in 0..480 {
        let before = gap(&world);
        world.step().unwrap();
        // 2 m/s, and nothing of it stays as speed.
        assert!(gap(&world) - before <= 2.0 * world.dt() + 1e-12);
    }
    assert!(
        gap(&world) > 1.9,
        "after 2 s they are nearly apart: {}",
        gap(&world)
    );
    assert_eq!(world.energy().kinetic, 0.0);
}

#[test]
fn vectors_of_the_wrong_length() {
    refused(
        &body("position = [1, 2]"),
        "[1, 2]",
        "bodies[0].position",
        "give 3 numbers: x, y, z",
    );
    let flat = scene(2, "[[bodies]]\nshape.ball.radius = 1\nvelocity = [1, 2, 3]");
    let error = error(&flat);
    assert_eq!(error.field(), Some("bodies[0].velocity"));
    assert!(
        error.to_string().contains("give 2 numbers: x, y"),
        "{error}"
    );
    refused(
        &scene(2, "gravity = [0, -9.81, 0]"),
        "[0, -9.81, 0]",
        "gravity",
        "3 numbers do not fit",
    );
}

#[test]
fn shapes_and_turns_of_the_other_dimension() {
    let flat = |line: &str| scene(2, &format!("[[bodies]]\n{line}\n"));
    let cylinder = error(&flat("shape.cylinder = { height = 1, radius = 1 }"));
    assert!(
        cylinder.to_string().contains("no `cylinder` in 2D"),
        "{cylinder}"
    );
    let polyline = error(&body(
        "kind = \"fixed\"\nshape.polyline.points = [[0, 0, 0], [1, 1, 1]]",
    ));
    assert!(
        polyline
            .to_string()
            .contains("no `polyline` in 3D; use `mesh`"),
        "{polyline}"
    );
    let ball = "shape.ball.radius = 1\n";
    let turned = error(&flat(&format!("{ball}rotation = [0, 0, 0, 1]")));
    assert!(
        turned.to_string().contains("one angle in degrees"),
        "{turned}"
    );
    refused(
        &body("rotation = 30"),
        "30",
        "bodies[0].rotation",
        "needs an axis",
    );
    refused(&body("spin = 3"), "3", "bodies[0].spin", "give 3 numbers");
    let locked = error(&flat(&format!("{ball}locked_axes = [\"z\"]")));
    assert!(locked.to_string().contains("no z axis"), "{locked}");
}

#[test]
fn quaternions_near_and_far_from_unit() {
    let near = body("rotation = [0, 0, 0, 1.0009]");
    Scene::from_toml(&near, "").unwrap().build().unwrap();
    let far = body("rotation = [0, 0, 0, 1.01]");
    let field = "bodies[0].rotation";
    let marked = "[0, 0, 0, 1.01]";
    refused(
        &far,
        marked,
        field,
        "normalised it is [0.000000, 0.000000, 0.000000, 1.000000]",
    );
    assert!(
        error(&body("rotation = [0, 0, 1]"))
            .to_string()
            .contains("four numbers, not 3")
    );
    assert!(
        error(&body("rotation = [0, 0, 0, nan]"))
            .to_string()
            .contains("within 1e-3")
    );
    let both = error(&body(
        "rotation = { axis = [0, 1, 0], angle = 3, euler = [1, 2, 3] }",
    ));
    assert!(
        both.to_string()
            .contains("either `axis` and `angle`, or `euler`"),
        "{both}"
    );
    let zero = error(&body("rotation = { axis = [0, 0, 0], angle = 3 }"));
    assert_eq!(zero.field(), Some("bodies[0].rotation.axis"));
}

#[test]
fn fields_without_effect() {
    refused(
        &body("kind = \"fixed\"\nmass = 3"),
        "3",
        "bodies[0].mass",
        "no effect on a fixed body",
    );
    let script = error(&body("script.steady.velocity = [1, 0, 0]"));
    assert!(
        script.to_string().contains("add `kind = \"kinematic\"`"),
        "{script}"
    );
    let none = error(&body("kind = \"kinematic\""));
    assert!(none.to_string().contains("needs a `script`"), "{none}");
    let particle = error(&body("kind = \"particle\"\nshape.box.size = [1, 1, 1]"));
    assert!(
        particle.to_string().contains("a particle is a ball"),
        "{particle}"
    );
    let order = error(&body(
        "kind = \"kinematic\"\nscript.keyframes = [{ time = 1, position = [0, 0, 0] }, { time = 1, position = [1, 0, 0] }]",
    ));
    assert_eq!(
        order.field(),
        Some("bodies[0].script.keyframes[1].time"),
        "{order}"
    );
}

#[test]
fn repeats_that_cannot_be_made() {
    let many = body("repeat.grid = { count = [1000, 1000, 1000], spacing = [3, 3, 3] }");
    let error_many = error(&many);
    assert_eq!(error_many.field(), Some("bodies[0].repeat.grid.count"));
    assert!(
        error_many.to_string().contains("at most 1000000 bodies"),
        "{error_many}"
    );
    let dense = error(&body("repeat.random = { count = 100, region = [2, 2, 2] }"));
    assert!(
        dense.to_string().contains("found no room for copy"),
        "{dense}"
    );
    refused(
        &body("repeat.stack.count = 0"),
        "0",
        "bodies[0].repeat.stack.count",
        "1 or more",
    );
    let arc = body("repeat.ring = { count = 3, radius = 9, from = 90, to = 90 }");
    refused(
        &arc,
        "90",
        "bodies[0].repeat.ring.to",
        "must not end where it starts",
    );
    let sizes = body("repeat.random = { count = 3, region = [9, 9, 9], sizes = [2, 1] }");
    assert!(error(&sizes).to_string().contains("write [1, 2]"));
    let no_shape = error("dimension = 3\n[[bodies]]\nname = \"a\"");
    assert!(
        no_shape
            .to_string()
            .contains("body `a`, bodies[0]: a body needs a shape"),
        "{no_shape}"
    );
}

/// The strategy that scenes have by default keeps the speed at which it repairs, but is bound by it
/// as well.
#[test]
fn a_deep_overlap_comes_apart_at_a_bounded_speed_in_real_time() {
    let text = scene(
        3,
        "gravity = [0, 0, 0]\n[[bodies]]\nname = \"a\"\nshape.ball.radius = 1\n[[bodies]]\nname = \"b\"\nshape.ball.radius = 1\nposition = [0.5, 0, 0]\n",
    );
    let mut world = Scene::from_toml(&text, "deep.toml")
        .unwrap()
        .build()
        .unwrap();
    let gap = |world: &drystone_scene::AnyWorld| {
        let positions = world.frame().positions;
        positions[1][0] - positions[0][0]
    };
    for step in 0..120 {
        let before = gap(&world);
        world.step().unwrap();
        let speed = (gap(&world) - before) / world.dt();
        assert!(speed <= 2.02, "{speed} m/s in step {step}");
    }
    assert!(gap(&world) > 1.85, "{}", gap(&world));
}
