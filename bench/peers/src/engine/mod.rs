//! The engines: one file each, all behind one trait.
//!
//! Every adapter turns sleeping off and leaves the rest of its engine's defaults alone, except
//! where a default would change the scene itself (damping, combining of coefficients).

#[cfg(feature = "box2d")]
mod box2d;
#[cfg(feature = "box3d")]
mod box3d;
#[cfg(feature = "bullet")]
mod bullet;
mod drystone;
#[cfg(feature = "jolt")]
mod jolt;
#[cfg(feature = "mujoco")]
mod mujoco;
#[cfg(feature = "rapier")]
mod rapier2;
#[cfg(feature = "rapier")]
mod rapier3;
#[cfg(feature = "rapier")]
mod rapier_threads;

use ::drystone::{D2, D3};

use self::drystone::{Drystone, THREADED};
use crate::scene::{Dim, Pose, Scene};

/// Why an engine does not run a scene, or stopped running it.
pub type Reason = String;

/// A world of some engine.
pub trait Engine {
    /// Builds the scene. The reason of a refusal is printed in place of a result.
    fn build(scene: &Scene, threads: usize) -> Result<Self, Reason>
    where
        Self: Sized;
    /// Advances by [`crate::scene::STEP_S`].
    fn step(&mut self) -> Result<(), Reason>;
    /// Replaces `out` by the poses of all bodies in the scene's order.
    fn poses(&self, out: &mut Vec<Pose>);
}

/// A world of some engine, or why there is none.
type Built = Result<Box<dyn Engine>, Reason>;

/// An engine that can be built.
#[derive(Clone, Copy)]
pub struct Maker {
    pub name: &'static str,
    dim: Dim,
    /// Whether more than one thread is of use to it.
    pub threaded: bool,
    pub build: fn(&Scene, usize) -> Built,
}

fn boxed<E: Engine + 'static>(scene: &Scene, threads: usize) -> Built {
    Ok(Box::new(E::build(scene, threads)?))
}

fn maker<E: Engine + 'static>(name: &'static str, dim: Dim, threaded: bool) -> Maker {
    Maker {
        name,
        dim,
        threaded,
        build: boxed::<E>,
    }
}

/// Every engine of this build for a dimension; Drystone, which the others are compared with,
/// first.
pub fn makers(dim: Dim) -> Vec<Maker> {
    let all = [
        maker::<Drystone<D2, drystone::Default>>("drystone", Dim::Two, THREADED),
        maker::<Drystone<D3, drystone::Default>>("drystone", Dim::Three, THREADED),
        maker::<Drystone<D2, drystone::Velocity>>("drystone-velocity", Dim::Two, false),
        maker::<Drystone<D3, drystone::Velocity>>("drystone-velocity", Dim::Three, false),
        maker::<Drystone<D2, drystone::Auto>>("drystone-auto", Dim::Two, false),
        maker::<Drystone<D3, drystone::Auto>>("drystone-auto", Dim::Three, false),
        #[cfg(feature = "rapier")]
        maker::<rapier2::Rapier2>("rapier", Dim::Two, true),
        #[cfg(feature = "rapier")]
        maker::<rapier3::Rapier3>("rapier", Dim::Three, true),
        #[cfg(feature = "box2d")]
        maker::<box2d::Box2d>("box2d", Dim::Two, true),
        #[cfg(feature = "box3d")]
        maker::<box3d::Box3d>("box3d", Dim::Three, true),
        #[cfg(feature = "bullet")]
        maker::<bullet::Bullet>("bullet", Dim::Three, false),
        #[cfg(feature = "jolt")]
        maker::<jolt::Jolt>("jolt", Dim::Three, true),
        #[cfg(feature = "mujoco")]
        maker::<mujoco::Mujoco>("mujoco", Dim::Three, false),
    ];
    all.into_iter().filter(|maker| maker.dim == dim).collect()
}
