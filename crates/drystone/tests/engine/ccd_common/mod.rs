//! The queries of `../shared/data/ccd`, where they are present.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests may fail loudly"
)]

use std::path::{Path, PathBuf};

use drystone::geometry::ccd::{TimeOfImpact, edge_edge, vertex_face};
use drystone::glam::DVec3;

/// Which primitives a query is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows: vertex, then the corners of a face.
    VertexFace,
    /// Rows: the ends of one edge, then of the other.
    EdgeEdge,
}

/// A query with its exact answer.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// The data set it is from, for messages.
    #[allow(dead_code, reason = "not every user prints it")]
    pub(crate) set: String,
    /// Which primitives.
    pub(crate) kind: Kind,
    /// Corners at t = 0.
    pub(crate) start: [DVec3; 4],
    /// Corners at t = 1.
    pub(crate) end: [DVec3; 4],
    /// Whether they touch.
    pub(crate) truth: bool,
}

impl Query {
    /// Our answer.
    pub(crate) fn ask(&self, separation: f64) -> Option<TimeOfImpact> {
        match self.kind {
            Kind::VertexFace => vertex_face(&self.start, &self.end, separation, 1.0),
            Kind::EdgeEdge => edge_edge(&self.start, &self.end, separation, 1.0),
        }
    }
}

/// Where the data are, beside the project.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ccd")
}

/// All queries in the order of their paths; none, with a message, where the data are missing.
pub(crate) fn queries() -> Vec<Query> {
    let mut files = Vec::new();
    for set in listed(&folder()) {
        for (name, kind) in [
            ("vertex-face", Kind::VertexFace),
            ("edge-edge", Kind::EdgeEdge),
        ] {
            for file in listed(&set.join(name)) {
                files.push((set.clone(), kind, file));
            }
        }
    }
    if files.is_empty() {
        eprintln!("skipped: no queries under {}", folder().display());
    }
    files
        .iter()
        .flat_map(|(set, kind, file)| read(set, *kind, file))
        .collect()
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read(set: &Path, kind: Kind, file: &Path) -> Vec<Query> {
    let text = std::fs::read_to_string(file).unwrap();
    let rows: Vec<(DVec3, bool)> = text.lines().map(row).collect();
    assert_eq!(rows.len() % 8, 0, "{}: eight rows a query", file.display());
    rows.chunks_exact(8)
        .map(|rows| Query {
            set: set.file_name().unwrap().to_string_lossy().into_owned(),
            kind,
            start: std::array::from_fn(|k| rows[k].0),
            end: std::array::from_fn(|k| rows[4 + k].0),
            truth: rows[0].1,
        })
        .collect()
}

/// A row of fractions. Numerator and denominator may be too long for f64 one by one; their
/// quotient is exact, so the sign, the digits and the power of two are put together.
fn row(line: &str) -> (DVec3, bool) {
    let fields: Vec<&str> = line.trim().split(',').collect();
    assert_eq!(fields.len(), 7, "{line}");
    let number = |at: usize| {
        let fraction: num_rational::BigRational = format!("{}/{}", fields[at], fields[at + 1])
            .parse()
            .unwrap();
        let value = num_traits::ToPrimitive::to_f64(&fraction).unwrap();
        let back = num_rational::BigRational::from_float(value).unwrap();
        assert_eq!(back, fraction, "{line}: not exact in f64");
        value
    };
    let truth = match fields[6] {
        "0" => false,
        "1" => true,
        other => panic!("{line}: truth is 0 or 1, not {other}"),
    };
    (DVec3::new(number(0), number(2), number(4)), truth)
}
