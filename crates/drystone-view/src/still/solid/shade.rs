//! The colour of every pixel: surfaces under the light, the floor, the background.

use super::creases::blended;
use super::light::{Lights, sky_colour, towards_sun};
use super::model::{Model, Plane, SolidPart};
use super::samples::{FIRST_PLANE, NOTHING, Pixel, SAMPLES, Samples, offset};
use super::surface::texture;
use super::view::View;
use crate::parallel;
use crate::still::image::Image;
use crate::still::palette::{SrgbTable, linear_from_srgb};
use glamx::{Vec2, Vec3};

/// Rows that are coloured together.
const BAND_ROWS: usize = 16;

/// sRGB colours of the background: far below the horizon, at it and far above it.
const BACKGROUND: [[u8; 3]; 3] = [[222, 224, 225], [235, 239, 242], [178, 200, 221]];

/// sRGB colour of floors and walls in full light.
const FLOOR: [u8; 3] = [200, 198, 194];

/// Floors fade into the background between these distances from the subject, in its radii.
const FLOOR_FADE: [f32; 2] = [1.6, 7.0];

/// How much a line of the floor's grid darkens it.
const GRID_DARKENING: f32 = 0.09;

/// How much darker a stone is on its edges.
const EDGE_DARKENING: f32 = 0.45;

/// Colours the samples and mixes them to a picture.
pub(super) fn develop(view: &View, model: &Model, samples: &Samples, lights: &Lights) -> Image {
    let width = view.width as usize;
    let mut rgb = vec![0; 3 * samples.pixels.len()];
    let painter = Painter {
        view,
        model,
        lights,
        background: BACKGROUND.map(linear_from_srgb),
        floor: linear_from_srgb(FLOOR),
    };
    let table = SrgbTable::new();
    let bands = rgb.chunks_mut(3 * width * BAND_ROWS);
    let pixels = samples.pixels.chunks(width * BAND_ROWS);
    let work = bands.zip(pixels).enumerate().collect();
    parallel::for_each(work, |(band, (rgb, pixels))| {
        for (index, (to, pixel)) in rgb.chunks_exact_mut(3).zip(pixels).enumerate() {
            let row = band * BAND_ROWS + index / width;
            let corner = Vec2::new((index % width) as f32, row as f32);
            to.copy_from_slice(&table.srgb(painter.mix(corner, pixel)));
        }
    });
    Image {
        width: view.width,
        height: view.height,
        rgb,
    }
}

struct Painter<'a> {
    view: &'a View,
    model: &'a Model,
    lights: &'a Lights,
    background: [Vec3; 3],
    floor: Vec3,
}

/// A place in the picture and what lies there.
struct Spot {
    /// Pixel position.
    pixel: Vec2,
    /// Point in the picture's frame of reference, in m.
    point: Vec3,
    /// Unit vector towards the camera.
    to_eye: Vec3,
}

