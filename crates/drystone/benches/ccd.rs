//! Continuous collision: missed and needless hits and time a query on the public queries, and
//! where the time of a moving cloth goes.
//!
//! `DRYSTONE_PYTHON=/path/to/python cargo bench -p drystone --bench ccd` prints tables for
//! people and a line of JSON a row for programs. The Python is the one that has `ipctk`
//! (`pip install ipctk numpy`); without it its rows are left out. One thread, best of several
//! rounds.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use drystone::D3;
use drystone::geometry::ccd::broad_phase::{BroadPhase, Mesh};
use drystone::geometry::ccd::{edge_edge, vertex_face};
use drystone::glam::DVec3;

#[path = "../tests/engine/ccd_common/mod.rs"]
mod ccd_common;

use ccd_common::{Kind, Query};

/// One row of the table of methods.
struct Row {
    name: String,
    kind: Kind,
    missed: usize,
    needless: usize,
    micros: f64,
    /// Less the overhead of a call from Python.
    net_micros: f64,
}

fn main() {
    let queries = ccd_common::queries();
    if !queries.is_empty() {
        let mut rows = Vec::new();
        for kind in [Kind::VertexFace, Kind::EdgeEdge] {
            let of_kind: Vec<&Query> = queries.iter().filter(|q| q.kind == kind).collect();
            rows.push(measure("drystone", kind, &of_kind, |q| {
                q.ask(0.0).is_some()
            }));
            rows.push(measure("cubic root-finder", kind, &of_kind, by_cubic));
        }
        rows.extend(by_ipctk(&queries));
        print_rows(&queries, &rows);
    }
    cloth_table();
}

fn measure(name: &str, kind: Kind, queries: &[&Query], ask: impl Fn(&Query) -> bool) -> Row {
    let mut best = f64::INFINITY;
    for _ in 0..25 {
        let begin = Instant::now();
        for query in queries {
            black_box(ask(black_box(query)));
        }
        best = best.min(begin.elapsed().as_secs_f64());
    }
    let micros = 1e6 * best / queries.len() as f64;
    Row {
        name: name.into(),
        kind,
        missed: queries.iter().filter(|q| q.truth && !ask(q)).count(),
        needless: queries.iter().filter(|q| !q.truth && ask(q)).count(),
        micros,
        net_micros: micros,
    }
}

fn print_rows(queries: &[Query], rows: &[Row]) {
    let touch = queries.iter().filter(|q| q.truth).count();
    println!("{} queries, {touch} touch\n", queries.len());
    println!("| method | query | missed | needless hits | µs a query | less an empty call |");
    println!("|---|---|---|---|---|---|");
    for row in rows {
        println!(
            "| {} | {:?} | {} | {} | {:.3} | {:.3} |",
            row.name, row.kind, row.missed, row.needless, row.micros, row.net_micros
        );
    }
    for row in rows {
        println!(
            r#"{{"method":"{}","query":"{:?}","missed":{},"needless":{},"micros":{:.4},"net_micros":{:.4}}}"#,
            row.name, row.kind, row.missed, row.needless, row.micros, row.net_micros
        );
    }
}

/// The plain way, for comparison: the roots of the volume in plain arithmetic, and at each
/// whether the foot is inside. No margin of any kind.
fn by_cubic(query: &Query) -> bool {
    let seen_from_first = |p: &[DVec3; 4]| [p[1] - p[0], p[2] - p[0], p[3] - p[0]];
    let (from, to) = (seen_from_first(&query.start), seen_from_first(&query.end));
    let speed: [DVec3; 3] = std::array::from_fn(|k| to[k] - from[k]);
    let volume = |a: DVec3, b: DVec3, c: DVec3| a.dot(b.cross(c));
    let cubic = [
        volume(from[0], from[1], from[2]),
        volume(speed[0], from[1], from[2])
            + volume(from[0], speed[1], from[2])
            + volume(from[0], from[1], speed[2]),
        volume(from[0], speed[1], speed[2])
            + volume(speed[0], from[1], speed[2])
            + volume(speed[0], speed[1], from[2]),
        volume(speed[0], speed[1], speed[2]),
    ];
    roots(&cubic).iter().flatten().any(|&t| {
        let at: [DVec3; 3] = std::array::from_fn(|k| from[k] + speed[k] * t);
        match query.kind {
            Kind::VertexFace => {
                let normal = (at[1] - at[0]).cross(at[2] - at[0]);
                let area = |a: DVec3, b: DVec3| a.cross(b).dot(normal);
                area(at[0], at[1]) >= 0.0 && area(at[1], at[2]) >= 0.0 && area(at[2], at[0]) >= 0.0
            }
            Kind::EdgeEdge => {
                let (p, q) = (at[0], at[2] - at[1]);
                let normal = p.cross(q);
                let square = normal.length_squared();
                let inside = 0.0..=square;
                inside.contains(&at[1].cross(q).dot(normal))
                    && inside.contains(&at[1].cross(p).dot(normal))
            }
        }
    })
}

