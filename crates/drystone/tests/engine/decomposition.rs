//! Solids that are not convex, taken apart.
#![allow(clippy::unwrap_used)]

use std::f64::consts::{PI, TAU};

use drystone::glam::{DMat3, DQuat, DVec3};
use drystone::{
    Body, D3, Decomposition, Geometry, Pose, Settings, Shape3, ShapeError, Strategy, World, World3,
};

type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

/// A torus around z: radius of the ring, radius of the tube.
fn torus(ring: f64, tube: f64, n: u32, m: u32) -> Mesh {
    let mut points = Vec::new();
    for i in 0..n {
        let (sin, cos) = (TAU * f64::from(i) / f64::from(n)).sin_cos();
        for j in 0..m {
            let (up, out) = (TAU * f64::from(j) / f64::from(m)).sin_cos();
            let r = ring + tube * out;
            points.push(DVec3::new(r * cos, r * sin, tube * up));
        }
    }
    let at = |i: u32, j: u32| (i % n) * m + j % m;
    let mut triangles = Vec::new();
    for i in 0..n {
        for j in 0..m {
            let [a, b] = [at(i, j), at(i + 1, j)];
            let [c, d] = [at(i, j + 1), at(i + 1, j + 1)];
            triangles.extend([[a, b, c], [c, b, d]]);
        }
    }
    (points, triangles)
}

/// A prism along z over an outline (counter-clockwise) whose triangles are given.
fn prism(outline: &[[f64; 2]], cap: &[[u32; 3]], half: f64) -> Mesh {
    let n = outline.len() as u32;
    let layer = |z: f64| outline.iter().map(move |[x, y]| DVec3::new(*x, *y, z));
    let points = layer(half).chain(layer(-half)).collect();
    let mut triangles: Vec<[u32; 3]> = cap.to_vec();
    triangles.extend(cap.iter().map(|[a, b, c]| [a + n, c + n, b + n]));
    for k in 0..n {
        let next = (k + 1) % n;
        triangles.extend([[k, k + n, next], [next, k + n, next + n]]);
    }
    (points, triangles)
}

/// A staple: open below, 0.6 m wide and 0.6 m high, its bars 0.1 m thick.
fn staple() -> Mesh {
    let outline = [
        [-0.3, -0.3],
        [-0.2, -0.3],
        [-0.2, 0.2],
        [0.2, 0.2],
        [0.2, -0.3],
        [0.3, -0.3],
        [0.3, 0.3],
        [-0.3, 0.3],
    ];
    let cap = [
        [0, 1, 2],
        [0, 2, 7],
        [2, 3, 7],
        [7, 3, 6],
        [3, 5, 6],
        [3, 4, 5],
    ];
    prism(&outline, &cap, 0.05)
}

fn solid((points, triangles): &Mesh) -> Shape3 {
    Shape3::solid_mesh(points, triangles, &Decomposition::default()).unwrap()
}

#[test]
fn mass_and_inertia_are_those_of_the_mesh() {
    let p = solid(&staple()).mass_properties(1.0).unwrap();
    // A square less a notch of 0.4 by 0.5, 0.1 deep.
    let (whole, notch) = (0.6 * 0.6 * 0.1, 0.4 * 0.5 * 0.1);
    assert!((p.mass - (whole - notch)).abs() < 1e-12, "{}", p.mass);
    let y = -notch * -0.05 / (whole - notch);
    assert!((p.center - DVec3::Y * y).length() < 1e-12, "{}", p.center);
    let about_z = whole * (0.36 + 0.36) / 12.0
        - notch * ((0.16 + 0.25) / 12.0 + 0.05 * 0.05)
        - (whole - notch) * y * y;
    assert!((p.inertia.z_axis.z - about_z).abs() < 1e-12);
    // A torus, to the accuracy of its facets.
    let (ring, tube) = (0.5_f64, 0.1_f64);
    let p = solid(&torus(ring, tube, 96, 48))
        .mass_properties(1.0)
        .unwrap();
    let mass = 2.0 * PI * PI * ring * tube * tube;
    assert!((p.mass / mass - 1.0).abs() < 5e-3);
    let across = mass * (0.625 * tube * tube + 0.5 * ring * ring);
    let along = mass * (0.75 * tube * tube + ring * ring);
    let expected = DMat3::from_diagonal(DVec3::new(across, across, along));
    assert!((p.inertia - expected).abs_diff_eq(DMat3::ZERO, 1e-2 * along));
}

