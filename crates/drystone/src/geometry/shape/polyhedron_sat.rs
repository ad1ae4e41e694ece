//! Contact of two convex polyhedra: separating axis test, then clipping.
//!
//! Of all directions, the one along which the bodies are furthest apart (or overlap least) is
//! the normal of a face of A, the normal of a face of B, or the cross product of an edge of
//! either. A face direction gives a contact polygon ([`super::polyhedron_clip`]); an edge
//! direction gives one point. Faces are preferred where the difference is within
//! [`FACE_PREFERENCE`], because a polygon of contact carries a stone and a point does not.
//!
//! Most directions need not be tried. Along a normal n of A, B begins no later than the ball inside
//! of it, so the bodies are apart by at most n·(c − p) − r, where p is a point of A's face or edge, c
//! the centre of B's inner ball and r its radius. What can't exceed the best direction found so far
//! is left out: of two hulls of thirty corners that touch, all but a few faces and edges.
//!
//! Each polyhedron stays in its own axes; the pose of B is given in A's axes, in which the answer is.

use glamx::{DMat3, DPose3, DVec3};
use smallvec::SmallVec;

use super::polyhedron::{Edge, Polyhedron};
use super::polyhedron_clip::clip;

/// An edge contact must separate more than this part of the smaller body's size better than a
/// face contact to be chosen.
pub(crate) const FACE_PREFERENCE: f64 = 1e-3;
/// Bounds are raised by this part of the size for the rounding in them.
const ROUNDING: f64 = 1e-9;
/// Cosine of the angle between faces above which the arc between their normals is all but straight.
const NEARLY_FLAT: f64 = 0.99;

/// Kinds of features, in the top bits of a feature number.
pub(crate) const EDGE: u32 = 1 << 30;
pub(crate) const CORNER: u32 = 2 << 30;
pub(crate) const CUT: u32 = 3 << 30;

/// A contact point in A's axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalContact {
    /// Half-way between the surfaces.
    pub(crate) position: DVec3,
    pub(crate) separation: f64,
    pub(crate) feature_a: u32,
    pub(crate) feature_b: u32,
}

impl LocalContact {
    pub(crate) fn swapped(self) -> Self {
        Self {
            feature_a: self.feature_b,
            feature_b: self.feature_a,
            ..self
        }
    }
}

/// The contacts of A and B, whose pose is given in A's axes, with their common normal from A to B in
/// A's axes.
pub(crate) fn contacts(
    a: &Polyhedron,
    b: &Polyhedron,
    b_in_a: &DPose3,
    margin: f64,
    emit: &mut dyn FnMut(LocalContact),
) -> Option<DVec3> {
    let (from_b, from_a) = (Placement::of(b_in_a), Placement::of(&b_in_a.inverse()));
    let face_a = best_face(a, b, &from_b, margin)?;
    let face_b = best_face(b, a, &from_a, margin)?;
    let size = a.size.min(b.size);
    let face_separation = face_a.separation.max(face_b.separation);
    // In overlap the lesser depth wins; an edge must win clearly, or show that the bodies are apart.
    let edge_wins = face_separation + FACE_PREFERENCE * size;
    let least = edge_wins.min(margin);
    let of_a = edges_above(a, b.inner, from_b.point(b.center), &face_a, least);
    let of_b = edges_above(b, a.inner, from_a.point(a.center), &face_b, least);
    if let Some(edges) = best_edges(&lines(a, &of_a, None), &lines(b, &of_b, Some(&from_b))) {
        if edges.separation > margin {
            return None;
        }
        if edges.separation > edge_wins {
            emit(edge_contact(&edges));
            return Some(edges.normal);
        }
    }
    // A's face unless B's separates clearly better: the choice must not flicker.
    if face_b.separation > face_a.separation + 0.1 * FACE_PREFERENCE * size {
        clip(b, face_b.face, (a, &from_a), margin, |c| {
            emit(LocalContact {
                position: from_b.point(c.position),
                ..c.swapped()
            });
        });
        Some(-from_b.turn(b.normals[face_b.face]))
    } else {
        clip(a, face_a.face, (b, &from_b), margin, emit);
        Some(a.normals[face_a.face])
    }
}

