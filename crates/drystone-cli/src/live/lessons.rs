//! The learning path: scenes whose truth is known in closed form, from two balls that meet to a
//! million to one, each with what to look at, its equation, and what is measured of it now.

mod measure;

pub(super) use measure::Measure;
use measure::Quantity;

/// One lesson.
#[derive(Debug)]
struct Chapter {
    scene: &'static str,
    title: &'static str,
    text: &'static str,
    equation: &'static str,
    /// What is measured, with its unit.
    label: &'static str,
    quantity: Quantity,
    expected: f64,
}

/// Place of a scene on the path, from 1; 0 for scenes that are not on it.
pub(super) fn number(scene: &str) -> u32 {
    let at = PATH.iter().position(|chapter| chapter.scene == scene);
    at.map_or(0, |k| k as u32 + 1)
}

/// The path. Objects are named by their place in the scene.
const PATH: &[Chapter] = &[
    Chapter {
        scene: "two-particles",
        title: "Two balls meet",
        text: "Two laws decide what comes out of an impact: momentum is kept, and the balls part \
            e times as fast as they met. The heavy one stops; the light one turns back at the \
            speed it came with.",
        equation: "m₁v₁ + m₂v₂ is kept,   v₂⁺ − v₁⁺ = e (v₁ − v₂)",
        label: "speed of the light ball / (m/s)",
        quantity: Quantity::Velocity { body: 1, axis: 0 },
        expected: 1.0,
    },
    Chapter {
        scene: "bouncing-ball",
        title: "One ball on a floor",
        text: "With restitution e = ½ the ball leaves the floor at half the speed it came with. \
            Height goes with the square of speed: each bounce reaches a quarter of the one before.",
        equation: "h⁺ = e² h = ¼ · 1 m",
        label: "height of the first bounce / m",
        quantity: Quantity::FirstBounce {
            body: 1,
            radius: 0.1,
        },
        expected: 0.25,
    },
    Chapter {
        scene: "elastic-ball",
        title: "A ball that never tires",
        text: "With e = 1 nothing is lost. Watch the energy plot: kinetic and potential trade \
            places, their sum stays. A scheme that gains or loses a little would show it here \
            after a few bounces.",
        equation: "½ m v² + m g h is kept",
        label: "height of the first bounce / m",
        quantity: Quantity::FirstBounce {
            body: 1,
            radius: 0.1,
        },
        expected: 1.0,
    },
    Chapter {
        scene: "incline-holds",
        title: "Just enough friction",
        text: "Friction can hold as long as the slope is no steeper than its cone. Here the two \
            are exactly equal, and the block must not creep. Switch on the friction cones: the \
            impulse lies on the cone's surface.",
        equation: "tan α = 0.5 ≤ μ = 0.5",
        label: "distance crept / mm",
        quantity: Quantity::LargestShiftMm,
        expected: 0.0,
    },
    Chapter {
        scene: "incline-slides",
        title: "A little too smooth",
        text: "One hundredth less friction, and the block slides. Contacts turn from sticking to \
            slipping: see their colour.",
        equation: "a = g (sin α − μ cos α)",
        label: "acceleration / (m/s²)",
        quantity: Quantity::MeanAcceleration { body: 1 },
        expected: 0.087_653_864_717_992,
    },
    Chapter {
        scene: "sliding-cube",
        title: "A braking distance",
        text: "Friction takes the same speed away in every second, whatever the mass. The cube \
            stops for good: no drift, no trembling.",
        equation: "s = v² / (2 μ g)",
        label: "distance / m",
        quantity: Quantity::Travel { body: 1 },
        expected: 0.127_421_0,
    },
    Chapter {
        scene: "dragged-cube",
        title: "The force that is not enough",
        text: "A force grows from nothing. Friction answers with exactly the same force, until it \
            can't. Only then does the cube begin to move.",
        equation: "F(t) = μ m g   at   t = μ m g / (20 N/s)",
        label: "begins to slip at / s",
        quantity: Quantity::SlipTime { body: 1 },
        expected: 0.1962,
    },
    Chapter {
        scene: "spheres-on-incline",
        title: "Rolling is slower than sliding",
        text: "The rough ball must spin up as it goes and is left behind by the smooth one. At a \
            rolling contact nothing slips, though the ball moves.",
        equation: "a = 5/7 g sin α",
        label: "acceleration of the rough ball / (m/s²)",
        quantity: Quantity::MeanAcceleration { body: 1 },
        expected: 3.133_696,
    },
    Chapter {
        scene: "bowling-ball",
        title: "From sliding to rolling",
        text: "Thrown without spin, the ball slides, and friction slows it and spins it up at \
            once. When the point that touches is at rest, friction has nothing left to do.",
        equation: "v = 5/7 v₀ after t = 2 v₀ / (7 μ g)",
        label: "speed now / (m/s)",
        quantity: Quantity::Velocity { body: 1, axis: 0 },
        expected: 25.0 / 7.0,
    },
    Chapter {
        scene: "cradle-one",
        title: "One in, one out",
        text: "Momentum and energy alone do not say what five balls do. The impact travels \
            through them contact by contact; Newton's law at all contacts at once would get it \
            wrong.",
        equation: "(1, 0, 0, 0, 0) → (0, 0, 0, 0, 1) m/s",
        label: "speed of the last ball / (m/s)",
        quantity: Quantity::Velocity { body: 3, axis: 0 },
        expected: 1.0,
    },
    Chapter {
        scene: "rocking-block",
        title: "A block that rocks",
        text: "Each time the block lands it changes the edge it turns about, and loses the same \
            share of its spin, though nothing slides and nothing bounces.",
        equation: "ω⁺/ω⁻ = 1 − 3/2 sin² α,   tan α = 0.3",
        label: "spin kept at the first landing",
        quantity: Quantity::SpinKept { body: 1 },
        expected: 0.876_146_789,
    },
    Chapter {
        scene: "card-house-stands",
        title: "Two cards",
        text: "Each card leans on the other and stands on friction at its foot. The steeper they \
            stand, the less friction they need.",
        equation: "μ ≥ ½ tan 30° = 0.289;   here μ = 0.33",
        label: "largest shift / mm",
        quantity: Quantity::LargestShiftMm,
        expected: 0.0,
    },
    Chapter {
        scene: "arch-7",
        title: "An arch",
        text: "Seven stones, no mortar. It stands because a line of thrust fits inside the \
            stones: switch on impulses to see it run from foot to foot.",
        equation: "thickness / radius = 0.15 ≥ 0.0963",
        label: "largest shift / mm",
        quantity: Quantity::LargestShiftMm,
        expected: 0.0,
    },
    Chapter {
        scene: "tower",
        title: "A tower",
        text: "Ten boxes. The lowest contact carries ten times the load of the highest, and a \
            solver that stops too early lets them sink into each other or sway.",
        equation: "load of contact k = (10 − k) m g",
        label: "largest shift / mm",
        quantity: Quantity::LargestShiftMm,
        expected: 0.0,
    },
    Chapter {
        scene: "heavy-on-light",
        title: "Heavy on light",
        text: "A million to one. Solvers that look at one contact at a time need as many sweeps as \
            the masses differ; choose pgs and watch the heavy boxes sink, then newton.",
        equation: "iterations of Gauss-Seidel ∝ m₂ / m₁",
        label: "largest shift / mm",
        quantity: Quantity::LargestShiftMm,
        expected: 0.0,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_scene::gallery;

    /// Runs a lesson's scene to its end and compares what is measured with what is expected.
    fn measured_and_expected(chapter: &Chapter, seconds: f64) -> (f64, f64) {
        let scene = gallery::find(chapter.scene).unwrap().scene().unwrap();
        let mut world = scene.build().unwrap();
        let mut measure = Measure::of(chapter.scene).unwrap();
        measure.watch(&world.frame());
        while world.time() < seconds {
            world.step().unwrap();
            measure.watch(&world.frame());
        }
        let lesson = measure.lesson(&world.frame());
        (lesson.measured.unwrap(), lesson.expected.unwrap())
    }

    #[test]
    fn every_lesson_measures_what_its_equation_says() {
        for chapter in PATH {
            let seconds = match chapter.scene {
                "elastic-ball" | "bouncing-ball" | "rocking-block" => 1.5,
                _ => 1.0,
            };
            let (measured, expected) = measured_and_expected(chapter, seconds);
            // One per cent, or one millimetre where nothing should move.
            let most = if expected == 0.0 {
                1.0
            } else {
                0.01 * expected
            };
            assert!(
                (measured - expected).abs() <= most,
                "{}: {measured}, not {expected}",
                chapter.scene
            );
        }
    }

    #[test]
    fn the_path_is_walked_in_order() {
        assert_eq!(number(PATH[0].scene), 1);
        assert_eq!(number("heavy-on-light"), PATH.len() as u32);
        assert_eq!(number("heap"), 0);
    }
}
