//! Named scenes that tests, benchmarks, documentation and the viewer share.
//!
//! ```
//! use drystone_scene::gallery;
//! let scene = gallery::find(gallery::DEFAULT).unwrap().scene()?;
//! let world = scene.build()?;
//! # Ok::<(), drystone_scene::SceneError>(())
//! ```

use crate::{Scene, SceneError};

/// The scene to show when none is asked for.
pub const DEFAULT: &str = "dry-stone-wall";

/// A scene of the gallery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its file's text.
    pub toml: &'static str,
}

impl Entry {
    /// The scene.
    pub fn scene(&self) -> Result<Scene, SceneError> {
        Scene::from_toml(self.toml, &format!("gallery/{}.toml", self.name))
    }
}

macro_rules! gallery {
    ($($name:literal),* $(,)?) => {
        /// All scenes, in the order in which they are listed.
        const ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            toml: include_str!(concat!("../gallery/", $name, ".toml")),
        }),*];
    };
}

gallery![
    "dry-stone-wall",
    "brick-wall",
    "pyramid",
    "round-tower",
    "dominoes",
    "bowling",
    "billiards",
    "galton-board",
    "marble-run",
    "landslide",
    "dunes",
    "rings-on-pegs",
    "skate-park",
    "bullet-and-paper",
    "heap",
    "tumbler",
    "shaking-table",
    "heavy-chain",
    "rope-bridge",
    "windmill",
    "conveyor",
    "pyramid-wall",
    "flag",
    "cloth-on-sphere",
    "hanging-rope",
    "jelly-cube",
    "trampoline",
    "jelly-stack",
    "swing",
    "five-sheets",
    "net-with-marbles",
    "strategies",
    "strategies-cloth",
    "cloth-through-ring",
    "rope-knot",
    "card-and-cloth",
    "twisting-mat",
    "closing-box",
    "soft-chain",
    "tower",
    "ten-towers",
    "arch-7",
    "arch-25",
    "arch-thin",
    "arch-slippery",
    "card-house-stands",
    "card-house-falls",
    "heavy-on-light",
    "two-particles",
    "bouncing-ball",
    "elastic-ball",
    "incline-holds",
    "incline-slides",
    "spheres-on-incline",
    "bowling-ball",
    "cradle-one",
    "cradle-two",
    "one-hits-two",
    "rocking-block",
    "sliding-cube",
    "dragged-cube",
    "painleve-rod",
    "wing-nut",
];

/// All scenes of the gallery: first the pictures, then the truths.
#[must_use]
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

/// The scene of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The name in the gallery that is most like `name`, if one is.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    crate::read::nearest(name, ENTRIES.iter().map(|entry| entry.name))
}