/// The parts together are the mesh: points well inside are inside, holes are holes.
#[test]
fn the_parts_fill_the_mesh_and_leave_its_hole_open() {
    let ring = solid(&torus(0.5, 0.1, 48, 24));
    let pose = Pose::<D3>::default();
    for k in 0..60 {
        let (sin, cos) = (TAU * f64::from(k) / 60.0).sin_cos();
        let at = |r: f64, z: f64| DVec3::new(r * cos, r * sin, z);
        // On a cut between parts the surface of a part is near.
        assert!(ring.signed_distance(&pose, at(0.5, 0.0)) < 1e-3, "{k}");
        assert!(ring.signed_distance(&pose, at(0.35, 0.0)) > 0.0, "{k}");
        assert!(ring.signed_distance(&pose, at(0.5, 0.15)) > 0.0, "{k}");
    }
    assert!(ring.signed_distance(&pose, DVec3::ZERO) > 0.3);
    let staple = solid(&staple());
    assert!(staple.signed_distance(&pose, DVec3::ZERO) > 0.15);
    assert!(staple.signed_distance(&pose, DVec3::new(0.25, -0.1, 0.0)) < 1e-3);
    assert!(staple.signed_distance(&pose, DVec3::new(0.0, 0.25, 0.0)) < 1e-3);
    // It is drawn as the mesh it is.
    assert_eq!(staple.parts().len(), 1);
}

#[test]
fn the_same_mesh_is_always_taken_apart_alike() {
    let bounds = |shape: &Shape3| {
        let mut contacts = Vec::new();
        let ball = Shape3::ball(0.4).unwrap();
        let origin = Pose::<D3>::default();
        Shape3::contacts((shape, &origin), (&ball, &origin), 0.3, &mut contacts);
        contacts
    };
    let mesh = torus(0.5, 0.1, 48, 24);
    let (one, other) = (bounds(&solid(&mesh)), bounds(&solid(&mesh)));
    assert!(!one.is_empty());
    assert_eq!(one, other);
}

/// A staple and a ring dropped over a peg hang on it.
#[test]
fn a_staple_and_a_ring_hang_on_a_peg() {
    for name in ["velocity", "realtime"] {
        for (which, mesh, top) in [
            ("staple", staple(), 0.2),
            ("ring", torus(0.5, 0.1, 32, 16), 0.4),
        ] {
            let strategy = Strategy::named(name).unwrap();
            let dt = strategy.usual_dt();
            let settings = Settings {
                dt,
                strategy,
                ..Settings::default()
            };
            let mut world: World3 = World::new(settings).unwrap();
            let peg = Shape3::cylinder(0.5, 0.05).unwrap();
            let lying = DQuat::from_rotation_x(0.5 * PI);
            world.add(Body::fixed(peg).turned(lying)).unwrap();
            // The inside of its top is 5 cm above the peg.
            let at = DVec3::Y * (0.1 - top);
            let id = world.add(Body::rigid(solid(&mesh)).at(at)).unwrap();
            while world.time() < 4.0 {
                world.step().unwrap();
            }
            let pose = world.pose(id).unwrap();
            let inside = pose.point(DVec3::Y * top);
            assert!(
                (inside - DVec3::Y * 0.05).length() < 0.03,
                "{name}: the {which}'s inner top is at {inside}"
            );
            let speed = world.motion(id).unwrap().linear.length();
            assert!(
                speed < 0.1,
                "{name}: the {which} still moves at {speed} m/s"
            );
        }
    }
}

#[test]
fn meshes_that_are_no_solids_are_refused() {
    let (points, triangles) = staple();
    let how = Decomposition::default();
    let open = &triangles[1..];
    assert!(matches!(
        Shape3::solid_mesh(&points, open, &how),
        Err(ShapeError::Open { triangles: 1, .. })
    ));
    let inside_out: Vec<[u32; 3]> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    assert!(matches!(
        Shape3::solid_mesh(&points, &inside_out, &how),
        Err(ShapeError::InsideOut { .. })
    ));
    assert!(Shape3::solid_mesh(&points, &[], &how).is_err());
    assert!(Shape3::solid_mesh(&points, &[[0, 1, 99]], &how).is_err());
    for how in [
        Decomposition {
            resolution: 0,
            ..how
        },
        Decomposition {
            concavity: f64::NAN,
            ..how
        },
        Decomposition { most: 0, ..how },
    ] {
        assert!(
            Shape3::solid_mesh(&points, &triangles, &how).is_err(),
            "{how:?}"
        );
    }
}

