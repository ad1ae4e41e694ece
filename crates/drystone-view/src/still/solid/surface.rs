//! What a surface is like at a point: its normal, its worn edges, its texture.

use super::tessellate::box_half;
use crate::still::palette::{Look, hash, unit_interval};
use drystone_frame::Form;
use glamx::Vec3;

/// Width of the bevel of boxes and rims, as a share of the smallest half edge.
const BEVEL_SHARE: f32 = 0.15;

/// How far the normal turns at the very edge of a bevel.
const BEVEL_TURN: f32 = 0.9;

/// The surface of a part; lengths in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Surface {
    /// Normals point away from the centre.
    Ball { radius: f32 },
    /// Flat faces with bevelled edges.
    Box { half: Vec3 },
    /// Normals point away from the axis' segment.
    Capsule { half_length: f32 },
    /// Round side, flat ends, bevelled rims.
    Cylinder { half_height: f32, radius: f32 },
    /// Slanted side, flat base.
    Cone { half_height: f32, radius: f32 },
    /// The triangles' own normals, seen from both sides.
    Faceted,
}

/// A surface at a point, in the part's axes.
pub(super) struct Detail {
    /// Unit normal for shading.
    pub(super) normal: Vec3,
    /// Nearness to an edge, 0 on the faces to 1 on the edge itself.
    pub(super) edge: f32,
}

impl Surface {
    /// The surface of a form.
    pub(super) fn of(form: &Form) -> Self {
        match form {
            Form::Ball { radius } => Self::Ball {
                radius: *radius as f32,
            },
            Form::Box { half } => Self::Box {
                half: box_half(*half),
            },
            Form::Capsule { half_length, .. } => Self::Capsule {
                half_length: *half_length as f32,
            },
            Form::Cylinder {
                half_height,
                radius,
            } => Self::Cylinder {
                half_height: *half_height as f32,
                radius: *radius as f32,
            },
            Form::Cone {
                half_height,
                radius,
            } => Self::Cone {
                half_height: *half_height as f32,
                radius: *radius as f32,
            },
            Form::HalfSpace { .. } | Form::Outline { .. } | Form::Mesh { .. } => Self::Faceted,
        }
    }

    /// The surface at a point whose triangle has the given unit normal; `pixel` is the size of a
    /// pixel there in m. All in the part's axes.
    pub(super) fn detail(&self, point: Vec3, facet: Vec3, pixel: f32) -> Detail {
        let radial = Vec3::new(point.x, 0.0, point.z);
        let plain = |normal: Vec3| Detail {
            normal: normal.normalize_or(facet),
            edge: 0.0,
        };
        match *self {
            Self::Ball { .. } => plain(point),
            Self::Capsule { half_length } => {
                plain(point - Vec3::Y * point.y.clamp(-half_length, half_length))
            }
            Self::Box { half } => box_detail(half, point, facet, pixel),
            Self::Cylinder {
                half_height,
                radius,
            } => {
                let bevel = Bevel::new(half_height.min(radius), pixel);
                let outward = radial.normalize_or_zero();
                if facet.y.abs() > 0.7 {
                    let end = Vec3::Y * facet.y.signum();
                    bevel.blend(end, &[(outward, radius - radial.length())])
                } else {
                    let end = Vec3::Y * point.y.signum();
                    bevel.blend(outward, &[(end, half_height - point.y.abs())])
                }
            }
            Self::Cone {
                half_height,
                radius,
            } => {
                let bevel = Bevel::new(half_height.min(radius), pixel);
                let outward = radial.normalize_or_zero();
                let side = (outward * (2.0 * half_height) + Vec3::Y * radius).normalize_or(facet);
                let from_base = point.y + half_height;
                // Towards the base the triangles of the side never look straight down.
                if facet.y < -0.99 && from_base < 0.5 * half_height {
                    bevel.blend(-Vec3::Y, &[(outward, radius - radial.length())])
                } else {
                    bevel.blend(side, &[(-Vec3::Y, from_base)])
                }
            }
            Self::Faceted => plain(facet),
        }
    }
}

fn box_detail(half: Vec3, point: Vec3, facet: Vec3, pixel: f32) -> Detail {
    let bevel = Bevel::new(half.min_element(), pixel);
    let size = facet.abs();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let towards = |axis: usize, sign: f32| {
        let mut unit = Vec3::ZERO;
        unit[axis] = sign.signum();
        unit
    };
    let neighbour = |axis: usize| {
        let distance = half[axis] - point[axis].abs();
        (towards(axis, point[axis]), distance)
    };
    let neighbours = [neighbour((axis + 1) % 3), neighbour((axis + 2) % 3)];
    bevel.blend(towards(axis, facet[axis]), &neighbours)
}