impl Painter<'_> {
    /// The mean colour of a pixel's samples. Samples that show one face share one colour.
    fn mix(&self, corner: Vec2, pixel: &Pixel) -> Vec3 {
        let faces = pixel.hit.map(|hit| self.face(hit));
        let mut done = [false; SAMPLES];
        let mut colour = Vec3::ZERO;
        for first in 0..SAMPLES {
            if done[first] {
                continue;
            }
            let (mut middle, mut inverse_depth, mut count) = (Vec2::ZERO, 0.0, 0.0);
            for k in first..SAMPLES {
                if faces[k] == faces[first] {
                    done[k] = true;
                    middle += offset(k);
                    inverse_depth += pixel.inverse_depth[k];
                    count += 1.0;
                }
            }
            let position = corner + middle / count;
            let shade = self.shade(position, inverse_depth / count, pixel.hit[first]);
            colour += shade * (count / SAMPLES as f32);
        }
        colour
    }

    /// The face that a hit belongs to; planes and nothing are faces of their own.
    fn face(&self, hit: u32) -> u32 {
        match self.model.triangles.get(hit as usize) {
            Some(triangle) => triangle.face,
            None => hit,
        }
    }

    fn shade(&self, position: Vec2, inverse_depth: f32, hit: u32) -> Vec3 {
        let ray = self.view.ray(position);
        let background = self.background(ray.normalize().y);
        if hit == NOTHING || inverse_depth <= 0.0 {
            return background;
        }
        let spot = Spot {
            pixel: position,
            point: self.view.eye + ray / inverse_depth,
            to_eye: -ray.normalize(),
        };
        if let Some(plane) = hit.checked_sub(FIRST_PLANE) {
            return match self.model.planes.get(plane as usize) {
                Some(plane) => self.floor(plane, &spot, background),
                None => background,
            };
        }
        let triangle = self.model.triangles.get(hit as usize);
        let part = triangle.and_then(|t| self.model.parts.get(t.part as usize));
        let (Some(triangle), Some(part)) = (triangle, part) else {
            return background;
        };
        let [a, b, c] = triangle.corners;
        let facet = (b - a).cross(c - a).normalize_or(spot.to_eye);
        // Open meshes and plates are seen from both sides.
        let side = if facet.dot(spot.to_eye) < 0.0 {
            -1.0
        } else {
            1.0
        };
        let normals = self.model.corner_normals.get(triangle.normals as usize);
        let bent = normals.map(|three| blended(&triangle.corners, three, spot.point) * side);
        self.solid(part, (facet * side, bent), &spot)
    }

    /// The colour of a finite part; a bent surface has a normal besides that of its facet.
    fn solid(&self, part: &SolidPart, normals: (Vec3, Option<Vec3>), spot: &Spot) -> Vec3 {
        let (facet, bent) = normals;
        let pixel = 1.0 / self.view.pixels_per_metre(spot.point);
        let local = part.pose.inverse_transform_point(spot.point);
        let local_facet = part.pose.inverse_transform_vector(facet);
        let detail = part.surface.detail(local, local_facet, pixel);
        let normal = bent.unwrap_or_else(|| part.pose.transform_vector(detail.normal));
        let colour = texture(&part.surface, &part.look, local, pixel);
        let smooth_facet = if detail.edge > 0.0 { facet } else { normal };
        let light = self.lights.on(spot.point, normal, smooth_facet);
        // Only the very edge is dirty: the bevel beside it catches the light.
        let worn = 1.0 - EDGE_DARKENING * detail.edge * detail.edge;
        let mut seen = colour * light.total * worn;
        if !part.look.stone {
            let gloss = self.gloss(normal, spot.to_eye, light.sun_share, light.openness);
            // Cloth and jelly shine less than what is polished.
            seen += gloss * if part.look.is_skin { 0.45 } else { 1.0 };
        }
        develop_highlights(seen)
    }

    /// What a smooth surface mirrors of the sun and the sky.
    fn gloss(&self, normal: Vec3, to_eye: Vec3, sun_share: f32, openness: f32) -> Vec3 {
        let facing = normal.dot(to_eye).clamp(0.0, 1.0);
        let mirrored = normal * (2.0 * normal.dot(to_eye)) - to_eye;
        let sun = sixty_fourth_power(mirrored.dot(towards_sun()).max(0.0)) * sun_share;
        // Mirrors at a grazing angle more than straight on.
        let grazing = 1.0 - facing;
        let share = 0.03 + 0.35 * grazing * grazing * grazing * grazing;
        let above = sky_colour(mirrored.y);
        let around = if mirrored.y > 0.0 {
            above
        } else {
            self.floor * 0.35
        };
        around * (share * openness) + Vec3::splat(0.30 * sun)
    }

    /// The colour of a half-space's surface.
    fn floor(&self, plane: &Plane, spot: &Spot, background: Vec3) -> Vec3 {
        let [near, far] = FLOOR_FADE;
        let distance = spot.point.length() / self.view.radius;
        let fade = smooth_step((distance - near) / (far - near));
        if fade >= 1.0 {
            return background;
        }
        let light = self.lights.on(spot.point, plane.normal, plane.normal);
        let grid = 1.0 - GRID_DARKENING * self.grid(plane, spot);
        develop_highlights(self.floor * light.total * grid).lerp(background, fade)
    }

    /// How much of a pixel the lines of the grid cover, 0 to 1.
    fn grid(&self, plane: &Plane, spot: &Spot) -> f32 {
        let height = plane.normal.dot(self.view.eye) - plane.offset;
        let meet = |pixel: Vec2| {
            let ray = self.view.ray(pixel);
            let down = (-plane.normal.dot(ray)).max(1e-6);
            self.view.eye + ray * (height / down)
        };
        let next_column = meet(spot.pixel + Vec2::X) - spot.point;
        let next_row = meet(spot.pixel + Vec2::Y) - spot.point;
        let mut covered: f32 = 0.0;
        for (along, phase) in plane.along.iter().zip(plane.grid_phase.to_array()) {
            let pixel = next_column.dot(*along).abs() + next_row.dot(*along).abs();
            let position = (spot.point.dot(*along) + phase) / plane.grid_step;
            let from_line = (position - position.round()).abs() * plane.grid_step;
            let half_width = 0.006 * plane.grid_step;
            let blurred = half_width.max(0.7 * pixel);
            let line = (1.0 - (from_line - blurred) / (0.5 * pixel + 1e-9)).clamp(0.0, 1.0);
            // A line thinner than a pixel is fainter, and squares of a few pixels vanish.
            let thin = (half_width / blurred).sqrt();
            let fine = (plane.grid_step / (6.0 * pixel) - 1.0).clamp(0.0, 1.0);
            covered = covered.max(line * thin * fine);
        }
        covered
    }

    /// The background in a direction with the given sine of the height.
    fn background(&self, height: f32) -> Vec3 {
        let [below, horizon, above] = self.background;
        if height < 0.0 {
            horizon.lerp(below, smooth_step(-height / 0.5))
        } else {
            horizon.lerp(above, smooth_step(height / 0.35))
        }
    }
}

/// Bends light above 0.7 smoothly towards 1, so that highlights keep their form.
fn develop_highlights(light: Vec3) -> Vec3 {
    let bend = |value: f32| {
        let above = value - 0.7;
        if above <= 0.0 {
            value
        } else {
            0.7 + 0.3 * (1.0 - libm::expf(-above / 0.3))
        }
    };
    Vec3::new(bend(light.x), bend(light.y), bend(light.z))
}

/// Raises to a power that makes a highlight of about 10 degrees.
fn sixty_fourth_power(number: f32) -> f32 {
    (0..6).fold(number, |power, _| power * power)
}

fn smooth_step(share: f32) -> f32 {
    let share = share.clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}
