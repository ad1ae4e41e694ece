//! Bodies with the nodes attached to them, which the fail-safe moves and stops together.

use crate::geometry::Space;
use crate::model::body::{Bodies, Kind};
use crate::model::deformable::attachment::Attachment;
use std::collections::BTreeMap;

/// Each body that nodes are fixed to, with these nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct AttachedGroups {
    /// Members by the body, which is the first of them.
    lists: BTreeMap<u32, Vec<u32>>,
    /// The body that each node is fixed to.
    body_of: BTreeMap<u32, u32>,
}

impl AttachedGroups {
    pub(super) fn new(attached: &[Attachment]) -> Self {
        let mut all = Self::default();
        for a in attached {
            let list = all.lists.entry(a.body).or_insert_with(|| vec![a.body]);
            list.push(a.node);
            all.body_of.insert(a.node, a.body);
        }
        all
    }

    /// Adds whatever hangs together with bodies of a list, some of it several times.
    pub(super) fn complete(&self, list: &mut Vec<u32>) {
        for at in 0..list.len() {
            let body = self.body_of.get(&list[at]).unwrap_or(&list[at]);
            list.extend(self.lists.get(body).into_iter().flatten());
        }
    }

    /// Of each body: whether it hangs together with one that follows a script, and so can't be
    /// stopped by itself.
    pub(super) fn driven<S: Space>(&self, bodies: &Bodies<S>) -> Vec<bool> {
        let mut driven = vec![false; bodies.len()];
        let is_scripted = |k: &u32| matches!(bodies.kind[*k as usize], Kind::Kinematic(_));
        for list in self
            .lists
            .values()
            .filter(|list| list.iter().any(is_scripted))
        {
            list.iter().for_each(|&k| driven[k as usize] = true);
        }
        driven
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_and_its_nodes_hang_together() {
        let of = |(node, body)| Attachment {
            node,
            body,
            anchor: [0.0; 3],
        };
        let clusters = AttachedGroups::new(&[(5, 1), (6, 1), (7, 2)].map(of));
        for (given, expected) in [
            (vec![6], vec![1, 5, 6]),
            (vec![1], vec![1, 5, 6]),
            (vec![3, 7], vec![2, 3, 7]),
            (vec![4], vec![4]),
        ] {
            let mut list = given;
            clusters.complete(&mut list);
            list.sort_unstable();
            list.dedup();
            assert_eq!(list, expected);
        }
    }
}
