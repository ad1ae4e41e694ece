//! Single collisions in closed form: what one impact must give, derived and solved by hand.
//!
//! The oracle of the tests of impacts. All impulses are magnitudes along the
//! unit normal `n`, in N·s, and velocities are in m/s.

use drystone::{Linear, Space};

/// A particle hits a fixed obstacle whose surface normal `n` points to the particle.
///
/// With the normal speed $v_n = n\cdot v < 0$ and Newton's hypothesis $v_n^+ = -e\,v_n$, momentum
/// gives $\gamma = -(1+e)\,m\,v_n$. Coulomb friction takes at most the slip away:
/// $\gamma_f = \min(\mu\gamma,\ m\lVert v_t\rVert)$ against $v_t$. A particle that moves away is left alone.
#[must_use]
pub(crate) fn particle_on_obstacle<S: Space>(
    mass: f64,
    velocity: S::Vector,
    normal: S::Vector,
    restitution: f64,
    friction: f64,
) -> S::Vector {
    let speed = normal.dot(velocity);
    if speed >= 0.0 {
        return velocity;
    }
    let impulse = -(1.0 + restitution) * mass * speed;
    let slip = velocity - normal * speed;
    let slip_speed = slip.length();
    let brake = (friction * impulse).min(mass * slip_speed);
    let slipping = if slip_speed > 0.0 {
        slip * (1.0 - brake / (mass * slip_speed))
    } else {
        slip
    };
    normal * (-restitution * speed) + slipping
}

/// Two particles collide; `n` points from A to B. Returns their velocities after it.
///
/// The relative normal velocity $u_n = n\cdot(v_B - v_A) < 0$ becomes $-e\,u_n$ under equal and
/// opposite impulses: $\gamma = -(1+e)\,m_{\text{eff}}\,u_n$,
/// $m_{\text{eff}} = (1/m_A + 1/m_B)^{-1}$.
#[must_use]
pub(crate) fn particle_on_particle<S: Space>(
    masses: [f64; 2],
    velocities: [S::Vector; 2],
    normal: S::Vector,
    restitution: f64,
) -> [S::Vector; 2] {
    let approach = normal.dot(velocities[1] - velocities[0]);
    if approach >= 0.0 {
        return velocities;
    }
    let impulse = -(1.0 + restitution) * approach / (1.0 / masses[0] + 1.0 / masses[1]);
    [
        velocities[0] - normal * (impulse / masses[0]),
        velocities[1] + normal * (impulse / masses[1]),
    ]
}

/// The impulse between a vertex x and the point $\sum w_k y_k$ of an edge or face.
///
/// The point's velocity is $\sum w_k\dot y_k$ and an impulse on it moves vertex k by
/// $w_k\gamma/m_k$, so the weights count twice:
/// $\gamma = -(1+e)\,v_n \big/ \bigl(1/m_x + \sum w_k^2/m_k\bigr)$, with
/// $v_n = n\cdot(\dot x - \sum w_k\dot y_k) < 0$ and n pointing to x.
#[must_use]
pub(crate) fn vertex_on_element(
    vertex_mass: f64,
    element: &[(f64, f64)],
    normal_speed: f64,
    restitution: f64,
) -> f64 {
    if normal_speed >= 0.0 {
        return 0.0;
    }
    let admittance: f64 = element
        .iter()
        .map(|(mass, weight)| weight * weight / mass)
        .sum();
    -(1.0 + restitution) * normal_speed / (1.0 / vertex_mass + admittance)
}
