//! Meshes of deformables: generators, checks, surfaces.

use super::DeformError;
use crate::geometry::shape::Pose;
use crate::math::algebra::{Algebra, Components, D2, D3, Linear};
use glamx::{DVec2, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// Least height of an element over its longest edge.
const FLATTEST: f64 = 1e-6;

/// What a mesh is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// A rope or a net of strings.
    Segments(Vec<[u32; 2]>),
    /// In space a cloth, in the plane a solid.
    Triangles(Vec<[u32; 3]>),
    /// A solid in space.
    Tetrahedra(Vec<[u32; 4]>),
}

impl Cells {
    /// The corners of every cell.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = &[u32]> + '_> {
        match self {
            Self::Segments(list) => Box::new(list.iter().map(|c| c.as_slice())),
            Self::Triangles(list) => Box::new(list.iter().map(|c| c.as_slice())),
            Self::Tetrahedra(list) => Box::new(list.iter().map(|c| c.as_slice())),
        }
    }
}

/// A mesh at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh<S: Algebra> {
    /// Where the nodes are, m.
    pub vertices: Vec<S::Vector>,
    /// What joins them.
    pub cells: Cells,
}

/// The outside of a mesh: what is drawn and what collides.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Surface {
    pub(crate) faces: Vec<[u32; 3]>,
    pub(crate) edges: Vec<[u32; 2]>,
}

impl<S: Algebra> Mesh<S> {
    /// A straight rope of `segments` equal pieces from one point to another.
    #[must_use]
    pub fn rope(from: S::Vector, to: S::Vector, segments: u32) -> Self {
        let count = segments.max(1);
        let at = |k: u32| from + (to - from) * (f64::from(k) / f64::from(count));
        Self {
            vertices: (0..=count).map(at).collect(),
            cells: Cells::Segments((0..count).map(|k| [k, k + 1]).collect()),
        }
    }

    /// The mesh moved to a pose.
    #[must_use]
    pub fn placed(mut self, pose: &Pose<S>) -> Self {
        for vertex in &mut self.vertices {
            *vertex = pose.point(*vertex);
        }
        self
    }

    /// The first thing that is wrong with the mesh.
    pub fn check(&self) -> Result<(), DeformError> {
        if let Some(vertex) = self.vertices.iter().position(|v| !v.is_finite()) {
            return Err(DeformError::NotFinite { vertex });
        }
        self.check_duplicates()?;
        let mut used = vec![false; self.vertices.len()];
        for (cell, corners) in self.cells.iter().enumerate() {
            for &corner in corners {
                match used.get_mut(corner as usize) {
                    Some(mark) => *mark = true,
                    None => {
                        return Err(DeformError::NoVertex {
                            cell,
                            vertex: corner,
                            count: self.vertices.len(),
                        });
                    }
                }
            }
            self.check_cell(cell, corners)?;
        }
        match used.iter().position(|is_used| !is_used) {
            Some(vertex) => Err(DeformError::Unused { vertex }),
            None => Ok(()),
        }
    }

    fn check_duplicates(&self) -> Result<(), DeformError> {
        let bits = |v: &S::Vector| v.to_array3().map(|c| (c + 0.0).to_bits());
        let mut seen = BTreeMap::new();
        for (vertex, place) in self.vertices.iter().enumerate() {
            if let Some(&first) = seen.get(&bits(place)) {
                return Err(DeformError::Duplicate { first, vertex });
            }
            seen.insert(bits(place), vertex);
        }
        Ok(())
    }

    /// Whether a cell has a volume, and the right sign of it where it fills its space.
    fn check_cell(&self, cell: usize, corners: &[u32]) -> Result<(), DeformError> {
        let longest = corners
            .iter()
            .flat_map(|&a| corners.iter().map(move |&b| (a, b)))
            .map(|(a, b)| (self.at(a) - self.at(b)).length())
            .fold(0.0, f64::max);
        let volume = self.volume(corners);
        let least = FLATTEST * longest.powi(corners.len() as i32 - 1);
        if volume.abs() > least && volume > 0.0 {
            Ok(())
        } else if volume < -least {
            Err(DeformError::Inverted { cell })
        } else {
            Err(DeformError::Degenerate { cell })
        }
    }