/// Brings what is given in one polyhedron's axes into the other's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    rotation: DMat3,
    translation: DVec3,
}

impl Placement {
    pub(crate) fn of(pose: &DPose3) -> Self {
        Self {
            rotation: DMat3::from_quat(pose.rotation),
            translation: pose.translation,
        }
    }

    pub(crate) fn point(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.translation
    }

    pub(crate) fn turn(&self, direction: DVec3) -> DVec3 {
        self.rotation * direction
    }

    /// The direction in the axes that are placed.
    pub(crate) fn turn_back(&self, direction: DVec3) -> DVec3 {
        DVec3::new(
            self.rotation.x_axis.dot(direction),
            self.rotation.y_axis.dot(direction),
            self.rotation.z_axis.dot(direction),
        )
    }

    /// The least of `direction · p` over the corners of a polyhedron so placed.
    fn lowest(&self, polyhedron: &Polyhedron, direction: DVec3) -> f64 {
        polyhedron.lowest(self.turn_back(direction)) + direction.dot(self.translation)
    }
}

/// The face of one polyhedron along whose normal the other is furthest away.
struct FaceAxis {
    face: usize,
    separation: f64,
    /// Height of the other's centre above each face, m.
    heights: SmallVec<[f64; 64]>,
}

/// Nothing if a face shows that the two are further apart than the margin.
fn best_face(a: &Polyhedron, b: &Polyhedron, from_b: &Placement, margin: f64) -> Option<FaceAxis> {
    let center = from_b.point(b.center);
    let heights: SmallVec<[f64; 64]> = (a.normals.iter().zip(&a.heights))
        .map(|(normal, height)| normal.dot(center) - height)
        .collect();
    let mut first = 0;
    for (k, &height) in heights.iter().enumerate() {
        if height > heights[first] {
            first = k;
        }
    }
    let separation = |k: usize| from_b.lowest(b, a.normals[k]) - a.heights[k];
    let mut best = (first, separation(first));
    for (k, &height) in heights.iter().enumerate() {
        if best.1 > margin {
            return None;
        }
        if k == first || height - b.inner <= best.1 {
            continue;
        }
        let apart = separation(k);
        if apart > best.1 || apart == best.1 && k < best.0 {
            best = (k, apart);
        }
    }
    (best.1 <= margin).then_some(FaceAxis {
        face: best.0,
        separation: best.1,
        heights,
    })
}

/// The edges of a polyhedron along whose directions another one, which has a ball of radius `inner`
/// inside of it around `center`, can be more than `least` away.
fn edges_above(
    hull: &Polyhedron,
    inner: f64,
    center: DVec3,
    faces: &FaceAxis,
    least: f64,
) -> SmallVec<[u32; 32]> {
    let needed = least + inner - ROUNDING * hull.size;
    let can_be = |edge: &Edge| {
        let [h, g] = edge.faces.map(|face| faces.heights[face as usize]);
        reaches(edge, center, [h, g], needed)
    };
    let edges = hull.edges.iter().enumerate();
    edges
        .filter(|(_, edge)| can_be(edge))
        .map(|(k, _)| k as u32)
        .collect()
}

/// Whether n·v can be `needed` for some n on an edge's arc, where v is from the edge to a point and
/// h and g are what n·v is for the arc's ends.
#[inline]
fn reaches(edge: &Edge, center: DVec3, [h, g]: [f64; 2], needed: f64) -> bool {
    let top = h.max(g);
    if top >= needed {
        return true;
    }
    let cosine = edge.cosine;
    if cosine > NEARLY_FLAT {
        // A unit vector on the arc is a mean of the ends, divided by 0.997 at least.
        return top > 0.0 && 1.003 * top >= needed;
    }
    if edge.is_of_sheet() {
        let along = edge.outward.dot(center - edge.start);
        return along > 0.0 && (needed <= 0.0 || h * h + along * along >= needed * needed);
    }
    // Only if v's projection to the arc's plane is between the ends it is longer than along them.
    if h <= cosine * g || g <= cosine * h {
        return false;
    }
    let square = h * h + g * g - 2.0 * cosine * h * g;
    needed <= 0.0 || square >= needed * needed * (1.0 - cosine * cosine)
}

