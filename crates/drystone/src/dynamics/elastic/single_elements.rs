//! Elements that are assembled one by one: springs, solids, and membranes that fit no lanes.

use crate::model::deformable::element::{Curvature, Element, Local};
use crate::model::deformable::element_graph::Joints;

/// No link.
pub(crate) const NONE: u32 = u32::MAX;

/// An element and where its blocks are.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) element: Element,
    /// Nodes, the last repeated where there are fewer than four.
    pub(crate) nodes: [u32; 4],
    /// Link of each pair of nodes, four by four, where the first one is the lesser.
    pub(crate) links: [u32; 16],
}

impl Placed {
    pub(crate) fn new(element: Element, joints: &Joints) -> Self {
        let list = element.nodes();
        let node = |k: usize| list[k.min(list.len() - 1)];
        let link = |k: usize| {
            let (a, b) = (node(k / 4), node(k % 4));
            joints.link(a, b).filter(|_| a < b).unwrap_or(NONE)
        };
        Self {
            nodes: [0, 1, 2, 3].map(node),
            links: std::array::from_fn(link),
            element,
        }
    }

    /// What it does with its nodes at these places.
    pub(crate) fn linearise(&self, x: [[f64; 3]; 4], out: &mut Local) {
        let Some((sheet, damping)) = self.element.membrane([x[0], x[1], x[2]]) else {
            let x = x.as_flattened();
            return self.element.linearise(3, x, Curvature::Projected, out);
        };
        out.gradient[..9].copy_from_slice(sheet.gradient.as_flattened());
        for row in 0..9 {
            for column in 0..9 {
                let entry = sheet.stiffness[row / 3][column / 3][row % 3 * 3 + column % 3];
                out.stiffness[row * 9 + column] = entry;
                out.damping[row * 9 + column] = damping * entry;
            }
        }
    }
}
