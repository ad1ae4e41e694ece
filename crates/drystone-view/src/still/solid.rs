//! Pictures of 3D stages: perspective, a sun with soft shadows, a bright sky.
//!
//! 1. [`model`] turns the parts into triangles and the half-spaces into planes.
//! 2. [`samples`] finds what eight rays through every pixel meet first.
//! 3. [`shadow`] draws the scene as seen from many directions of the sun and the sky.
//! 4. [`shade`] colours every surface that a pixel shows, and mixes.

mod creases;
mod light;
mod model;
mod samples;
mod shade;
mod shadow;
mod surface;
mod tessellate;
mod view;

pub(super) use view::View;

use super::image::Image;
use super::palette::Look;
use super::place::Placed;

/// The picture of the placed parts; `looks` holds one for every object.
pub(super) fn render(view: &View, placed: &[Placed<'_>], looks: &[Look]) -> Image {
    let model = model::Model::new(view, placed, looks);
    let samples = samples::Samples::new(view, &model);
    let lights = light::Lights::new(view, placed);
    shade::develop(view, &model, &samples, &lights)
}
