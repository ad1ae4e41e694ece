//! A mesh as a scene of one body, and meshes as shapes of bodies.

use std::collections::BTreeMap;

use drystone::glam::{DMat3, DVec3};
use drystone_frame::Form;

use super::rigid::Lump;
use super::unread::Listing;
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
    /// Drops triangles without area, as many programs write, and gives their number: three points
    /// on a line, by the engine's own measure of it.
    pub(super) fn drop_flat(&mut self) -> usize {
        let before = self.triangles.len();
        let mut kept = std::mem::take(&mut self.triangles);
        kept.retain(|corners| {
            let [p, q, r] = corners.map(|k| self.point(k as usize));
            let longest = (q - p).length().max((r - q).length()).max((p - r).length());
            0.5 * (q - p).cross(r - p).length() > 1e-12 * longest * longest
        });
        self.triangles = kept;
        before - self.triangles.len()
    }

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
        let point = |k: u32| self.point(k as usize);
        let corners = |[a, b, c]: [u32; 3]| point(a).dot(point(b).cross(point(c)));
        self.triangles
            .iter()
            .map(|&triangle| corners(triangle))
            .sum()
    }

    /// A vertex; the origin for one that is not there.
    pub(super) fn point(&self, k: usize) -> DVec3 {
        match self.points.get(k).map(Vec::as_slice) {
            Some(&[x, y, z]) => DVec3::new(x, y, z),
            _ => DVec3::ZERO,
        }
    }

    /// With triangles seen from the other side.
    pub(super) fn turn_inside_out(&mut self) {
        for [_, b, c] in &mut self.triangles {
            std::mem::swap(b, c);
        }
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

/// What of a mesh has mass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MassOf {
    /// What is within it.
    Inside,
    /// The pyramids from its middle to its triangles, each counted as positive: more than what is
    /// within where it is not star-shaped. MuJoCo's own choice where a model makes none.
    Pyramids,
    /// Its convex hull.
    Hull,
    /// Its surface.
    Skin,
}

impl Surface {
    /// Its mass at 1 kg/m³, or at 1 kg/m² of a skin; `None` for one without volume.
    ///
    /// Every triangle and a middle point make a tetrahedron (or, for a skin, a flat one), of which
    /// all integrals are sums over corners.
    pub(super) fn lump(&self, of: MassOf) -> Option<Lump> {
        if of == MassOf::Hull {
            return self.hull()?.lump(MassOf::Inside);
        }
        let corners = |triangle: &[u32; 3]| triangle.map(|k| self.point(k as usize));
        let triangles: Vec<[DVec3; 3]> = self.triangles.iter().map(corners).collect();
        let area = |[a, b, c]: &[DVec3; 3]| 0.5 * (b - a).cross(c - a).length();
        let skin: f64 = triangles.iter().map(area).sum();
        let centers = triangles
            .iter()
            .map(|t| (t[0] + t[1] + t[2]) / 3.0 * area(t));
        let middle = centers.sum::<DVec3>() / skin;
        // Of a tetrahedron to an apex, or of the triangle itself.
        let mass = |t: &[DVec3; 3], apex: DVec3| {
            let [a, b, c] = t.map(|corner| corner - apex);
            match of {
                MassOf::Skin => area(t),
                MassOf::Pyramids => (a.dot(b.cross(c)) / 6.0).abs(),
                _ => a.dot(b.cross(c)) / 6.0,
            }
        };
        let sum = |apex: DVec3| triangles.iter().map(|t| mass(t, apex)).sum::<f64>();
        let total = sum(middle);
        let moment = |t: &[DVec3; 3]| {
            let sum = t[0] + t[1] + t[2];
            let center = match of {
                MassOf::Skin => sum / 3.0,
                _ => (sum + middle) / 4.0,
            };
            center * mass(t, middle)
        };
        // Pyramids are seen from the middle for their centre, then from there for all else.
        let center = triangles.iter().map(moment).sum::<DVec3>() / total;
        if !(total > f64::MIN_POSITIVE && center.is_finite()) {
            return None;
        }
        let mut second = DMat3::ZERO;
        for t in &triangles {
            let own = t.map(|corner| corner - center);
            // Σ over pairs of corners, of four (the apex is the origin) or of three.
            let share = match of {
                MassOf::Skin => mass(t, center) / 12.0,
                _ => mass(t, center) / 20.0,
            };
            let sum = own[0] + own[1] + own[2];
            for d in [own[0], own[1], own[2], sum] {
                second += DMat3::from_cols(d * d.x, d * d.y, d * d.z) * share;
            }
        }
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        let inertia = DMat3::IDENTITY * trace - second;
        let is_seen_again = of == MassOf::Pyramids;
        Some(Lump {
            mass: if is_seen_again { sum(center) } else { total },
            center,
            inertia,
        })
    }

    /// Its convex hull as a surface; `None` if it is flat.
    fn hull(&self) -> Option<Self> {
        let parts = crate::build::drawn_parts(&self.clone().into_hull())?;
        let forms = parts.into_iter().map(|part| part.form);
        let mut meshes = forms.filter_map(|form| match form {
            Form::Mesh { points, triangles } => Some(Self {
                points: points.iter().map(|point| point.to_vec()).collect(),
                triangles,
            }),
            _ => None,
        });
        meshes.next()
    }
}

/// Whether [`read`] reads files of this name.
pub(super) fn is_read(file: &str) -> bool {
    let ending = file.rsplit('.').next().unwrap_or_default();
    ["stl", "obj"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

/// Reads a mesh: STL by the ending of its name, otherwise OBJ. Triangles without area are left
/// out and listed.
pub(super) fn read(
    bytes: &[u8],
    file: &str,
    unsupported: &mut Vec<String>,
) -> Result<Surface, SceneError> {
    let mut surface = read_all(bytes, file)?;
    unsupported.extend(dropped(&mut surface, file));
    Ok(surface)
}

/// Drops triangles without area and says so.
fn dropped(surface: &mut Surface, file: &str) -> Option<String> {
    let count = surface.drop_flat();
    let of = count + surface.triangles.len();
    (count > 0).then(|| format!("`{file}`: {count} of {of} triangles without area are dropped"))
}

fn read_all(bytes: &[u8], file: &str) -> Result<Surface, SceneError> {
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
    unsupported.extend(dropped(&mut surface, file));
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
    Imported::new(file, scene, unsupported, Listing::default(), 0)
}
