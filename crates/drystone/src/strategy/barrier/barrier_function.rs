//! The barrier function and the smooth friction function, with derivatives.

/// Value, slope and curvature of $-(d-\hat d)^2\ln(d/\hat d)$ for $0 < d < \hat d$; 0 beyond.
///
/// It is twice continuously differentiable at $\hat d$, convex, and infinite at 0.
pub(super) fn barrier(d: f64, reach: f64) -> [f64; 3] {
    if d >= reach {
        return [0.0; 3];
    }
    if d <= 0.0 {
        return [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY];
    }
    let (away, log) = (d - reach, libm::log(d / reach));
    let part = away / d;
    [
        -away * away * log,
        -2.0 * away * log - away * part,
        -2.0 * log - 4.0 * part + part * part,
    ]
}

/// Smooth friction per unit of its strength, for a slip of y metres: potential (m), force (without
/// unit, at most 1) and slope of the force (1/m). Below the slip ε force grows smoothly from 0.
pub(super) fn friction(y: f64, epsilon: f64) -> [f64; 3] {
    if y >= epsilon {
        return [y, 1.0, 0.0];
    }
    let part = y / epsilon;
    [
        y * part * (1.0 - part / 3.0) + epsilon / 3.0,
        part * (2.0 - part),
        2.0 * (1.0 - part) / epsilon,
    ]
}

/// By how much two edges of sides u and v weigh that are nearly parallel, and its slope, given
/// $c = |u\times v|^2$ and the c below which they are.
///
/// Nearest points of parallel edges jump from end to end; their force has to fade before they do.
pub(super) fn fade(c: f64, parallel: f64) -> [f64; 2] {
    if c >= parallel {
        return [1.0, 0.0];
    }
    let part = c / parallel;
    [part * (2.0 - part), 2.0 * (1.0 - part) / parallel]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_slopes(f: impl Fn(f64) -> [f64; 3], at: f64, step: f64) {
        let [below, here, above] = [f(at - step), f(at), f(at + step)];
        let slope = (above[0] - below[0]) / (2.0 * step);
        let curvature = (above[1] - below[1]) / (2.0 * step);
        assert!(
            (slope - here[1]).abs() <= 1e-6 * here[1].abs().max(1e-3),
            "{slope} {here:?}"
        );
        assert!(
            (curvature - here[2]).abs() <= 1e-5 * here[2].abs().max(1.0),
            "{curvature} {here:?}"
        );
    }

    #[test]
    fn slopes_are_those_of_differences() {
        for part in [0.01, 0.3, 0.7, 0.99, 1.5] {
            check_slopes(|d| barrier(d, 2.0), 2.0 * part, 1e-6);
            check_slopes(|y| friction(y, 2.0), 2.0 * part, 1e-6);
        }
        let [value, slope] = fade(0.3, 0.5);
        assert!(((fade(0.3 + 1e-7, 0.5)[0] - value) / 1e-7 - slope).abs() < 1e-5);
    }

    #[test]
    fn the_barrier_joins_zero_smoothly_and_is_infinite_at_touch() {
        let near = barrier(1.0 - 1e-8, 1.0);
        assert!(near[0].abs() < 1e-20 && near[1].abs() < 1e-14 && near[2] < 1e-6);
        assert_eq!(barrier(0.0, 1.0)[0], f64::INFINITY);
        assert!(barrier(1e-12, 1.0)[1] < -1e11);
    }
}
