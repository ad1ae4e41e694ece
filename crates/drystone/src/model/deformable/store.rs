//! The deformables of a world, and how elements are made of a mesh.

use super::attachment::Attachment;
use super::bending::{Bending, cross, dot, length};
use super::element::Element;
use super::mesh::Cells;
use super::simplex::{Law, Simplex};
use super::spring::Spring;
use super::{DeformError, Deformable, Mesh, Model};
use crate::geometry::Space;
use crate::geometry::shape::Geometry;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Body, Kind, Mass};
use drystone_frame::Skin;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names a deformable of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeformableId(pub(crate) u32);

impl DeformableId {
    /// Its place among the world's deformables.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A deformable in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Soft {
    pub(crate) name: String,
    /// The body that is each of its nodes.
    pub(crate) nodes: Vec<u32>,
    /// Nodes numbered within it.
    pub(crate) elements: Vec<Element>,
    /// Outside, by bodies.
    pub(crate) faces: Vec<[u32; 3]>,
    pub(crate) edges: Vec<[u32; 2]>,
    /// Nodes that are fixed to rigid bodies.
    pub(crate) attached: Vec<Attachment>,
    /// m.
    pub(crate) thickness: f64,
    /// Whether its faces have both sides free: cloth.
    pub(crate) is_sheet: bool,
}

/// All deformables of a world.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Deformables {
    pub(crate) list: Vec<Option<Soft>>,
}

impl Deformables {
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Soft> {
        self.list.iter().flatten()
    }

    /// Every node that is fixed to a body.
    pub(crate) fn attached(&self) -> impl Iterator<Item = &Attachment> {
        self.iter().flat_map(|soft| &soft.attached)
    }

    pub(crate) fn get(&self, id: DeformableId) -> Option<&Soft> {
        self.list.get(id.0 as usize)?.as_ref()
    }

    /// Elastic energy of all in J.
    pub(crate) fn energy<S: Space>(&self, bodies: &Bodies<S>) -> f64 {
        self.iter().map(|soft| soft.energy(bodies)).sum()
    }

    /// Whether numbers from outside fit together.
    pub(crate) fn is_consistent(&self, bodies: usize) -> bool {
        let fits = |soft: &Soft| {
            let nodes = soft.nodes.len() as u32;
            let known = |k: &u32| (*k as usize) < bodies;
            soft.nodes.iter().all(known)
                && soft.faces.iter().flatten().all(known)
                && soft.edges.iter().flatten().all(known)
                && soft
                    .attached
                    .iter()
                    .all(|a| known(&a.node) && known(&a.body))
                && soft
                    .elements
                    .iter()
                    .all(|e| e.nodes().iter().all(|&k| k < nodes))
        };
        self.iter().all(fits)
    }
}

impl Soft {
    /// Where an element's nodes are, node after node.
    pub(crate) fn places<S: Space>(
        &self,
        bodies: &Bodies<S>,
        element: &Element,
    ) -> [f64; super::element::MOST] {
        self.places_at::<S>(&bodies.position, element)
    }

    /// The same with bodies at other places, m.
    fn places_at<S: Space>(
        &self,
        positions: &[S::Vector],
        element: &Element,
    ) -> [f64; super::element::MOST] {
        let mut x = [0.0; super::element::MOST];
        for (k, &node) in element.nodes().iter().enumerate() {
            let place = positions[self.nodes[node as usize] as usize];
            for axis in 0..S::DIM {
                x[k * S::DIM + axis] = place.component(axis);
            }
        }
        x
    }

    /// How it is drawn.
    pub(crate) fn skin(&self) -> Skin {
        Skin {
            name: self.name.clone(),
            objects: self.nodes.clone(),
            triangles: self.faces.clone(),
            segments: if self.faces.is_empty() {
                self.edges.clone()
            } else {
                Vec::new()
            },
            thickness: self.thickness,
            two_sided: self.is_sheet,
        }
    }

    /// Elastic energy in J.
    pub(crate) fn energy<S: Space>(&self, bodies: &Bodies<S>) -> f64 {
        self.energy_at::<S>(&bodies.position)
    }

    /// The same with bodies at other places, m.
    pub(crate) fn energy_at<S: Space>(&self, positions: &[S::Vector]) -> f64 {
        let places = |element: &Element| self.places_at::<S>(positions, element);
        let of = |element: &Element| element.energy(S::DIM, &places(element));
        self.elements.iter().map(of).sum()
    }
}

