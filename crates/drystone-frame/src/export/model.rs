//! What the objects are made of: meshes, each once, and where they sit in the objects.

use std::collections::HashMap;

use super::palette;
use crate::mesh::{Extent, Mesh, mesh_of, radius_of};
use crate::{Form, Frame, Part, Stage};

/// The meshes of a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Each different mesh once.
    pub meshes: Vec<Mesh>,
    /// For each object its meshes.
    pub objects: Vec<Vec<PlacedMesh>>,
    /// For each object whether it only carries a skin and is not shown itself.
    pub(super) hidden: Vec<bool>,
    /// For each object the number of its colour.
    pub(super) colours: Vec<usize>,
}

/// A mesh at a pose in the axes of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedMesh {
    /// Index of the mesh.
    pub mesh: usize,
    /// Offset in m.
    pub position: [f64; 3],
    /// Unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// Factor on the mesh: balls of all sizes are one mesh.
    pub scale: f64,
}

impl PlacedMesh {
    /// Whether it sits at the origin of its object, not turned.
    pub(super) fn is_at_origin(&self) -> bool {
        self.position == [0.0; 3] && self.rotation == [0.0, 0.0, 0.0, 1.0]
    }
}

impl Model {
    /// The model of a stage; the first frame says how large half-spaces need to be.
    #[must_use]
    pub fn new(stage: &Stage, first: &Frame) -> Self {
        let size = Size::of(stage, first);
        let mut model = Self::default();
        // Only looked up, never gone through, so its order does not matter.
        let mut known = HashMap::new();
        model.hidden = hidden(stage);
        for (index, object) in stage.objects.iter().enumerate() {
            let mut placed = Vec::new();
            let is_hidden = model.hidden.get(index) == Some(&true);
            for part in object.parts.iter().filter(|_| !is_hidden) {
                let (form, scale) = match &part.form {
                    Form::Ball { radius } if stage.dimension != 2 => {
                        (Form::Ball { radius: 1.0 }, *radius)
                    }
                    form => (form.clone(), 1.0),
                };
                let extent = size.extent(part, first, index);
                let key = key(&form, &extent);
                let mesh = *known.entry(key).or_insert_with(|| {
                    model.meshes.push(mesh_of(&form, stage.dimension, &extent));
                    model.meshes.len() - 1
                });
                placed.push(PlacedMesh {
                    mesh,
                    position: part.position,
                    rotation: normalized(part.rotation),
                    scale,
                });
            }
            // What has no triangles can't be shown.
            placed.retain(|p| !model.meshes[p.mesh].triangles.is_empty());
            model.objects.push(placed);
            model.colours.push(palette::colour_of(index, object));
        }
        model
    }
}

/// For each object whether a skin hangs on it.
pub(super) fn hidden(stage: &Stage) -> Vec<bool> {
    let mut hidden = vec![false; stage.objects.len()];
    for &object in stage.skins.iter().flat_map(|skin| &skin.objects) {
        if let Some(hidden) = hidden.get_mut(object as usize) {
            *hidden = true;
        }
    }
    hidden
}

/// What tells meshes apart. Only half-spaces depend on where they are.
fn key(form: &Form, extent: &Extent) -> String {
    match form {
        Form::HalfSpace { .. } => format!("{form:?} {:?}", extent.centre),
        _ => format!("{form:?}"),
    }
}

/// How large a scene is.
struct Size {
    centre: [f64; 3],
    /// Distance in m from the centre to the farthest point of a finite object.
    radius: f64,
    half_depth: f64,
}

