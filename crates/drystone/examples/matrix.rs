//! The contact problem of one step as matrices: J, A = J M⁻¹ Jᵀ and b.
//!
//! `cargo run --release -p drystone --example matrix`

use drystone::glam::DVec2;
use drystone::{Body, Shape2, World2};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Three balls in a row between two walls, all touching.
    let mut world = World2::reference();
    for (name, normal, x) in [("left", DVec2::X, -0.5), ("right", DVec2::NEG_X, 2.5)] {
        let wall = Body::fixed(Shape2::half_space(normal)?);
        world.add(wall.at(DVec2::new(x, 0.0)).named(name))?;
    }
    for k in 0..3 {
        let ball = Body::rigid(Shape2::ball(0.5)?).with_mass(1.0);
        world.add(ball.at(DVec2::new(f64::from(k), 0.0)))?;
    }
    let problem = world.problem();
    let matrices = problem.matrix_form();
    println!(
        "{} contacts; A, one row a line (normal, tangent):",
        problem.rows.len()
    );
    for column in 0..matrices.a.columns() {
        let mut unit = vec![0.0; matrices.a.columns()];
        unit[column] = 1.0;
        // A is symmetric: its columns are its rows.
        let row: Vec<String> = matrices
            .a
            .multiply(&unit)
            .iter()
            .map(|x| format!("{x:5.1}"))
            .collect();
        println!("  {}", row.join(" "));
    }
    println!("b = {:?}", matrices.b);
    Ok(())
}
