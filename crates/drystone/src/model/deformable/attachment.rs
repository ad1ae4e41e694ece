//! Attachments: nodes of deformables that are fixed to rigid bodies.

use serde::{Deserialize, Serialize};

/// A node on a rigid body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attachment {
    /// Place of the node among the bodies.
    pub(crate) node: u32,
    /// Place of the rigid body.
    pub(crate) body: u32,
    /// Where on it, in its shape's axes, m.
    pub(crate) anchor: [f64; 3],
}