impl Size {
    fn of(stage: &Stage, first: &Frame) -> Self {
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        let (mut sizes, mut count) = (0.0, 0.0);
        for (object, position) in stage.objects.iter().zip(&first.positions) {
            for part in &object.parts {
                let radius = radius_of(&part.form);
                if radius > 0.0 && radius.is_finite() {
                    sizes += radius;
                    count += 1.0;
                    for i in 0..3 {
                        low[i] = low[i].min(position[i] + part.position[i] - radius);
                        high[i] = high[i].max(position[i] + part.position[i] + radius);
                    }
                }
            }
        }
        if count == 0.0 {
            return Self {
                centre: [0.0; 3],
                radius: 1.0,
                half_depth: 0.1,
            };
        }
        let half = (0..3).map(|i| 0.5 * (high[i] - low[i]));
        Self {
            centre: std::array::from_fn(|i| 0.5 * (low[i] + high[i])),
            radius: half.map(|x| x * x).sum::<f64>().sqrt(),
            half_depth: 0.25 * sizes / count,
        }
    }

    fn extent(&self, part: &Part, first: &Frame, object: usize) -> Extent {
        let position = first.positions.get(object).copied().unwrap_or_default();
        let rotation = first.rotations.get(object).copied();
        let rotation = rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let seen = rotate(inverse(rotation), sub(self.centre, position));
        Extent {
            half_depth: self.half_depth,
            reach: 3.0 * self.radius,
            centre: rotate(inverse(part.rotation), sub(seen, part.position)),
        }
    }
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn inverse([x, y, z, w]: [f64; 4]) -> [f64; 4] {
    [-x, -y, -z, w]
}

/// Turns a vector by a unit quaternion: v + 2 w (u × v) + 2 u × (u × v).
pub(super) fn rotate([x, y, z, w]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let t = [
        2.0 * (y * v[2] - z * v[1]),
        2.0 * (z * v[0] - x * v[2]),
        2.0 * (x * v[1] - y * v[0]),
    ];
    [
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    ]
}

/// The unit quaternion, or no turn where there is none.
pub(super) fn normalized(q: [f64; 4]) -> [f64; 4] {
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() {
        q.map(|x| x / length)
    } else {
        [0.0, 0.0, 0.0, 1.0]
    }
}

/// A vertex of a placed mesh in the world.
pub(super) fn place(
    placed: &PlacedMesh,
    position: [f64; 3],
    rotation: [f64; 4],
    vertex: [f64; 3],
) -> [f64; 3] {
    let scaled = vertex.map(|x| placed.scale * x);
    let inside = rotate(placed.rotation, scaled);
    let inside = std::array::from_fn(|i| inside[i] + placed.position[i]);
    let outside = rotate(rotation, inside);
    std::array::from_fn(|i| outside[i] + position[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    #[test]
    fn turns_are_those_of_the_quaternion() {
        let half = 0.5_f64.sqrt();
        // A quarter turn about z takes x to y.
        let found = rotate([0.0, 0.0, half, half], [1.0, 0.0, 0.0]);
        assert!((found[0].abs() + (found[1] - 1.0).abs() + found[2].abs()) < 1e-15);
    }

    #[test]
    fn equal_forms_share_a_mesh_and_balls_of_all_sizes_too() {
        let object = |form: Form| Object {
            name: String::new(),
            fixed: false,
            parts: vec![Part {
                position: [0.0; 3],
                rotation: [0.0, 0.0, 0.0, 1.0],
                form,
            }],
        };
        let stage = Stage {
            dimension: 3,
            objects: vec![
                object(Form::Ball { radius: 1.0 }),
                object(Form::Ball { radius: 2.0 }),
                object(Form::Box { half: [1.0; 3] }),
                object(Form::Box { half: [1.0; 3] }),
                object(Form::Box { half: [2.0; 3] }),
            ],
            ..Stage::default()
        };
        let frame = Frame {
            positions: vec![[0.0; 3]; 5],
            ..Frame::default()
        };
        let model = Model::new(&stage, &frame);
        let meshes: Vec<usize> = model.objects.iter().map(|o| o[0].mesh).collect();
        assert_eq!(meshes, [0, 0, 1, 1, 2]);
        assert_eq!(model.objects[1][0].scale, 2.0);
    }
}