impl<S: Space> Deformable<S> {
    /// Mass of each node in kg: every cell's, shared evenly by its corners.
    pub(crate) fn masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.mesh.vertices.len()];
        for corners in self.mesh.cells.iter() {
            let mass = self.substance.density * self.section() * self.mesh.volume(corners);
            for &corner in corners {
                masses[corner as usize] += mass / corners.len() as f64;
            }
        }
        masses
    }

    /// What a cell's length or area is multiplied by to become a volume (in the plane an area).
    fn section(&self) -> f64 {
        let t = self.substance.thickness;
        match (&self.mesh.cells, S::DIM) {
            (Cells::Segments(_), 3) => 0.25 * std::f64::consts::PI * t * t,
            (Cells::Segments(_), _) | (Cells::Triangles(_), 3) => t,
            _ => 1.0,
        }
    }

    /// The node bodies, in order.
    pub(crate) fn bodies(&self, name: &str) -> Result<Vec<Body<S>>, DeformError> {
        let masses = self.masses();
        let shape = S::Shape::of_radius(0.5 * self.substance.thickness)?;
        let is_pinned = |k: u32| self.pinned.contains(&k);
        let script = |k: u32| self.held.iter().find(|(node, _)| *node == k);
        let free =
            (0..masses.len()).filter(|&k| !is_pinned(k as u32) && script(k as u32).is_none());
        let moving: f64 = free.map(|k| masses[k]).sum();
        let body = |(k, (&place, &mass)): (usize, (&S::Vector, &f64))| {
            let k = k as u32;
            let (kind, share) = match script(k) {
                Some((_, script)) => (Kind::Kinematic(script.clone()), 0.0),
                None if is_pinned(k) => (Kind::Fixed, 0.0),
                None => (Kind::Particle, mass / moving),
            };
            let mut push = self.push;
            push.force = push.force * share;
            push.rate = push.rate * share;
            let is_pushed = push.force.length() + push.rate.length() > 0.0;
            Body {
                name: Some(format!("{name}/{k}")),
                kind,
                velocity: self.velocity,
                mass: Mass::Total(mass),
                material: self.material,
                linear_damping: self.linear_damping,
                pushes: if is_pushed { vec![push] } else { Vec::new() },
                ..Body::particle(shape.clone()).at(place)
            }
        };
        let all = self.mesh.vertices.iter().zip(&masses).enumerate();
        Ok(all.map(body).collect())
    }

    /// The elements of a checked deformable.
    pub(crate) fn elements(&self) -> Vec<Element> {
        match (&self.mesh.cells, self.model) {
            (Cells::Segments(_), _) => self.rope_elements(),
            (_, Model::Springs) => self.spring_elements(),
            (_, Model::Continuum) => self.continuum_elements(),
        }
    }

    fn spring(&self, [a, b]: [u32; 2], stiffness: f64) -> Element {
        Element::Spring(Spring {
            nodes: [a, b],
            rest: (self.mesh.at(a) - self.mesh.at(b)).length(),
            stiffness,
            damping: self.substance.damping * stiffness,
        })
    }

    /// Springs, and bending where exactly two segments meet in a straight line or nearly.
    fn rope_elements(&self) -> Vec<Element> {
        let (mesh, substance) = (&self.mesh, &self.substance);
        let t = substance.thickness;
        let second_moment = if S::DIM == 3 {
            std::f64::consts::PI * t.powi(4) / 64.0
        } else {
            t.powi(3) / 12.0
        };
        let edges = mesh.edges();
        let span = |a: u32, b: u32| (mesh.at(a) - mesh.at(b)).length();
        let mut elements: Vec<Element> = edges
            .iter()
            .map(|&[a, b]| self.spring([a, b], substance.young * self.section() / span(a, b)))
            .collect();
        let mut neighbours: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &[a, b] in &edges {
            neighbours.entry(a).or_default().push(b);
            neighbours.entry(b).or_default().push(a);
        }
        for (middle, around) in neighbours {
            for (k, &first) in around.iter().enumerate() {
                for &last in &around[k + 1..] {
                    let (u, v) = (
                        mesh.at(middle) - mesh.at(first),
                        mesh.at(last) - mesh.at(middle),
                    );
                    let (a, b) = (u.length(), v.length());
                    if u.dot(v) > (1.0 - 1e-9) * a * b {
                        elements.push(Element::Bending(Bending::of_rope(
                            [first, middle, last],
                            [a, b],
                            substance.bending * substance.young * second_moment,
                            substance.damping,
                        )));
                    }
                }
            }
        }
        elements
    }

    /// Springs along edges as stiff as the material around them, and across shared edges.
    fn spring_elements(&self) -> Vec<Element> {
        let (mesh, substance) = (&self.mesh, &self.substance);
        let mut around: BTreeMap<[u32; 2], f64> = BTreeMap::new();
        for corners in mesh.cells.iter() {
            let volume = mesh.volume(corners) * self.section();
            for (k, &a) in corners.iter().enumerate() {
                for &b in &corners[k + 1..] {
                    *around.entry([a.min(b), a.max(b)]).or_default() += volume;
                }
            }
        }
        let mut elements: Vec<Element> = around
            .into_iter()
            .map(|([a, b], volume)| {
                let span = (mesh.at(a) - mesh.at(b)).length();
                self.spring([a, b], substance.young * volume / (span * span))
            })
            .collect();
        if S::DIM == 3 {
            for [a, b, c, d] in hinges(mesh) {
                // A sheet that two springs of this stiffness keep flat is as rigid as the plate.
                let edge = (mesh.at(a) - mesh.at(b)).length();
                let across = (mesh.at(c) - mesh.at(d)).length();
                let stiffness = self.plate_rigidity() * edge / (across * across * across);
                elements.push(self.spring([c, d], stiffness));
            }
        }
        elements
    }

    fn plate_rigidity(&self) -> f64 {
        let s = &self.substance;
        s.bending * s.young * s.thickness.powi(3) / (12.0 * (1.0 - s.poisson * s.poisson))
    }

    fn continuum_elements(&self) -> Vec<Element> {
        let (mesh, substance) = (&self.mesh, &self.substance);
        let is_sheet = matches!(mesh.cells, Cells::Triangles(_));
        let (mu, lambda) = substance.lame(is_sheet);
        let law = if is_sheet && S::DIM == 3 {
            Law::Membrane { mu, lambda }
        } else {
            Law::Solid { mu, lambda }
        };
        let mut elements = Vec::new();
        for corners in mesh.cells.iter() {
            let edge = |k: usize| (mesh.at(corners[k]) - mesh.at(corners[0])).to_array3();
            let edges: Vec<[f64; 3]> = (1..corners.len()).map(edge).collect();
            let edges = match edges.as_slice() {
                &[u, v] if S::DIM == 3 => in_their_plane(u, v).to_vec(),
                _ => edges,
            };
            let volume = mesh.volume(corners) * self.section();
            let simplex = Simplex::new(corners, &edges, volume, law, substance.damping);
            elements.extend(simplex.map(Element::Simplex));
        }
        if is_sheet && S::DIM == 3 {
            let rigidity = self.plate_rigidity();
            for nodes in hinges(mesh) {
                let rest = nodes.map(|k| mesh.at(k).to_array3());
                let bending = Bending::of_faces(nodes, rest, rigidity, substance.damping);
                elements.push(Element::Bending(bending));
            }
        }
        elements
    }
}

