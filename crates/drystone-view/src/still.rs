//! A picture of one frame, by a small software renderer.
//!
//! A 3D stage is seen in perspective under a sun and a bright sky; a 2D stage is drawn flat.
//! The camera frames everything that moves unless it is told where to stand.
//!
//! ```
//! use drystone_frame::{Form, Frame, Object, Part, Stage};
//! use drystone_view::still::Still;
//!
//! let upright = [0.0, 0.0, 0.0, 1.0];
//! let ball = Object {
//!     name: "ball".into(),
//!     fixed: false,
//!     parts: vec![Part {
//!         position: [0.0; 3],
//!         rotation: upright,
//!         form: Form::Ball { radius: 0.5 },
//!     }],
//! };
//! let stage = Stage { dimension: 3, objects: vec![ball], ..Stage::default() };
//! let frame = Frame {
//!     positions: vec![[0.0, 0.5, 0.0]],
//!     rotations: vec![upright],
//!     ..Frame::default()
//! };
//! let still = Still { width: 160, height: 90, ..Still::default() };
//! let image = still.render(&stage, &frame)?;
//! let file = image.png()?;
//! assert!(file.starts_with(b"\x89PNG"));
//! # Ok::<(), drystone_view::ViewError>(())
//! ```

mod flat;
mod framing;
mod image;
mod overlay;
mod palette;
mod place;
mod solid;

pub use image::Image;

use crate::ViewError;
use drystone_frame::{Frame, Stage};
use framing::{Standpoint, Subject};

/// The greatest number of pixels of a picture: enough for 4K, with memory to spare.
const MAX_PIXELS: u64 = 1 << 24;

/// The greatest width or height in pixels.
const MAX_SIDE: u32 = 8192;

/// Where a picture is taken from. The default frames everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the camera stands, in m; `None` where everything is seen. In 2D only its distance
    /// from the target counts.
    pub eye: Option<[f64; 3]>,
    /// What it looks at, in m: the middle of the picture. `None` for the middle of the scene.
    pub target: Option<[f64; 3]>,
    /// Angle between the lower and the upper edge of the picture, in degrees.
    pub field_of_view_deg: f64,
    /// Direction from which an automatic camera looks: 0 from +z, 90 from +x, in degrees.
    /// `None` for the broad side of the scene. Unused in 2D and where `eye` is given.
    pub azimuth_deg: Option<f64>,
    /// How far above the horizon an automatic camera stands, in degrees. Unused in 2D and where
    /// `eye` is given.
    pub elevation_deg: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            eye: None,
            target: None,
            field_of_view_deg: 30.0,
            azimuth_deg: None,
            elevation_deg: 17.0,
        }
    }
}

/// The sRGB colour that a picture gives to each object.
#[must_use]
pub fn colours(stage: &Stage, frame: &Frame) -> Vec<[u8; 3]> {
    let (dressed, dressed_frame) = stage.dressed(frame);
    let placed = place::place(&dressed, &dressed_frame);
    let looks = palette::looks(&placed, dressed.objects.len(), stage.objects.len());
    let colour = |look: &palette::Look| palette::srgb_from_linear(look.colour);
    let mut colours: Vec<[u8; 3]> = looks.iter().map(colour).collect();
    // What hangs on objects lends them its colour.
    for (skin, number) in stage.skins.iter().zip(stage.objects.len()..) {
        for &node in &skin.objects {
            if (node as usize) < stage.objects.len() {
                colours[node as usize] = colours[number];
            }
        }
    }
    colours.truncate(stage.objects.len());
    colours
}

/// How a picture of a frame is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Still {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Where it is taken from.
    pub camera: Camera,
    /// Whether contact points and their impulses are drawn over the objects.
    pub contacts: bool,
}

impl Default for Still {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 720,
            camera: Camera::default(),
            contacts: false,
        }
    }
}

impl Still {
    /// The picture. Objects without a finite pose, and parts that have no extent, are left out.
    ///
    /// # Errors
    ///
    /// If the size is zero or too large.
    pub fn render(&self, stage: &Stage, frame: &Frame) -> Result<Image, ViewError> {
        self.check_size()?;
        let first_skin = stage.objects.len();
        let (stage, frame) = stage.dressed(frame);
        let (stage, frame) = (&*stage, &*frame);
        let placed = place::place(stage, frame);
        let looks = palette::looks(&placed, stage.objects.len(), first_skin);
        let subject = Subject::new(&placed);
        let standpoint = self.standpoint(stage, &subject);
        let contacts: &[_] = if self.contacts { &frame.contacts } else { &[] };
        let image = if stage.dimension == 2 {
            let window = flat::Window::new(&standpoint, self.width, self.height);
            let picture = flat::render(&window, &placed, &looks);
            overlay::contacts(picture, contacts, |point| window.pixel(point))
        } else {
            let view = solid::View::new(&standpoint, &subject, self.width, self.height);
            let picture = solid::render(&view, &placed, &looks);
            overlay::contacts(picture, contacts, |point| view.pixel(point))
        };
        Ok(image)
    }

    /// The camera with everything that was left open chosen for this frame: with it, all frames
    /// of a film are seen from one place.
    #[must_use]
    pub fn framed(&self, stage: &Stage, frame: &Frame) -> Camera {
        let (stage, frame) = stage.dressed(frame);
        let subject = Subject::new(&place::place(&stage, &frame));
        let standpoint = self.standpoint(&stage, &subject);
        Camera {
            eye: Some(standpoint.eye.to_array()),
            target: Some(standpoint.target.to_array()),
            ..self.camera
        }
    }

    fn standpoint(&self, stage: &Stage, subject: &Subject) -> Standpoint {
        let aspect = f64::from(self.width.max(1)) / f64::from(self.height.max(1));
        if stage.dimension == 2 {
            Standpoint::over_plane(&self.camera, subject, aspect)
        } else {
            Standpoint::in_space(&self.camera, subject, aspect)
        }
    }

    /// Whether a picture of this size can be drawn.
    ///
    /// # Errors
    ///
    /// If the size is zero or too large.
    pub fn check_size(&self) -> Result<(), ViewError> {
        let pixels = u64::from(self.width) * u64::from(self.height);
        if pixels == 0 || pixels > MAX_PIXELS || self.width.max(self.height) > MAX_SIDE {
            return Err(ViewError::ImageSize {
                width: self.width,
                height: self.height,
                max_pixels: MAX_PIXELS,
                max_side: MAX_SIDE,
            });
        }
        Ok(())
    }
}
