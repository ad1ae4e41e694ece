//! Deformables of a world.

use super::{AccessError, World};
use crate::geometry::Space;
use crate::geometry::intersect::IntersectError;
use crate::judge::intersection_audit::{Audit, Intersection, audit};
use crate::math::algebra::Components;
use crate::model::body::BodyId;
use crate::model::deformable::attachment::Attachment;
use crate::model::deformable::{Cells, DeformError, Deformable, DeformableId, Soft};

impl<S: Space> World<S> {
    /// Adds a deformable: its nodes as particles, and what holds them together.
    ///
    /// ```
    /// use drystone::{Deformable, Mesh, Substance, World3, glam::DVec3};
    ///
    /// let mut world = World3::reference();
    /// let rope = Mesh::rope(DVec3::ZERO, DVec3::X, 20);
    /// let rope = world.add_deformable(Deformable::new(rope, Substance::default()).pinned([0]))?;
    /// for _ in 0..60 {
    ///     world.step()?;
    /// }
    /// let end = *world.nodes(rope)?.last().unwrap();
    /// assert!(world.pose(end).unwrap().position.y < -0.2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_deformable(
        &mut self,
        deformable: Deformable<S>,
    ) -> Result<DeformableId, DeformError> {
        deformable.check()?;
        let number = self.deformables.list.len() as u32;
        let name = match &deformable.name {
            Some(name) => name.clone(),
            None => format!("deformable {number}"),
        };
        if self.deformables.iter().any(|soft| soft.name == name) {
            return Err(DeformError::Name(name));
        }
        let bodies_of_nodes = self.check_attached(&deformable)?;
        let mut nodes: Vec<u32> = Vec::new();
        for body in deformable.bodies(&name)? {
            match self.add(body) {
                Ok(id) => nodes.push(id.place),
                Err(error) => {
                    for &k in &nodes {
                        // Each was added a moment ago.
                        let _ = self.remove(self.bodies.id(k as usize));
                    }
                    return Err(error.into());
                }
            }
        }
        for &k in &nodes {
            self.bodies.node_of[k as usize] = number + 1;
        }
        let attach = |&(node, body): &(u32, u32)| {
            let node = nodes[node as usize];
            let place = self.bodies.position[node as usize];
            Attachment {
                node,
                body,
                anchor: self
                    .bodies
                    .origin(body as usize)
                    .local_point(place)
                    .to_array3(),
            }
        };
        let attached: Vec<Attachment> = bodies_of_nodes.iter().map(attach).collect();
        for a in &attached {
            self.bodies.tied_to[a.node as usize] = a.body + 1;
        }
        let surface = deformable.mesh.surface();
        let body = |k: u32| nodes[k as usize];
        self.deformables.list.push(Some(Soft {
            name,
            elements: deformable.elements(),
            faces: surface.faces.iter().map(|face| face.map(body)).collect(),
            edges: surface.edges.iter().map(|edge| edge.map(body)).collect(),
            attached,
            thickness: deformable.substance.thickness,
            is_sheet: S::DIM == 3 && matches!(deformable.mesh.cells, Cells::Triangles(_)),
            nodes,
        }));
        Ok(DeformableId(number))
    }

    /// The nodes and places of bodies that a deformable is to be attached to.
    fn check_attached(&self, deformable: &Deformable<S>) -> Result<Vec<(u32, u32)>, DeformError> {
        let mut list = Vec::new();
        for &(node, id) in &deformable.attached {
            let place = self.bodies.place(id);
            let place = place.filter(|&k| self.bodies.node_of[k] == 0);
            let body = place.ok_or(DeformError::NoBody { node })?;
            if list.iter().any(|(other, _)| *other == node) {
                return Err(DeformError::Twice { node });
            }
            list.push((node, body as u32));
        }
        Ok(list)
    }

    /// Lets go of what is attached to a body that is removed.
    pub(super) fn detach(&mut self, body: u32) {
        for soft in self.deformables.list.iter_mut().flatten() {
            for a in soft.attached.iter().filter(|a| a.body == body) {
                self.bodies.tied_to[a.node as usize] = 0;
            }
            soft.attached.retain(|a| a.body != body);
        }
    }

    /// Removes a deformable and its nodes.
    pub fn remove_deformable(&mut self, id: DeformableId) -> Result<(), AccessError> {
        let place = self.deformables.list.get_mut(id.0 as usize);
        let soft = place
            .and_then(Option::take)
            .ok_or(AccessError::NoDeformable)?;
        for k in soft.nodes {
            self.bodies.node_of[k as usize] = 0;
            self.remove(self.bodies.id(k as usize))?;
        }
        Ok(())
    }

    /// All deformables, in order.
    pub fn deformables(&self) -> impl Iterator<Item = DeformableId> {
        let list = self.deformables.list.iter().enumerate();
        list.filter_map(|(place, soft)| soft.as_ref().map(|_| DeformableId(place as u32)))
    }

    /// A deformable's name.
    #[must_use]
    pub fn deformable_name(&self, id: DeformableId) -> Option<&str> {
        self.deformables.get(id).map(|soft| soft.name.as_str())
    }

    /// The bodies that are a deformable's nodes, in the order of its mesh's vertices.
    pub fn nodes(&self, id: DeformableId) -> Result<Vec<BodyId>, AccessError> {
        let soft = self.deformables.get(id).ok_or(AccessError::NoDeformable)?;
        let id_of = |&k: &u32| self.bodies.id(k as usize);
        Ok(soft.nodes.iter().map(id_of).collect())
    }

    /// The outer faces of a deformable by the places of its nodes in the world's arrays; in the
    /// plane all of its triangles.
    pub fn faces(&self, id: DeformableId) -> Result<&[[u32; 3]], AccessError> {
        let soft = self.deformables.get(id).ok_or(AccessError::NoDeformable)?;
        Ok(&soft.faces)
    }

    /// The outer edges of a deformable by the places of its nodes in the world's arrays.
    pub fn edges(&self, id: DeformableId) -> Result<&[[u32; 2]], AccessError> {
        let soft = self.deformables.get(id).ok_or(AccessError::NoDeformable)?;
        Ok(&soft.edges)
    }

    /// Does [`World::audit`].
    pub(super) fn audit_surfaces(&self) -> Result<Audit, IntersectError> {
        audit(&self.deformables, &self.bodies)
    }

    /// What intersects a deformable at present: see [`World::audit`].
    ///
    /// # Errors
    /// If a place is not finite.
    pub fn intersections(&self) -> Result<Vec<Intersection>, IntersectError> {
        Ok(self.audit()?.intersections)
    }

    /// Whether there is any deformable.
    #[must_use]
    pub fn has_deformables(&self) -> bool {
        !self.deformables.is_empty()
    }
}