/// Two edges in coordinates of the plane they span.
fn in_their_plane(u: [f64; 3], v: [f64; 3]) -> [[f64; 3]; 2] {
    let along = length(u);
    let x = dot(u, v) / along;
    let y = length(cross(u, v)) / along;
    [[along, 0.0, 0.0], [x, y, 0.0]]
}

/// Edges that two triangles share, with the corners across: edge, edge, corner, corner.
fn hinges<S: Space>(mesh: &Mesh<S>) -> Vec<[u32; 4]> {
    let Cells::Triangles(faces) = &mesh.cells else {
        return Vec::new();
    };
    let mut across: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for &[a, b, c] in faces {
        for [p, q, r] in [[a, b, c], [b, c, a], [c, a, b]] {
            across.entry([p.min(q), p.max(q)]).or_default().push(r);
        }
    }
    across
        .into_iter()
        .filter_map(|([a, b], corners)| match corners.as_slice() {
            &[c, d] => Some([a, b, c, d]),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::bending::minus;
    use super::*;

    #[test]
    fn edges_keep_lengths_and_angle_in_their_plane() {
        let (u, v) = ([1.0, 2.0, -0.5], [0.3, -0.4, 2.0]);
        let [p, q] = in_their_plane(u, v);
        assert!((length(p) - length(u)).abs() < 1e-14 && (length(q) - length(v)).abs() < 1e-14);
        assert!((dot(p, q) - dot(u, v)).abs() < 1e-14);
        assert!((length(minus(p, q)) - length(minus(u, v))).abs() < 1e-14);
    }
}
