//! A mesh as a scene of one body, and meshes as shapes of bodies.

use std::collections::BTreeMap;

use super::{Imported, stl};
use crate::error::SceneError;
use crate::obj;
use crate::schema::{Body, Kind, Scene, Shape};

/// Vertices and triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Surface {
    pub(super) points: Vec<Vec<f64>>,
    pub(super) triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Whether it has an inside: every edge has one triangle on either side.
    pub(super) fn is_closed(&self) -> bool {
        let mut edges: BTreeMap<(u32, u32), i64> = BTreeMap::new();
        for &[a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                *edges.entry((from, to)).or_default() += 1;
            }
        }
        let is_paired = |(&(from, to), &count): (&(u32, u32), &i64)| {
            count == 1 && edges.get(&(to, from)) == Some(&1)
        };
        !edges.is_empty() && edges.iter().all(is_paired)
    }

    /// Six times the volume within, m³; negative if it is inside out.
    fn volume(&self) -> f64 {
        let point = |k: u32| match self.points.get(k as usize).map(Vec::as_slice) {
            Some(&[x, y, z]) => drystone::glam::DVec3::new(x, y, z),
            _ => Default::default(),
        };
        let corners = |[a, b, c]: [u32; 3]| point(a).dot(point(b).cross(point(c)));
        self.triangles
            .iter()
            .map(|&triangle| corners(triangle))
            .sum()
    }

    /// With every coordinate times a factor of its axis.
    pub(super) fn scaled(mut self, factors: [f64; 3]) -> Self {
        for point in &mut self.points {
            for (x, factor) in point.iter_mut().zip(factors) {
                *x *= factor;
            }
        }
        self
    }

    /// As the surface of something fixed.
    pub(super) fn into_mesh(self, decompose: bool) -> Shape {
        Shape::Mesh {
            points: self.points,
            triangles: self.triangles,
            file: None,
            one_sided: false,
            decompose,
        }
    }

    /// As its convex hull.
    pub(super) fn into_hull(self) -> Shape {
        Shape::Hull {
            points: self.points,
            rounding: None,
        }
    }
}

/// Whether [`read`] reads files of this name.
pub(super) fn is_read(file: &str) -> bool {
    let ending = file.rsplit('.').next().unwrap_or_default();
    ["stl", "obj"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

/// Reads a mesh: STL by the ending of its name, otherwise OBJ.
pub(super) fn read(bytes: &[u8], file: &str) -> Result<Surface, SceneError> {
    if file.to_ascii_lowercase().ends_with("stl") {
        return stl::read(bytes, file);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let problem = format!("byte {} is not UTF-8", error.valid_up_to());
        SceneError::unreadable(file, problem, "export the mesh as Wavefront OBJ again")
    })?;
    read_obj(text, file)
}

fn read_obj(text: &str, file: &str) -> Result<Surface, SceneError> {
    obj::parse(text, file).map(|(points, triangles)| Surface { points, triangles })
}

/// A Wavefront OBJ file as a scene.
pub(super) fn import_obj(text: &str, file: &str) -> Result<Imported, SceneError> {
    let mut unsupported = Vec::new();
    let has = |word: &str| {
        text.lines()
            .any(|line| line.split_whitespace().next() == Some(word))
    };
    for (word, what) in [
        ("mtllib", "materials (`mtllib`) say how it looks"),
        ("curv", "curves (`curv`)"),
        ("surf", "free-form surfaces (`surf`)"),
        ("l", "lines (`l`)"),
        ("p", "points (`p`)"),
    ] {
        if has(word) {
            unsupported.push(what.to_owned());
        }
    }
    one_body(read_obj(text, file)?, file, unsupported)
}

/// An STL file as a scene.
pub(super) fn import_stl(bytes: &[u8], file: &str) -> Result<Imported, SceneError> {
    one_body(stl::read(bytes, file)?, file, Vec::new())
}

/// A closed mesh becomes a solid that moves, an open one a fixed surface.
fn one_body(
    mut surface: Surface,
    file: &str,
    mut unsupported: Vec<String>,
) -> Result<Imported, SceneError> {
    if surface.triangles.is_empty() {
        let problem = "there is no triangle in it";
        let help = "export the mesh with its faces";
        return Err(SceneError::unreadable(file, problem, help));
    }
    let is_solid = surface.is_closed();
    if is_solid && surface.volume() < 0.0 {
        unsupported.push("its triangles face inwards: they are turned around".to_owned());
        for [_, b, c] in &mut surface.triangles {
            std::mem::swap(b, c);
        }
    }
    let mut scene = Scene::new("", 3);
    scene.look = match is_solid {
        true => "a closed mesh, as a solid that falls".to_owned(),
        false => "an open mesh, as a fixed surface".to_owned(),
    };
    scene.bodies.push(Body {
        name: Some("mesh".to_owned()),
        kind: if is_solid { Kind::Rigid } else { Kind::Fixed },
        shape: Some(surface.into_mesh(is_solid)),
        ..Body::default()
    });
    Ok(Imported { scene, unsupported })
}