/// An edge with what the test asks of it, in A's axes.
struct Line {
    start: DVec3,
    along: DVec3,
    /// Normals of the faces on its two sides, and a direction between them.
    normals: [DVec3; 2],
    outward: DVec3,
    edge: u32,
}

type Lines = SmallVec<[Line; 16]>;

fn lines(hull: &Polyhedron, edges: &[u32], placed: Option<&Placement>) -> Lines {
    let line = |&k: &u32| {
        let edge = &hull.edges[k as usize];
        let own = Line {
            start: edge.start,
            along: edge.along,
            normals: edge.faces.map(|face| hull.normals[face as usize]),
            outward: edge.outward,
            edge: k,
        };
        placed.map_or(own, |placed| Line {
            start: placed.point(edge.start),
            along: placed.turn(edge.along),
            normals: edge.faces.map(|f| placed.turn(hull.normals[f as usize])),
            outward: placed.turn(edge.outward),
            edge: k,
        })
    };
    edges.iter().map(line).collect()
}

/// A pair of edges, and how far apart the bodies are across them.
struct EdgeAxis<'a> {
    a: &'a Line,
    b: &'a Line,
    normal: DVec3,
    separation: f64,
}

/// The pair of edges along whose cross product the bodies are furthest apart.
///
/// Only pairs whose cross product is the normal of a face of the Minkowski difference can be:
/// those whose arcs between face normals cross on the unit sphere (D. Gregorius, *The separating
/// axis test between convex polyhedra*, GDC 2013).
fn best_edges<'a>(of_a: &'a [Line], of_b: &'a [Line]) -> Option<EdgeAxis<'a>> {
    let mut best: Option<EdgeAxis> = None;
    for a in of_a {
        for b in of_b {
            if let Some(normal) = across(a, b) {
                let separation = normal.dot(b.start - a.start);
                if best.as_ref().is_none_or(|b| separation > b.separation) {
                    best = Some(EdgeAxis {
                        a,
                        b,
                        normal,
                        separation,
                    });
                }
            }
        }
    }
    best
}

/// The direction across two edges, out of A, if the arc between A's face normals crosses the arc
/// between B's **negated** normals.
///
/// An arc is perpendicular to its edge, so the crossing is along the cross product of the edges: each
/// edge parts the ends of the other's arc, and the crossing is on A's arc where it points to the middle
/// of that, on B's where it points away from the middle of B's own normals.
#[inline]
fn across(a: &Line, b: &Line) -> Option<DVec3> {
    let [n0, n1] = a.normals;
    if n0.dot(b.along) * n1.dot(b.along) >= 0.0 {
        return None;
    }
    let [m0, m1] = b.normals;
    if m0.dot(a.along) * m1.dot(a.along) >= 0.0 {
        return None;
    }
    let cross = a.along.cross(b.along);
    let side = cross.dot(a.outward);
    if side * cross.dot(b.outward) >= 0.0 {
        return None;
    }
    // Nearly parallel edges have no direction of their own; a face has it.
    let square = cross.length_squared();
    if square < 1e-6 * a.along.length_squared() * b.along.length_squared() {
        return None;
    }
    Some(cross * (1.0_f64.copysign(side) / square.sqrt()))
}