/// A rounded edge between two faces, which exists in the shading only.
struct Bevel {
    width: f32,
    strength: f32,
}

impl Bevel {
    /// The bevel of a part whose smallest half edge is given; never narrower than a pixel, but
    /// then fainter, so that edges of small things do not flicker.
    fn new(smallest_half: f32, pixel: f32) -> Self {
        let wanted = BEVEL_SHARE * smallest_half;
        let width = wanted.max(1.5 * pixel);
        Self {
            width,
            strength: (wanted / width).sqrt(),
        }
    }

    /// A face with its neighbours: their normals and their distances in m.
    fn blend(&self, face: Vec3, neighbours: &[(Vec3, f32)]) -> Detail {
        let mut normal = face;
        let mut edge: f32 = 0.0;
        for &(neighbour, distance) in neighbours {
            let nearness = (1.0 - distance / self.width).clamp(0.0, 1.0);
            let bend = nearness * nearness * self.strength;
            normal += neighbour * (BEVEL_TURN * bend);
            edge = edge.max(bend);
        }
        Detail {
            normal: normal.normalize_or(face),
            edge,
        }
    }
}

/// Linear colour of a part at a point in its own axes; `pixel` is the size of a pixel in m.
pub(super) fn texture(surface: &Surface, look: &Look, point: Vec3, pixel: f32) -> Vec3 {
    if look.stone {
        return look.colour * stone_grain(look.seed, grain_size(surface, pixel), point, pixel);
    }
    match *surface {
        Surface::Ball { radius } => ball_stripe(look.colour, radius, point, pixel),
        _ => look.colour,
    }
}

/// Size in m of the large blotches of a stone.
fn grain_size(surface: &Surface, pixel: f32) -> f32 {
    match *surface {
        Surface::Box { half } => 0.5 * half.max_element().min(4.0 * half.min_element()),
        Surface::Ball { radius }
        | Surface::Cylinder { radius, .. }
        | Surface::Cone { radius, .. } => 0.5 * radius,
        Surface::Capsule { half_length } => half_length.max(8.0 * pixel),
        // Without a size of its own the grain is as large as some pixels.
        Surface::Faceted => 24.0 * pixel,
    }
}

/// Lightness around 1: blotches, and specks where the picture is fine enough to show them.
fn stone_grain(seed: u32, size: f32, point: Vec3, pixel: f32) -> f32 {
    let mut lightness = 1.0;
    let mut cell = size;
    for (octave, strength) in [0.10, 0.08, 0.09].into_iter().enumerate() {
        // What is smaller than two pixels would only flicker.
        let shown = (cell / pixel - 1.5).clamp(0.0, 1.0);
        if shown > 0.0 {
            let noise = value_noise(point / cell, seed.wrapping_add(octave as u32 * 7919));
            lightness += strength * shown * (noise - 0.5);
        }
        cell *= 0.28;
    }
    lightness
}

/// Smooth noise from 0 to 1 with features of size 1.
fn value_noise(point: Vec3, seed: u32) -> f32 {
    let base = point.floor();
    let share = point - base;
    let smooth = share * share * (3.0 - 2.0 * share);
    let cell = [
        base.x as i32 as u32,
        base.y as i32 as u32,
        base.z as i32 as u32,
    ];
    let corner = |x: u32, y: u32, z: u32| {
        let mixed = cell[0].wrapping_add(x).wrapping_mul(0x8da6_b343)
            ^ cell[1].wrapping_add(y).wrapping_mul(0xd816_3841)
            ^ cell[2].wrapping_add(z).wrapping_mul(0xcb1a_b31f);
        unit_interval(hash(mixed ^ seed))
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let row = |y, z| mix(corner(0, y, z), corner(1, y, z), smooth.x);
    let layer = |z| mix(row(0, z), row(1, z), smooth.y);
    mix(layer(0), layer(1), smooth.z)
}

/// A pale stripe around the ball's equator shows how it turns.
fn ball_stripe(colour: Vec3, radius: f32, point: Vec3, pixel: f32) -> Vec3 {
    let pale = Vec3::new(0.82, 0.77, 0.68);
    let half_width = 0.13 * radius;
    let share = ((half_width - point.y.abs()) / pixel + 0.5).clamp(0.0, 1.0);
    // Balls of a few pixels keep their colour: the stripe would wash it out.
    let visible = (radius / pixel / 6.0 - 0.5).clamp(0.0, 1.0);
    colour.lerp(pale, share * visible)
}