/// A solid of six points 5 cm from a surface of one triangle has nothing to do with it: what of it
/// is over the triangle is behind the triangle's plane, on the side that its middle is not on.
#[test]
fn a_solid_beside_a_triangle_does_not_touch_what_its_plane_cuts() {
    let triangle = [
        DVec3::new(0.5, 0.5, -2.0),
        DVec3::new(0.5, 0.5, 2.0),
        DVec3::new(1.0, 0.5, 2.0),
    ];
    let surface = Shape3::mesh(triangle.to_vec(), vec![[0, 1, 2]]).unwrap();
    let points = [
        [0.5, 0.0, 1.0],
        [0.0, -3.0, 1.0],
        [0.5, 0.0, -1.0],
        [0.0, -3.0, -1.0],
        [-0.5, 0.0, 1.0],
        [-0.5, 0.0, -1.0],
    ]
    .map(DVec3::from_array);
    let triangles = [
        [1, 2, 0],
        [1, 5, 3],
        [5, 0, 2],
        [1, 0, 4],
        [2, 3, 5],
        [1, 3, 2],
        [1, 4, 5],
        [5, 4, 0],
    ];
    let moving = solid(&(points.to_vec(), triangles.to_vec()));
    let place = DVec3::new(1.557_367_939_329_719_5, 2.565_163_038_013_023, 0.0);
    let turn = DQuat::from_rotation_z((-31.2749_f64).to_radians());
    for name in ["velocity", "realtime"] {
        let strategy = Strategy::named(name).unwrap();
        let mut world = World3::new(Settings {
            dt: strategy.usual_dt(),
            strategy,
            gravity: DVec3::ZERO,
            ..Settings::default()
        })
        .unwrap();
        world.add(Body::fixed(surface.clone())).unwrap();
        let body = Body::rigid(moving.clone()).at(place).turned(turn);
        let id = world.add(body).unwrap();
        let deepest = world.contacts().iter().map(|c| c.point.separation);
        let deepest = deepest.fold(f64::INFINITY, f64::min);
        assert!(deepest > 0.04, "{name}: {deepest} m");
        for _ in 0..60 {
            world.step().unwrap();
        }
        let moved = (world.pose(id).unwrap().position - place).length();
        assert!(moved < 1e-9, "{name}: {moved} m");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]
    /// No contact of a convex solid with a surface of a few triangles is deep while they are apart.
    #[test]
    fn solids_apart_from_a_surface_have_no_deep_contacts(
        cloud in proptest::collection::vec(proptest::array::uniform3(-1.0..1.0_f64), 6..12),
        corners in proptest::array::uniform4(proptest::array::uniform3(-2.0..2.0_f64)),
        at in proptest::array::uniform3(-3.0..3.0_f64),
        about in proptest::array::uniform3(-3.0..3.0_f64),
    ) {
        let cloud: Vec<DVec3> = cloud.into_iter().map(DVec3::from_array).collect();
        let corners = corners.map(DVec3::from_array);
        let shapes = (Shape3::hull(&cloud), Shape3::mesh(corners.to_vec(), vec![[0, 1, 2], [1, 3, 2]]));
        if let (Ok(hull), Ok(surface)) = shapes {
            let pose = Pose::<D3> {
                position: DVec3::from_array(at),
                rotation: DQuat::from_scaled_axis(DVec3::from_array(about)),
            };
            let origin = Pose::<D3>::default();
            let gap = Shape3::separation((&surface, &origin), (&hull, &pose)).unwrap().distance;
            let mut contacts = Vec::new();
            Shape3::contacts((&surface, &origin), (&hull, &pose), 0.5, &mut contacts);
            for contact in &contacts {
                proptest::prop_assert!(
                    gap <= 1e-6 || contact.separation > -1e-6,
                    "{} m apart, but {} m deep", gap, -contact.separation
                );
            }
        }
    }
}
