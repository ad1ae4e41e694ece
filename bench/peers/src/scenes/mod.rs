//! The scenes, by family.

mod closed_form;
mod heaps;
mod jointed;
mod masonry;
mod stacks;

use crate::scene::{Dim, Scene};

/// Makes a scene when it is asked for: large ones should not lie about.
pub struct Recipe {
    pub name: &'static str,
    pub make: fn() -> Scene,
}

macro_rules! recipes {
    ($($name:literal => $make:expr),* $(,)?) => {
        &[$(Recipe { name: $name, make: || Scene { name: $name.into(), ..$make } }),*]
    };
}

/// Every scene, in the order of the report.
pub const RECIPES: &[Recipe] = recipes![
    "wall-20" => stacks::wall(20, Dim::Three),
    "wall-100" => stacks::wall(100, Dim::Three),
    "towers" => stacks::towers(10, 20),
    "heap-4096" => heaps::mixed(16, 16, 16),
    "wall-20-2d" => stacks::wall(20, Dim::Two),
    "wall-100-2d" => stacks::wall(100, Dim::Two),
    "heap-5000-2d" => heaps::mixed_flat(50, 100),
    "ratio-10" => stacks::heavy_on_light(1e1),
    "ratio-100" => stacks::heavy_on_light(1e2),
    "ratio-1000" => stacks::heavy_on_light(1e3),
    "ratio-10000" => stacks::heavy_on_light(1e4),
    "ratio-100000" => stacks::heavy_on_light(1e5),
    "ratio-1000000" => stacks::heavy_on_light(1e6),
    "arch" => masonry::arch(21, 0.2),
    "incline-holds" => closed_form::incline(0.7, 540),
    "incline-slides" => closed_form::incline(0.5, 180),
    "bounce-1" => closed_form::bounce(1.0, 6),
    "bounce-0.5" => closed_form::bounce(0.5, 2),
    "cradle" => closed_form::cradle(5),
    "net" => jointed::net(30),
    "net-2d" => jointed::net_flat(30),
    "chain" => jointed::chain(100, 100.0),
    "rope" => jointed::rope(50, 100.0),
    "ragdolls" => jointed::ragdolls(20),
    "field-1k" => stacks::field(1_000),
    "field-4k" => stacks::field(4_000),
    "field-16k" => stacks::field(16_000),
    "field-64k" => stacks::field(64_000),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::deepest_overlap;

    #[test]
    fn nothing_overlaps_at_the_start_and_joints_name_bodies() {
        for recipe in RECIPES {
            let scene = (recipe.make)();
            let overlap = deepest_overlap(&scene, &scene.start());
            assert!(overlap < 1e-9, "{}: {overlap} m", recipe.name);
            let count = scene.bodies.len();
            let named = |joint: &crate::scene::Joint| joint.a < count && joint.b < count;
            assert!(scene.joints.iter().all(named), "{}", recipe.name);
        }
    }

    #[test]
    fn the_large_wall_is_the_one_of_the_reference_figures() {
        let wall = RECIPES.iter().find(|recipe| recipe.name == "wall-100");
        assert_eq!(wall.map(|recipe| (recipe.make)().moving()), Some(5050));
    }
}
