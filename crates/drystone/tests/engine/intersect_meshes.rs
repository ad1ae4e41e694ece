//! The intersection checker on meshes: against testing all pairs, and against ipctk where a
//! Python with it is present (`DRYSTONE_PYTHON`, else `python3`).

use std::fmt::Write;
use std::process::Command;

use drystone::geometry::intersect::{
    IntersectError, edge_face, edges_in_plane, edges_in_space, segment_meets_triangle,
    segments_meet_in_plane, segments_meet_in_space,
};
use drystone::glam::{DVec2, DVec3};
use proptest::prelude::*;

/// Edges and faces between random vertices.
type Soup = (Vec<DVec3>, Vec<[u32; 2]>, Vec<[u32; 3]>);

fn soups() -> impl Strategy<Value = Soup> {
    let point =
        || prop::array::uniform3(-4_i32..5).prop_map(|p| DVec3::from_array(p.map(f64::from)));
    (4_u32..40).prop_flat_map(move |count| {
        let corner = move || 0..count;
        (
            prop::collection::vec(point(), count as usize),
            prop::collection::vec([corner(), corner()], 0..50),
            prop::collection::vec([corner(), corner(), corner()], 0..50),
        )
    })
}

/// All (edge, edge) pairs without a common vertex, the smaller number first.
fn edge_pairs(edges: &[[u32; 2]]) -> impl Iterator<Item = [usize; 2]> + '_ {
    (0..edges.len()).flat_map(move |i| {
        let apart = move |&j: &usize| !edges[i].iter().any(|v| edges[j].contains(v));
        (i + 1..edges.len()).filter(apart).map(move |j| [i, j])
    })
}

proptest! {
    #[test]
    fn the_tree_finds_what_testing_all_pairs_finds((vertices, edges, faces) in soups()) {
        let mut expected = Vec::new();
        for (e, edge) in edges.iter().enumerate() {
            for (f, face) in faces.iter().enumerate() {
                let segment = edge.map(|v| vertices[v as usize]);
                let triangle = face.map(|v| vertices[v as usize]);
                let apart = !edge.iter().any(|v| face.contains(v));
                if apart && segment_meets_triangle(segment, triangle) {
                    expected.push([e as u32, f as u32]);
                }
            }
        }
        prop_assert_eq!(edge_face(&vertices, &edges, &faces).unwrap(), expected);

        let ends = |k: usize| edges[k].map(|v| vertices[v as usize]);
        let in_space: Vec<[u32; 2]> = edge_pairs(&edges)
            .filter(|&[i, j]| segments_meet_in_space(ends(i), ends(j)))
            .map(|pair| pair.map(|k| k as u32))
            .collect();
        prop_assert_eq!(edges_in_space(&vertices, &edges).unwrap(), in_space);

        let flat: Vec<DVec2> = vertices.iter().map(|p| p.truncate()).collect();
        let ends = |k: usize| edges[k].map(|v| flat[v as usize]);
        let in_plane: Vec<[u32; 2]> = edge_pairs(&edges)
            .filter(|&[i, j]| segments_meet_in_plane(ends(i), ends(j)))
            .map(|pair| pair.map(|k| k as u32))
            .collect();
        prop_assert_eq!(edges_in_plane(&flat, &edges).unwrap(), in_plane);
    }
}

#[test]
fn one_step_of_the_last_digit_decides() {
    // A vertex on, just above and just below a slanted face, where rounding decides naively.
    let face = [
        DVec3::ZERO,
        DVec3::new(0.1, 0.1, 0.1),
        DVec3::new(0.0, 0.1, 0.3),
    ];
    let on = (face[0] + face[1]) * 0.5;
    let above = DVec3::new(0.0, 5.0, 0.0);
    for (step, meets) in [
        (on.y, true),
        (on.y.next_up(), false),
        (on.y.next_down(), true),
    ] {
        let vertices = [
            face[0],
            face[1],
            face[2],
            DVec3::new(on.x, step, on.z),
            above,
        ];
        let found = edge_face(&vertices, &[[3, 4]], &[[0, 1, 2]]).unwrap();
        assert_eq!(!found.is_empty(), meets, "{step:e}");
    }
}

#[test]
fn states_that_make_no_sense_are_refused() {
    let vertices = [DVec3::ZERO, DVec3::X, DVec3::splat(f64::NAN)];
    assert_eq!(
        edge_face(&vertices, &[], &[]),
        Err(IntersectError::NotFinite { vertex: 2 })
    );
    let error = edge_face(&vertices[..2], &[[0, 1]], &[[0, 1, 7]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "face 0 names vertex 7, but there are only 2"
    );
    assert_eq!(edges_in_plane(&[], &[]), Ok(Vec::new()));
}

/// A wavy sheet of n × n vertices and a second one that is tilted into or lies above it.
fn sheets(n: u32, tilt: f64, height: f64) -> Soup {
    let (mut vertices, mut edges, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    for sheet in 0..2 {
        let first = sheet * n * n;
        for k in 0..n * n {
            let (x, y) = (f64::from(k % n), f64::from(k / n));
            let wave = 0.2 * (0.9 * x + f64::from(sheet)).sin() * (0.7 * y).cos();
            let lift = f64::from(sheet) * (height + tilt * (x - 0.37 * y));
            let shift = 0.31 * f64::from(sheet);
            vertices.push(DVec3::new(x + shift, y + 0.7 * shift, wave + lift));
        }
        for at in first..first + n * n {
            let (right, below) = (at % n + 1 < n, at + n < first + n * n);
            if right {
                edges.push([at, at + 1]);
            }
            if below {
                edges.push([at, at + n]);
            }
            if right && below {
                edges.push([at, at + n + 1]);
                faces.extend([[at, at + 1, at + n + 1], [at, at + n + 1, at + n]]);
            }
        }
    }
    (vertices, edges, faces)
}

#[test]
fn ipctk_confirms_which_sheets_intersect() {
    let python = std::env::var("DRYSTONE_PYTHON").unwrap_or_else(|_| "python3".into());
    let present = Command::new(&python)
        .args(["-c", "import ipctk, numpy"])
        .output();
    if !present.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} has no ipctk");
        return;
    }
    let mut program = String::from(
        "import ipctk, numpy as np\ndef check(v, e, f):\n    m = ipctk.CollisionMesh(np.array(v), np.array(e), np.array(f))\n    print(int(ipctk.has_intersections(m, np.array(v))))\n",
    );
    let mut ours = Vec::new();
    for k in 0..60 {
        let (tilt, height) = (0.013 * f64::from(k % 7), 0.05 * f64::from(k % 13));
        let (vertices, edges, faces) = sheets(6, tilt, height);
        ours.push(!edge_face(&vertices, &edges, &faces).unwrap().is_empty());
        let rows: Vec<[f64; 3]> = vertices.iter().map(|p| p.to_array()).collect();
        writeln!(program, "check({rows:?}, {edges:?}, {faces:?})").unwrap();
    }
    let name = format!("drystone-intersect-{}.py", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, program).unwrap();
    let output = Command::new(&python).arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let theirs: Vec<bool> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line == "1")
        .collect();
    assert_eq!(ours, theirs);
    let count = ours.iter().filter(|&&hit| hit).count();
    assert!(
        (10..50).contains(&count),
        "{count} of 60 intersect: a poor test"
    );
}
