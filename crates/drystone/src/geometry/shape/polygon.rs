//! Contact of two convex polygons: separating axis test, then clipping.
//!
//! The plane's version of [`super::polyhedron_sat`]: the direction of least overlap is the
//! normal of an edge of A or of B, and the other body's most opposed edge is clipped to it,
//! which leaves at most two points. Both polygons are given in A's axes, corners
//! counter-clockwise. A segment is a polygon of two corners, with a side on either face.

use glamx::DVec2;

/// A contact point in A's axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalContact {
    /// Half-way between the surfaces.
    pub(crate) position: DVec2,
    pub(crate) separation: f64,
    pub(crate) feature_a: u32,
    pub(crate) feature_b: u32,
}

/// B's edge must separate better by this part of the size to be the reference: no flicker.
const PREFER_A: f64 = 1e-4;

/// The contacts of A and B with their common normal (from A to B).
pub(crate) fn contacts(
    a: &[DVec2],
    b: &[DVec2],
    margin: f64,
    out: &mut Vec<LocalContact>,
) -> Option<DVec2> {
    let edge_a = best_edge(a, b)?;
    let edge_b = best_edge(b, a)?;
    if edge_a.separation > margin || edge_b.separation > margin {
        return None;
    }
    let size = a[0].distance(a[1]).min(b[0].distance(b[1]));
    if edge_b.separation > edge_a.separation + PREFER_A * size {
        clip(b, &edge_b, a, margin, |c| {
            out.push(LocalContact {
                feature_a: c.feature_b,
                feature_b: c.feature_a,
                ..c
            });
        });
        Some(-edge_b.normal)
    } else {
        clip(a, &edge_a, b, margin, |c| out.push(c));
        Some(edge_a.normal)
    }
}

struct EdgeAxis {
    edge: usize,
    normal: DVec2,
    separation: f64,
}

/// The contacts of an edge of `a` and of `b`, by the normal of that edge, which is returned.
pub(crate) fn over_edge(
    (a, edge): (&[DVec2], usize),
    b: &[DVec2],
    margin: f64,
    emit: impl FnMut(LocalContact),
) -> Option<DVec2> {
    let normal = outward(a, edge)?;
    let axis = EdgeAxis {
        edge,
        normal,
        separation: 0.0,
    };
    clip(a, &axis, b, margin, emit);
    Some(normal)
}

/// The unit normal out of edge `k` (from corner k to k + 1).
pub(crate) fn outward(polygon: &[DVec2], k: usize) -> Option<DVec2> {
    let along = polygon[(k + 1) % polygon.len()] - polygon[k];
    DVec2::new(along.y, -along.x).try_normalize()
}

fn best_edge(a: &[DVec2], b: &[DVec2]) -> Option<EdgeAxis> {
    let mut best: Option<EdgeAxis> = None;
    for (k, corner) in a.iter().enumerate() {
        let Some(normal) = outward(a, k) else {
            continue;
        };
        let lowest = b
            .iter()
            .fold(f64::INFINITY, |low, p| low.min(normal.dot(*p - *corner)));
        if best.as_ref().is_none_or(|b| lowest > b.separation) {
            best = Some(EdgeAxis {
                edge: k,
                normal,
                separation: lowest,
            });
        }
    }
    best
}

/// Clips the edge of `other` that faces the reference edge to the strip above it.
fn clip(
    reference: &[DVec2],
    axis: &EdgeAxis,
    other: &[DVec2],
    margin: f64,
    mut emit: impl FnMut(LocalContact),
) {
    let from = reference[axis.edge];
    let to = reference[(axis.edge + 1) % reference.len()];
    let along = to - from;
    let length = along.length();
    let along = along * (1.0 / length);

    let mut incident = (0, f64::INFINITY);
    for k in 0..other.len() {
        if let Some(normal) = outward(other, k) {
            let dot = normal.dot(axis.normal);
            if dot < incident.1 {
                incident = (k, dot);
            }
        }
    }
    let ends = [incident.0, (incident.0 + 1) % other.len()];
    let (p, q) = (other[ends[0]], other[ends[1]]);
    let (s, t) = (along.dot(p - from), along.dot(q - from));
    let tolerance = 1e-9 * length;
    if s.max(t) < -tolerance || s.min(t) > length + tolerance {
        return;
    }
    for (which, (x, point)) in [(s, p), (t, q)].into_iter().enumerate() {
        // A corner outside the strip moves along its edge to the strip's border.
        let (low, high) = (-tolerance, length + tolerance);
        let (point, reference_feature) = if x < low {
            (p + (q - p) * (-s / (t - s)), CUT)
        } else if x > high {
            (p + (q - p) * ((length - s) / (t - s)), CUT + 1)
        } else {
            (point, axis.edge as u32)
        };
        let separation = axis.normal.dot(point - from);
        if separation <= margin {
            emit(LocalContact {
                position: point - axis.normal * (0.5 * separation),
                separation,
                feature_a: reference_feature,
                feature_b: ends[which] as u32,
            });
        }
    }
}

/// Feature of a point cut off by the start of the reference edge; one more for its end.
const CUT: u32 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [DVec2; 4] = [
        DVec2::new(-0.5, -0.5),
        DVec2::new(0.5, -0.5),
        DVec2::new(0.5, 0.5),
        DVec2::new(-0.5, 0.5),
    ];

    fn moved(by: DVec2) -> Vec<DVec2> {
        SQUARE.iter().map(|p| *p + by).collect()
    }

    #[test]
    fn aligned_squares_touch_in_two_corners() {
        for gap in [-1e-3, -1e-12, 0.0, 1e-3] {
            let mut out = Vec::new();
            let normal = contacts(&SQUARE, &moved(DVec2::new(0.0, 1.0 + gap)), 0.01, &mut out);
            assert_eq!(normal, Some(DVec2::Y));
            assert_eq!(out.len(), 2);
            assert!(out.iter().all(|c| (c.separation - gap).abs() < 1e-15));
            assert!((out[0].position.x - out[1].position.x).abs() > 0.99);
        }
    }

    #[test]
    fn a_shifted_square_is_cut_at_the_reference_edge() {
        let mut out = Vec::new();
        contacts(&SQUARE, &moved(DVec2::new(0.3, 1.0)), 0.01, &mut out);
        let mut x: Vec<f64> = out.iter().map(|c| c.position.x).collect();
        x.sort_by(f64::total_cmp);
        assert!((x[0] + 0.2).abs() < 1e-12 && (x[1] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn squares_that_pass_diagonally_do_not_touch() {
        let mut out = Vec::new();
        contacts(&SQUARE, &moved(DVec2::new(1.2, 1.2)), 0.5, &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn a_segment_holds_a_square_from_either_side() {
        let segment = [DVec2::new(-2.0, 0.0), DVec2::new(2.0, 0.0)];
        for side in [1.0, -1.0] {
            let mut out = Vec::new();
            let normal = contacts(
                &segment,
                &moved(DVec2::new(0.0, 0.49 * side)),
                0.01,
                &mut out,
            );
            assert!((normal.unwrap() - DVec2::Y * side).length() < 1e-12);
            assert_eq!(out.len(), 2);
            assert!((out[0].separation + 0.01).abs() < 1e-12);
        }
    }
}
