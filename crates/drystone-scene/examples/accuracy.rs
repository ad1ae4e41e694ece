//! What is known about a scene, what Drystone gives, and whether that is near enough.
//!
//! `cargo run --release -p drystone-scene --example accuracy [SOLVER]` prints the table of
//! `docs/accuracy.md`.

use drystone::SolverKind;
use drystone_scene::{AnyWorld, gallery};

type Failure = Box<dyn std::error::Error>;

/// How a scene is measured once it has run.
enum Measure {
    /// Largest distance that a body whose name starts so has moved, m; at most this.
    Moved(&'static str, f64),
    /// The body has moved down at least this far, m: it must fall.
    Falls(&'static str, f64),
    /// Velocities along x of the bodies at the end, m/s.
    SpeedsX(&'static [(&'static str, f64)]),
    /// Velocities in the plane, m/s.
    Speeds(&'static [(&'static str, [f64; 2])]),
}

struct Truth {
    scene: &'static str,
    what: &'static str,
    measure: Measure,
}

const TRUTHS: &[Truth] = &[
    Truth {
        scene: "cradle-one",
        what: "cradle, one in: (0, 0, 0, 0, 1) m/s",
        measure: Measure::SpeedsX(&[
            ("thrown", 0.0),
            ("resting 1", 0.0),
            ("resting 2", 0.0),
            ("resting 3", 0.0),
            ("resting 4", 1.0),
        ]),
    },
    Truth {
        scene: "cradle-two",
        what: "cradle, two in: (0, 0, 0, 1, 1) m/s",
        measure: Measure::SpeedsX(&[
            ("thrown 1", 0.0),
            ("thrown 2", 0.0),
            ("resting 1", 0.0),
            ("resting 2", 1.0),
            ("resting 3", 1.0),
        ]),
    },
    Truth {
        scene: "one-hits-two",
        what: "one ball hits two: (−.2, 0), (.6, ±.3464) m/s",
        measure: Measure::Speeds(&[
            ("thrown", [-0.2, 0.0]),
            ("upper", [0.6, 0.346_41]),
            ("lower", [0.6, -0.346_41]),
        ]),
    },
    Truth {
        scene: "incline-holds",
        what: "block on an incline, μ = tan θ: holds",
        measure: Measure::Moved("", 1e-3),
    },
    Truth {
        scene: "heavy-on-light",
        what: "ratios 1 … 10⁶: all stand, move < 2 mm",
        measure: Measure::Moved("", 2e-3),
    },
    Truth {
        scene: "card-house-stands",
        what: "card house, μ > ½ tan φ: stands",
        measure: Measure::Moved("", 5e-3),
    },
    Truth {
        scene: "card-house-falls",
        what: "card house, μ < ½ tan φ: falls",
        measure: Measure::Falls("", 5e-2),
    },
    Truth {
        scene: "arch-7",
        what: "arch of 7, t/R = 0.15: stands",
        measure: Measure::Moved("stone", 5e-3),
    },
    Truth {
        scene: "arch-25",
        what: "arch of 25: stands",
        measure: Measure::Moved("stone", 5e-3),
    },
    Truth {
        scene: "arch-thin",
        what: "arch of 7, t/R = 0.06: falls",
        measure: Measure::Falls("stone", 0.3),
    },
    Truth {
        scene: "pyramid-wall",
        what: "wall of 210 boxes: stands",
        measure: Measure::Moved("", 1e-2),
    },
    Truth {
        scene: "tower",
        what: "tower of 10: drifts < 1 mm in 60 s",
        measure: Measure::Moved("", 1e-3),
    },
    Truth {
        scene: "ten-towers",
        what: "10 towers of 20: drift < 1 mm in 60 s",
        measure: Measure::Moved("", 1e-3),
    },
];

fn main() -> Result<(), Failure> {
    let solver = std::env::args().nth(1);
    println!("| truth | scene | measured | met | penetration, mm | worst residual, m/s |");
    println!("|---|---|---|---|---|---|");
    for truth in TRUTHS {
        let scene = gallery::find(truth.scene)
            .ok_or("the gallery lacks a scene")?
            .scene()?;
        let mut world = scene.build()?;
        if let Some(name) = &solver {
            let kind = SolverKind::named(name).ok_or("no such solver")?;
            world.set_solver(kind);
        }
        let start = world.frame();
        let (mut deepest, mut worst) = (0.0_f64, 0.0_f64);
        while world.time() + 0.5 * world.dt() < scene.seconds {
            let certificate = world.step()?.certificate.unwrap_or_default();
            deepest = deepest.max(certificate.penetration_m);
            worst = worst.max(certificate.residual_m_s);
        }
        let (measured, met) = judge(&truth.measure, &world, &start.positions);
        println!(
            "| {} | `{}` | {measured} | {} | {:.3} | {worst:.1e} |",
            truth.what,
            truth.scene,
            if met { "yes" } else { "**no**" },
            1e3 * deepest
        );
    }
    Ok(())
}

fn judge(measure: &Measure, world: &AnyWorld, start: &[[f64; 3]]) -> (String, bool) {
    let (stage, frame) = (world.stage(), world.frame());
    let moved = |prefix: &str| {
        let mut most = (0.0_f64, "");
        for (k, object) in stage.objects.iter().enumerate() {
            if object.fixed || !object.name.starts_with(prefix) {
                continue;
            }
            let distance = (0..3)
                .map(|axis| (frame.positions[k][axis] - start[k][axis]).powi(2))
                .sum::<f64>()
                .sqrt();
            if distance > most.0 {
                most = (distance, &object.name);
            }
        }
        most
    };
    let speed = |name: &str| {
        let index = stage.objects.iter().position(|object| object.name == name);
        index.map_or([f64::NAN; 3], |k| frame.velocities[k])
    };
    match measure {
        Measure::Moved(prefix, limit) => {
            let (most, name) = moved(prefix);
            (format!("{name} moved {:.3} mm", 1e3 * most), most <= *limit)
        }
        Measure::Falls(prefix, limit) => {
            let (most, name) = moved(prefix);
            (format!("{name} moved {most:.2} m"), most >= *limit)
        }
        Measure::SpeedsX(expected) => {
            let got: Vec<f64> = expected.iter().map(|(name, _)| speed(name)[0]).collect();
            let near = |(x, (_, y)): (&f64, &(&str, f64))| (x - y).abs() < 0.01;
            let met = got.iter().zip(*expected).all(near);
            let words: Vec<String> = got.iter().map(|x| format!("{x:.3}")).collect();
            (format!("({})", words.join(", ")), met)
        }
        Measure::Speeds(expected) => {
            let mut words = Vec::new();
            let mut met = true;
            for (name, [x, y]) in *expected {
                let got = speed(name);
                met &= (got[0] - x).abs() < 0.01 && (got[1] - y).abs() < 0.01;
                words.push(format!("({:.3}, {:.3})", got[0], got[1]));
            }
            (words.join(", "), met)
        }
    }
}