/// Roots of a cubic from 0 to 1: bisection between its extrema.
fn roots(c: &[f64; 4]) -> [Option<f64>; 3] {
    let at = |t: f64| ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
    let root_of = c[2] * c[2] - 3.0 * c[3] * c[1];
    let mut cuts = [0.0, 1.0, 1.0, 1.0];
    if root_of > 0.0 {
        // The two extrema without cancellation.
        let q = -(c[2] + root_of.sqrt().copysign(c[2]));
        let (a, b) = (q / (3.0 * c[3]), c[1] / q);
        let inside = |t: f64| if t > 0.0 && t < 1.0 { t } else { 1.0 };
        let (a, b) = (inside(a), inside(b));
        cuts[1] = a.min(b);
        cuts[2] = a.max(b);
    }
    std::array::from_fn(|k| {
        let (mut low, mut high) = (cuts[k], cuts[k + 1]);
        let (at_low, at_high) = (at(low), at(high));
        if low >= high || at_low * at_high > 0.0 {
            return None;
        }
        for _ in 0..53 {
            let middle = 0.5 * (low + high);
            if at(middle) * at_low <= 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    })
}

/// The same queries in Python, if there is one with ipctk.
fn by_ipctk(queries: &[Query]) -> Vec<Row> {
    let python = std::env::var("DRYSTONE_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_ipctk = Command::new(&python)
        .args(["-c", "import ipctk, numpy"])
        .output();
    if !has_ipctk.is_ok_and(|output| output.status.success()) {
        eprintln!("{python} has no ipctk: its rows are left out (set DRYSTONE_PYTHON)");
        return Vec::new();
    }
    let folder = std::env::temp_dir().join(format!("drystone-ccd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (corners, labels) = (folder.join("corners"), folder.join("labels"));
    let numbers = queries.iter().flat_map(|q| q.start.iter().chain(&q.end));
    let bytes: Vec<u8> = numbers
        .flat_map(|p| p.to_array())
        .flat_map(f64::to_le_bytes)
        .collect();
    std::fs::write(&corners, bytes).unwrap();
    let label = |q: &Query| [u8::from(q.kind == Kind::EdgeEdge), u8::from(q.truth)];
    std::fs::write(&labels, queries.iter().flat_map(label).collect::<Vec<u8>>()).unwrap();
    let output = Command::new(&python)
        .args(["-c", include_str!("ccd_ipctk.py")])
        .args([&corners, &labels])
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    if !output.status.success() {
        eprintln!("ipctk failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(row_of_ipctk).collect()
}

fn row_of_ipctk(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [name, kind, missed, needless, micros, net] = fields[..] else {
        return None;
    };
    Some(Row {
        name: name.into(),
        kind: if kind == "0" {
            Kind::VertexFace
        } else {
            Kind::EdgeEdge
        },
        missed: missed.parse().ok()?,
        needless: needless.parse().ok()?,
        micros: micros.parse().ok()?,
        net_micros: net.parse().ok()?,
    })
}

/// A square cloth of n × n vertices folded over itself, 1 m wide, in waves.
struct Cloth {
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
}

impl Cloth {
    fn new(n: usize) -> Self {
        let spacing = 1.0 / n as f64;
        let place = |k: usize, t: f64| {
            let (x, y) = ((k % n) as f64 * spacing, (k / n) as f64 * spacing);
            // Folded in the middle: two layers, one spacing and a half apart, that approach and
            // at the far end pass through each other.
            let upper = if x > 0.5 { 1.0 } else { 0.0 };
            let across = if x > 0.5 { 1.0 - x } else { x };
            let wave = 0.05 * (9.0 * across).sin() * (7.0 * y).cos();
            let height = wave + upper * spacing * (1.5 - 1.7 * t * y);
            DVec3::new(across + 0.3 * spacing * t, height, y + 0.2 * spacing * t)
        };
        let (mut edges, mut faces) = (Vec::new(), Vec::new());
        for y in 0..n as u32 {
            for x in 0..n as u32 {
                let at = y * n as u32 + x;
                let (right, below) = (x + 1 < n as u32, y + 1 < n as u32);
                if right {
                    edges.push([at, at + 1]);
                }
                if below {
                    edges.push([at, at + n as u32]);
                }
                if right && below {
                    edges.push([at, at + n as u32 + 1]);
                    faces.push([at, at + 1, at + n as u32 + 1]);
                    faces.push([at, at + n as u32 + 1, at + n as u32]);
                }
            }
        }
        Self {
            start: (0..n * n).map(|k| place(k, 0.0)).collect(),
            end: (0..n * n).map(|k| place(k, 1.0)).collect(),
            edges,
            faces,
        }
    }

    /// Asks every candidate; the number of hits.
    fn narrow(&self, broad: &BroadPhase<D3>) -> usize {
        let corners = |at: &[DVec3], list: [u32; 4]| list.map(|k| at[k as usize]);
        let faces = broad.vertex_face().iter().filter(|&&[v, f]| {
            let [a, b, c] = self.faces[f as usize];
            let list = [v, a, b, c];
            vertex_face(
                &corners(&self.start, list),
                &corners(&self.end, list),
                0.0,
                1.0,
            )
            .is_some()
        });
        let edges = broad.edge_edge().iter().filter(|&&[p, q]| {
            let ([a, b], [c, d]) = (self.edges[p as usize], self.edges[q as usize]);
            let list = [a, b, c, d];
            edge_edge(
                &corners(&self.start, list),
                &corners(&self.end, list),
                0.0,
                1.0,
            )
            .is_some()
        });
        faces.count() + edges.count()
    }
}

/// The best of `rounds` times in ms.
fn best_of(rounds: usize, mut work: impl FnMut()) -> f64 {
    (0..rounds)
        .map(|_| {
            let begin = Instant::now();
            work();
            1e3 * begin.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn cloth_table() {
    println!(
        "\n| cloth | primitives | candidates | culling, sorted anew, ms | culling, refitted, ms | narrow, ms | hits | culling, ns / (n log₂ n) |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for side in [32, 64, 128, 256] {
        let cloth = Cloth::new(side);
        let mesh = Mesh {
            edges: &cloth.edges,
            faces: &cloth.faces,
        };
        let mut broad = BroadPhase::<D3>::default();
        let rounds = 2048 / side;
        let anew = best_of(rounds, || {
            broad.sweep(&mesh, &cloth.start, &cloth.end, 0.0).unwrap();
        });
        let again = best_of(rounds, || {
            broad
                .sweep_again(&mesh, &cloth.start, &cloth.end, 0.0)
                .unwrap();
        });
        let mut hits = 0;
        let narrow = best_of(rounds, || hits = cloth.narrow(&broad));
        let n = (cloth.start.len() + cloth.edges.len() + cloth.faces.len()) as f64;
        let candidates = broad.vertex_face().len() + broad.edge_edge().len();
        println!(
            "| {side}² | {n} | {candidates} | {anew:.2} | {again:.2} | {narrow:.2} | {hits} | {:.2} |",
            1e6 * anew / (n * n.log2())
        );
        println!(
            r#"{{"cloth":{side},"primitives":{n},"candidates":{candidates},"anew_ms":{anew:.3},"again_ms":{again:.3},"narrow_ms":{narrow:.3},"hits":{hits}}}"#
        );
    }
}