    pub(crate) fn at(&self, vertex: u32) -> S::Vector {
        self.vertices[vertex as usize]
    }

    /// Length, area or volume of a cell; with a sign where the cell fills its space.
    pub(crate) fn volume(&self, corners: &[u32]) -> f64 {
        use super::bending::{cross, dot, length};
        let edge = |k: usize| (self.at(corners[k]) - self.at(corners[0])).to_array3();
        match corners.len() {
            2 => length(edge(1)),
            3 if S::DIM == 2 => 0.5 * cross(edge(1), edge(2))[2],
            3 => 0.5 * length(cross(edge(1), edge(2))),
            4 => dot(edge(1), cross(edge(2), edge(3))) / 6.0,
            _ => 0.0,
        }
    }

    /// Every pair of nodes that a cell joins, the smaller number first.
    pub(crate) fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges = BTreeSet::new();
        for corners in self.cells.iter() {
            for (k, &a) in corners.iter().enumerate() {
                edges.extend(corners[k + 1..].iter().map(|&b| [a.min(b), a.max(b)]));
            }
        }
        edges.into_iter().collect()
    }

    /// The outside.
    pub(crate) fn surface(&self) -> Surface {
        match &self.cells {
            Cells::Segments(_) => Surface {
                faces: Vec::new(),
                edges: self.edges(),
            },
            Cells::Triangles(faces) if S::DIM == 2 => Surface {
                faces: faces.clone(),
                edges: boundary(faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])),
            },
            Cells::Triangles(faces) => Surface {
                faces: faces.clone(),
                edges: self.edges(),
            },
            Cells::Tetrahedra(cells) => {
                // Faces of a tetrahedron whose corners turn counter-clockwise seen from outside.
                let sides = |&[a, b, c, d]: &[u32; 4]| [[a, c, b], [a, b, d], [b, c, d], [a, d, c]];
                let faces = boundary(cells.iter().flat_map(sides));
                let shell = Self {
                    vertices: Vec::new(),
                    cells: Cells::Triangles(faces.clone()),
                };
                Surface {
                    faces,
                    edges: shell.edges(),
                }
            }
        }
    }
}

/// The sides that only one cell has, in the order of their sorted corners.
fn boundary<const K: usize>(sides: impl Iterator<Item = [u32; K]>) -> Vec<[u32; K]> {
    let mut seen: BTreeMap<[u32; K], (u32, [u32; K])> = BTreeMap::new();
    for side in sides {
        let mut key = side;
        key.sort_unstable();
        seen.entry(key).or_insert((0, side)).0 += 1;
    }
    seen.into_values()
        .filter(|(count, _)| *count == 1)
        .map(|(_, side)| side)
        .collect()
}

/// The two triangles of a rectangle's corners (counter-clockwise), cut along one diagonal or the
/// other by turns, so that no direction is special.
fn halves([a, b, c, d]: [u32; 4], is_odd: bool) -> [[u32; 3]; 2] {
    if is_odd {
        [[a, b, d], [b, c, d]]
    } else {
        [[a, b, c], [a, c, d]]
    }
}

fn rectangle(cells: [u32; 2]) -> Vec<[u32; 3]> {
    let [nx, ny] = cells;
    let at = |i: u32, j: u32| j * (nx + 1) + i;
    let mut triangles = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend(halves(corners, (i + j) % 2 == 1));
        }
    }
    triangles
}

/// Coordinate k of n + 1 evenly spaced ones around 0.
fn spread(k: u32, n: u32, size: f64) -> f64 {
    size * (f64::from(k) / f64::from(n) - 0.5)
}

