//! A picture of the frame that a run ends with.

use drystone_frame::{Frame, Stage};
use drystone_view::still::{Camera, Still};

use super::Target;
use crate::cli::FilmArgs;
use crate::fault::Fault;

/// A picture of the size that was asked for.
pub(super) fn still(args: &FilmArgs, camera: Camera) -> Still {
    let (width, height) = args.size;
    Still {
        width,
        height,
        camera,
        contacts: false,
    }
}

/// A picture in a file.
#[derive(Debug)]
pub(super) struct StillFile {
    still: Still,
    target: Target,
}

impl StillFile {
    /// Refuses a size that can't be drawn.
    pub(super) fn new(still: Still, target: Target) -> Result<Self, Fault> {
        still.check_size().map_err(Fault::Picture)?;
        Ok(Self { still, target })
    }

    /// Draws it.
    pub(super) fn finish(mut self, stage: &Stage, frame: &Frame) -> Result<(), Fault> {
        let image = self.still.render(stage, frame);
        let bytes = image.and_then(|image| image.png());
        self.target.replace(&bytes.map_err(Fault::Picture)?)
    }
}