fn edge_contact(axis: &EdgeAxis<'_>) -> LocalContact {
    let (s, t) = closest_on_lines(axis.a, axis.b);
    let on_a = axis.a.start + axis.a.along * s.clamp(0.0, 1.0);
    let on_b = axis.b.start + axis.b.along * t.clamp(0.0, 1.0);
    LocalContact {
        position: (on_a + on_b) * 0.5,
        separation: axis.separation,
        feature_a: EDGE | axis.a.edge,
        feature_b: EDGE | axis.b.edge,
    }
}

/// Parameters of the closest points of two lines, 0 and 1 at the ends of the edges.
fn closest_on_lines(one: &Line, other: &Line) -> (f64, f64) {
    let (d, e) = (one.along, other.along);
    let w = other.start - one.start;
    let (dd, de, ee) = (d.dot(d), d.dot(e), e.dot(e));
    let det = dd * ee - de * de;
    let (wd, we) = (w.dot(d), w.dot(e));
    ((wd * ee - we * de) / det, (wd * de - we * dd) / det)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glamx::{DPose3, DQuat};
    use proptest::prelude::*;

    fn on_top(offset: DVec3, rotation: DQuat, margin: f64) -> (Option<DVec3>, Vec<LocalContact>) {
        let a = Polyhedron::cuboid(DVec3::splat(0.5));
        let pose = DPose3::from_parts(offset, rotation);
        let mut out = Vec::new();
        let normal = contacts(&a, &a, &pose, margin, &mut |p| out.push(p));
        (normal, out)
    }

    #[test]
    fn aligned_boxes_touch_in_their_four_corners() {
        for gap in [-1e-3, -1e-12, 0.0, 1e-12, 1e-3] {
            let (normal, points) = on_top(DVec3::new(0.0, 1.0 + gap, 0.0), DQuat::IDENTITY, 0.01);
            assert_eq!(normal, Some(DVec3::Y));
            assert_eq!(points.len(), 4, "gap {gap}");
            assert!(points.iter().all(|p| (p.separation - gap).abs() < 1e-15));
        }
    }

    #[test]
    fn a_box_turned_by_45_degrees_touches_in_eight_corners() {
        let turn = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_4);
        let (_, points) = on_top(DVec3::new(0.0, 1.0, 0.0), turn, 0.01);
        assert_eq!(points.len(), 8);
        let mut ids: Vec<_> = points.iter().map(|p| (p.feature_a, p.feature_b)).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 8, "identifiers must differ");
    }

    #[test]
    fn crossed_edges_touch_in_one_point() {
        // Two boxes balanced edge on edge, the edges at right angles.
        let cube = Polyhedron::cuboid(DVec3::splat(0.5));
        let a = DPose3::from_rotation(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4));
        let height = 2.0 * 0.5_f64.sqrt() - 0.01;
        let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
        let b = DPose3::from_parts(DVec3::new(0.0, height, 0.0), turn);
        let mut out = Vec::new();
        let emit = &mut |p| out.push(p);
        let normal = a.rotation * contacts(&cube, &cube, &(a.inverse() * b), 0.0, emit).unwrap();
        assert!((normal - DVec3::Y).length() < 1e-12);
        assert_eq!(out.len(), 1);
        assert!((out[0].separation + 0.01).abs() < 1e-12);
        let position = a.transform_point(out[0].position);
        assert!((position - DVec3::new(0.0, height / 2.0, 0.0)).length() < 1e-12);
    }

    #[test]
    fn boxes_side_by_side_beyond_the_margin_do_not_touch() {
        assert!(
            on_top(DVec3::new(0.0, 1.02, 0.0), DQuat::IDENTITY, 0.01)
                .1
                .is_empty()
        );
        assert!(
            on_top(DVec3::new(1.5, 1.5, 0.0), DQuat::IDENTITY, 0.6)
                .1
                .is_empty()
        );
    }

    /// The greatest distance of two solids along any face normal and any cross product of edges.
    fn furthest_apart(a: &Polyhedron, b: &Polyhedron, pose: &DPose3) -> f64 {
        let points = |hull: &Polyhedron, pose: &DPose3| -> Vec<DVec3> {
            hull.points
                .iter()
                .map(|&p| pose.transform_point(p))
                .collect()
        };
        let of_a = points(a, &DPose3::IDENTITY);
        let of_b = points(b, pose);
        let lowest = |points: &[DVec3], n: DVec3| {
            points
                .iter()
                .fold(f64::INFINITY, |low: f64, p| low.min(n.dot(*p)))
        };
        let apart = |n: DVec3| lowest(&of_b, n) + lowest(&of_a, -n);
        // Of apart bodies the corners may be nearest, which no axis of the test is across: only
        // edges in which both bodies reach furthest count.
        let crosses = a.edges.iter().flat_map(|e| {
            let (of_b, lowest) = (&of_b, &lowest);
            b.edges.iter().flat_map(move |f| {
                let along = pose.rotation * f.along;
                let cross = e.along.cross(along);
                let least = 1e-6 * e.along.length_squared() * along.length_squared();
                let is_axis = cross.length_squared() >= least;
                let start = pose.transform_point(f.start);
                [1.0, -1.0].into_iter().filter_map(move |sign| {
                    let n = sign * cross.normalize();
                    let is_of_a = -a.lowest(-n) - n.dot(e.start) <= 1e-12;
                    let is_of_b = n.dot(start) - lowest(of_b, n) <= 1e-12;
                    (is_axis && is_of_a && is_of_b).then_some(n)
                })
            })
        });
        let of_b_faces = b.normals.iter().map(|&n| pose.rotation * -n);
        let directions = a.normals.iter().copied().chain(of_b_faces).chain(crosses);
        directions.map(apart).fold(f64::NEG_INFINITY, f64::max)
    }

    fn solid() -> impl Strategy<Value = Polyhedron> {
        let flat = prop::array::uniform3(0.02..1.0).prop_map(DVec3::from_array);
        let corners = prop::collection::vec(prop::array::uniform3(-1.0..1.0), 5..40);
        let hull = (corners, flat).prop_filter_map("a hull with a volume", |(corners, flat)| {
            let points: Vec<DVec3> = corners
                .into_iter()
                .map(|p| DVec3::from_array(p) * flat)
                .collect();
            let shape = crate::geometry::shape::Shape3::hull(&points).ok()?;
            shape.polyhedron().cloned()
        });
        let triangle = prop::array::uniform3(prop::array::uniform3(-2.0..2.0))
            .prop_filter_map("a triangle with an area", |corners| {
                Polyhedron::triangle(corners.map(DVec3::from_array))
            });
        prop_oneof![4 => hull, 1 => triangle]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// What is left out by bounds and by the Gauss map is never what counts.
        #[test]
        fn pruned_axes_are_never_the_best(
            [a, b] in [solid(), solid()],
            at in prop::array::uniform3(-1.0..1.0),
            axis in prop::array::uniform3(-1.0..1.0),
            angle in -3.0..3.0,
        ) {
            prop_assume!(!(a.is_sheet() && b.is_sheet()));
            let axis = DVec3::from_array(axis).normalize_or(DVec3::X);
            let rotation = DQuat::from_axis_angle(axis, angle);
            let pose = DPose3::from_parts(DVec3::from_array(at), rotation);
            let expected = furthest_apart(&a, &b, &pose);
            for margin in [1e9, expected + 1e-9, expected - 1e-9] {
                let mut points = Vec::new();
                let normal = contacts(&a, &b, &pose, margin, &mut |p| points.push(p));
                prop_assert_eq!(normal.is_some(), margin > expected, "{} {}", margin, expected);
                let Some(normal) = normal else { continue };
                let lowest = Placement::of(&pose).lowest(&b, normal) + a.lowest(-normal);
                let size = a.size.min(b.size);
                prop_assert!(lowest <= expected + 1e-9);
                prop_assert!(lowest >= expected - 1.2 * FACE_PREFERENCE * size, "{lowest} {expected}");
                for point in points {
                    prop_assert!(point.separation <= margin);
                }
            }
        }
    }
}