impl Mesh<D3> {
    /// A rectangular cloth in the plane y = 0 around the origin, `size` m along x and z. Node
    /// (i, j) has the number j (cells\[0\] + 1) + i.
    #[must_use]
    pub fn cloth(size: [f64; 2], cells: [u32; 2]) -> Self {
        let cells = cells.map(|n| n.max(1));
        let mut vertices = Vec::new();
        for j in 0..=cells[1] {
            for i in 0..=cells[0] {
                let (x, z) = (spread(i, cells[0], size[0]), spread(j, cells[1], size[1]));
                vertices.push(DVec3::new(x, 0.0, z));
            }
        }
        Self {
            vertices,
            cells: Cells::Triangles(rectangle(cells)),
        }
    }

    /// A net of strings in the plane y = 0 around the origin, `size` m along x and z. Nodes are
    /// numbered as those of [`Mesh::cloth`].
    #[must_use]
    pub fn net(size: [f64; 2], cells: [u32; 2]) -> Self {
        let [nx, nz] = cells.map(|n| n.max(1));
        let at = |i: u32, j: u32| j * (nx + 1) + i;
        let mut strings = Vec::new();
        for j in 0..=nz {
            for i in 0..=nx {
                strings.extend((i < nx).then(|| [at(i, j), at(i + 1, j)]));
                strings.extend((j < nz).then(|| [at(i, j), at(i, j + 1)]));
            }
        }
        Self {
            vertices: Self::cloth(size, [nx, nz]).vertices,
            cells: Cells::Segments(strings),
        }
    }

    /// A box around the origin of `size` m, each of its small boxes cut into six tetrahedra. Node
    /// (i, j, k) has the number (k (cells\[1\] + 1) + j)(cells\[0\] + 1) + i.
    #[must_use]
    pub fn block(size: [f64; 3], cells: [u32; 3]) -> Self {
        let cells = cells.map(|n| n.max(1));
        let [nx, ny, nz] = cells;
        let mut vertices = Vec::new();
        for k in 0..=nz {
            for j in 0..=ny {
                for i in 0..=nx {
                    vertices.push(DVec3::new(
                        spread(i, nx, size[0]),
                        spread(j, ny, size[1]),
                        spread(k, nz, size[2]),
                    ));
                }
            }
        }
        let at = |p: [u32; 3]| (p[2] * (ny + 1) + p[1]) * (nx + 1) + p[0];
        let mut tetrahedra = Vec::new();
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    tetrahedra.extend(six_tetrahedra([i, j, k]).map(|corners| corners.map(at)));
                }
            }
        }
        Self {
            vertices,
            cells: Cells::Tetrahedra(tetrahedra),
        }
    }
}

impl Mesh<D2> {
    /// A rectangle around the origin of `size` m. Node (i, j) has the number
    /// j (cells\[0\] + 1) + i.
    #[must_use]
    pub fn block(size: [f64; 2], cells: [u32; 2]) -> Self {
        let cells = cells.map(|n| n.max(1));
        let mut vertices = Vec::new();
        for j in 0..=cells[1] {
            for i in 0..=cells[0] {
                let (x, y) = (spread(i, cells[0], size[0]), spread(j, cells[1], size[1]));
                vertices.push(DVec2::new(x, y));
            }
        }
        Self {
            vertices,
            cells: Cells::Triangles(rectangle(cells)),
        }
    }
}

/// A small box as the six ways to walk from its lowest corner to its highest along the axes; two
/// neighbours cut their common side alike.
fn six_tetrahedra(low: [u32; 3]) -> [[[u32; 3]; 4]; 6] {
    const WALKS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [0, 2, 1],
        [2, 1, 0],
        [1, 0, 2],
    ];
    let mut index = 0;
    WALKS.map(|walk| {
        let mut corners = [low; 4];
        for step in 0..3 {
            corners[step + 1] = corners[step];
            corners[step + 1][walk[step]] += 1;
        }
        // The last three walks turn the other way.
        if index >= 3 {
            corners.swap(2, 3);
        }
        index += 1;
        corners
    })
}
