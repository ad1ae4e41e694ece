//! Contact points and impulses, drawn over the finished picture so that none is hidden.

use super::image::Image;
use crate::canvas::{Canvas, Ink};
use drystone_frame::FrameContact;
use glamx::{DVec3, Vec2};

/// Colour of points and arrows: a blue that no stone has.
const BLUE: Ink = Ink::solid([10, 72, 140]);
const HALO: Ink = Ink {
    rgb: [255, 255, 255],
    opacity: 0.85,
};

/// The longest arrow, as a share of the picture's height.
const LONGEST_SHARE: f32 = 0.13;

/// Draws contacts over a picture; `pixel` tells where a world position is seen.
pub(super) fn contacts(
    image: Image,
    contacts: &[FrameContact],
    pixel: impl Fn(DVec3) -> Option<Vec2>,
) -> Image {
    if contacts.is_empty() {
        return image;
    }
    let Some(pixmap) = image.to_pixmap() else {
        return image;
    };
    let mut canvas = Canvas::over(pixmap);
    // Sizes below are pixels of a picture of 720 rows; on small ones they stay visible.
    let unit = (canvas.size().y / 720.0).max(0.5);
    let longest = LONGEST_SHARE * canvas.size().y;
    let strongest = contacts.iter().map(strength).fold(0.0, f64::max);
    for contact in contacts {
        let position = DVec3::from_array(contact.position);
        let Some(start) = pixel(position).filter(|start| start.is_finite()) else {
            continue;
        };
        if strength(contact) > 0.0 {
            let impulse = DVec3::from_array(contact.impulse);
            let length = longest * (strength(contact) / strongest) as f32;
            if let Some(end) = arrow_end(&pixel, position, impulse, length) {
                arrow(&mut canvas, start, end, unit);
            }
        }
        canvas.disk(start, 3.2 * unit, HALO);
        canvas.disk(start, 2.2 * unit, BLUE);
    }
    Image::from_pixmap(&canvas.into_pixmap())
}

/// Size of the impulse in N·s, 0 if it is not finite.
fn strength(contact: &FrameContact) -> f64 {
    let length = DVec3::from_array(contact.impulse).length();
    if length.is_finite() { length } else { 0.0 }
}

/// Where an arrow of about the given length in pixels ends; shorter if it points at the viewer.
fn arrow_end(
    pixel: impl Fn(DVec3) -> Option<Vec2>,
    position: DVec3,
    impulse: DVec3,
    length_px: f32,
) -> Option<Vec2> {
    let start = pixel(position)?;
    let direction = impulse.normalize_or_zero();
    // The scale of the picture at the point, from a short step across the view.
    let step = 1e-3 * (1.0 + position.length());
    let steps = [DVec3::X, DVec3::Y, DVec3::Z];
    let shifts = steps.map(|axis| pixel(position + axis * step).map_or(0.0, |p| p.distance(start)));
    let pixels_per_step = shifts.into_iter().fold(0.0, f32::max).max(1e-6);
    let metres = f64::from(length_px / pixels_per_step) * step;
    pixel(position + direction * metres).filter(|end| end.is_finite())
}

fn arrow(canvas: &mut Canvas, start: Vec2, end: Vec2, unit: f32) {
    let length = start.distance(end);
    if length < 2.0 * unit {
        return;
    }
    let along = (end - start) / length;
    let head = (7.0 * unit).min(0.5 * length);
    let neck = end - along * head;
    let aside = along.perp() * (0.42 * head);
    let tip = [end, neck + aside, neck - aside];
    canvas.line(&[start, neck], HALO, 3.6 * unit);
    canvas.outline(&tip, HALO, 2.0 * unit);
    canvas.line(&[start, neck], BLUE, 1.8 * unit);
    canvas.fill(&tip, BLUE);
}
