//! The light: a sun of some width and a sky, both as sets of directions with shadow maps.
//!
//! Several maps across the sun make shadows that are sharp where things touch and soft far
//! away; many maps over the sky darken corners and the ground below things.

use super::shadow::{Casters, ShadowMap};
use super::view::View;
use crate::parallel;
use crate::still::place::Placed;
use glamx::Vec3;
use std::f32::consts::{PI, TAU};

/// Towards the sun: from the left of the usual camera, in front of the scene.
const SUN: Vec3 = Vec3::new(-0.50, 0.74, 0.56);

/// Radius of the sun in rad. Larger than the real one, as behind a thin haze.
const SUN_RADIUS: f32 = 0.035;

/// Directions across the sun, and texels of their maps.
const SUN_MAPS: usize = 12;
const SUN_SIDE: usize = 768;

/// The first of these directions lie around the sun's rim.
const SUN_RIM: usize = 4;

/// Directions over the sky, and texels of their maps.
const SKY_MAPS: usize = 84;
const SKY_SIDE: usize = 224;

/// Drawing this many triangles and balls into all maps takes about a second: scenes beyond get
/// fewer directions of the sky.
const MANY_CASTERS: usize = 200_000;

/// Turn between successive points of a spiral that fills a disk evenly, in rad.
const GOLDEN_ANGLE: f32 = 2.399_963_2;

/// Linear colours of the sun's light on a surface that faces it, and of the sky.
const SUN_LIGHT: Vec3 = Vec3::new(1.10, 0.97, 0.80);
const ZENITH: Vec3 = Vec3::new(0.36, 0.43, 0.54);
const HORIZON: Vec3 = Vec3::new(0.55, 0.56, 0.58);

/// Light that finds its way into every corner.
const EVERYWHERE: Vec3 = Vec3::new(0.060, 0.056, 0.052);

/// Light from below, off the ground, where the sky above is open.
const BOUNCE: Vec3 = Vec3::new(0.27, 0.245, 0.21);

/// The maps of all directions.
pub(super) struct Lights {
    sun: Vec<ShadowMap>,
    /// Each with the linear light of its part of the sky on a surface that faces it.
    sky: Vec<(ShadowMap, Vec3)>,
    towards_sun: Vec3,
}

/// The light that falls on a point.
pub(super) struct Incident {
    /// How much of the sun's disk is seen, 0 to 1.
    pub(super) sun_share: f32,
    /// Linear light from everywhere; 1 makes a white surface white.
    pub(super) total: Vec3,
    /// How much of the sky above is open, 0 to 1.
    pub(super) openness: f32,
}

impl Lights {
    /// Draws the maps.
    pub(super) fn new(view: &View, placed: &[Placed<'_>]) -> Self {
        let casters = Casters::new(view, placed);
        let sky_maps = if casters.len() > MANY_CASTERS {
            SKY_MAPS / 4
        } else {
            SKY_MAPS
        };
        let mut maps: Vec<Option<ShadowMap>> = Vec::new();
        maps.resize_with(SUN_MAPS + sky_maps, || None);
        parallel::for_each(maps.iter_mut().enumerate().collect(), |(index, map)| {
            let drawn = if index < SUN_MAPS {
                ShadowMap::new(&casters, sun_direction(index), SUN_SIDE)
            } else {
                let direction = sky_direction(index - SUN_MAPS, sky_maps);
                ShadowMap::new(&casters, direction, SKY_SIDE)
            };
            *map = Some(drawn);
        });
        let mut sun: Vec<ShadowMap> = maps.into_iter().flatten().collect();
        let sky = sun.split_off(SUN_MAPS.min(sun.len()));
        // A white surface sends back a share 1 / pi of what falls on it into each direction.
        let share = TAU / sky_maps as f32 / PI;
        let with_light = |map: ShadowMap| {
            let light = sky_colour(map.direction.y) * share;
            (map, light)
        };
        Self {
            sun,
            sky: sky.into_iter().map(with_light).collect(),
            towards_sun: towards_sun(),
        }
    }

    /// The light on a surface with a unit normal. Shadows are looked up with the normal of the
    /// facet, so that a bent normal does not make a surface shade itself.
    pub(super) fn on(&self, point: Vec3, normal: Vec3, facet: Vec3) -> Incident {
        let sun_facing = normal.dot(self.towards_sun).max(0.0);
        let sun_share = if sun_facing > 0.0 {
            self.sun_share(point, facet)
        } else {
            0.0
        };
        let mut total = EVERYWHERE + SUN_LIGHT * (sun_share * sun_facing);
        let (mut open, mut all) = (0.0, 1e-6);
        for (index, (map, light)) in self.sky.iter().enumerate() {
            let facing = normal.dot(map.direction).max(0.0);
            // A surface that looks down learns from some of the directions whether the ground
            // below it may be lit.
            if facing <= 0.0 && index % 4 > 0 {
                continue;
            }
            let weight = facing + 0.05;
            let seen = map.visibility(point, facet);
            open += weight * seen;
            all += weight;
            total += *light * (seen * facing);
        }
        let openness = open / all;
        total += BOUNCE * ((0.5 - 0.5 * normal.y) * openness);
        Incident {
            sun_share,
            total,
            openness,
        }
    }

    /// How much of the sun's disk a point sees. Where the points at its rim agree, so do those
    /// between them.
    fn sun_share(&self, point: Vec3, facet: Vec3) -> f32 {
        let mut seen = 0.0;
        for (index, map) in self.sun.iter().enumerate() {
            if index == SUN_RIM && (seen == 0.0 || seen == SUN_RIM as f32) {
                return seen / SUN_RIM as f32;
            }
            if facet.dot(map.direction) > 0.0 {
                seen += map.visibility(point, facet);
            }
        }
        seen / self.sun.len().max(1) as f32
    }
}

/// Unit vector to one of the points that fill the sun's disk, those at its rim first.
fn sun_direction(index: usize) -> Vec3 {
    let towards = SUN.normalize();
    let (across, along) = towards.any_orthonormal_pair();
    let inwards = (index as f32 + 0.5) / SUN_MAPS as f32;
    let radius = SUN_RADIUS * (1.0 - inwards).sqrt();
    let angle = GOLDEN_ANGLE * index as f32;
    let aside = across * libm::cosf(angle) + along * libm::sinf(angle);
    (towards + aside * radius).normalize()
}

/// Unit vector to one of the points that fill the sky evenly.
fn sky_direction(index: usize, count: usize) -> Vec3 {
    let height = (index as f32 + 0.5) / count as f32;
    let level = (1.0 - height * height).sqrt();
    let angle = GOLDEN_ANGLE * index as f32;
    Vec3::new(level * libm::cosf(angle), height, level * libm::sinf(angle))
}

/// Linear colour of the sky in a direction of the given sine of the height.
pub(super) fn sky_colour(height: f32) -> Vec3 {
    HORIZON.lerp(ZENITH, height.clamp(0.0, 1.0).sqrt())
}

/// Unit vector to the middle of the sun.
pub(super) fn towards_sun() -> Vec3 {
    SUN.normalize()
}
