//! Detection: from poses to contacts.
//!
//! Bounding boxes, grown by how far each body can move in a step, go through a broad phase
//! ([`crate::geometry::bvh::median_split`]) that finds the pairs that can touch; each pair's shapes give contact points; each
//! point that was there before brings its impulse along, so that the solver starts from the last
//! step's answer.
//!
//! The order of contacts follows from the bodies' indices and the shapes' features alone, not
//! from the tree, so that a far-away body changes nothing (and a test says so).

use crate::contact::rules::{Manner, PairRules};
use crate::geometry::Space;
use crate::geometry::shape::{Bounds, ContactPoint, FeatureId, Geometry, ball_on_ball};
use crate::math::algebra::Linear;
use crate::model::body::Bodies;
use crate::model::material::Surface;
use serde::{Deserialize, Serialize};

/// Marks contacts of attachments among features: no shape has as many parts.
pub(crate) const ATTACHED: u32 = u32::MAX;
/// Marks contacts of joints.
pub(crate) const JOINED: u32 = u32::MAX - 1;

/// A contact point between two bodies, as detection finds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Contact<S: Space> {
    /// Index of body A (the smaller).
    pub a: u32,
    /// Index of body B.
    pub b: u32,
    /// Where, what direction, how far: see [`ContactPoint`].
    pub point: ContactPoint<S>,
    /// Coefficients of the two surfaces.
    pub surface: Surface,
    /// Velocity of B's surface relative to A's on top of the bodies' own (a belt's), in the
    /// contact's plane, m/s.
    pub slide: S::Vector,
    /// Impulse on B in the last step in N·s, world axes; zero for a new contact.
    pub impulse: S::Vector,
    /// The point in A's axes, by which a contact whose features changed is recognised; of a joint,
    /// from the origin of B's frame to the point, world axes, m.
    pub(crate) anchor: S::Vector,
    /// By how much the separation will change in the coming step beyond what its rate says, m:
    /// known of joints, 0 of all others.
    pub(crate) bend: f64,
    /// The points of deformables that touch, of either side where it is such; `a` or `b` is then
    /// one of the nodes.
    pub nodes: [Option<NodePoint>; 2],
}

/// A point between nodes of a deformable.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodePoint {
    /// Indices of the bodies, those with weight first.
    pub bodies: [u32; 3],
    /// Barycentric weights: they sum to 1.
    pub weights: [f64; 3],
}

impl<S: Space> Contact<S> {
    /// All bodies that the contact may move.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = u32> + use<S> {
        let of = |body: u32, nodes: Option<NodePoint>| nodes.map_or([body; 3], |n| n.bodies);
        let list = [of(self.a, self.nodes[0]), of(self.b, self.nodes[1])];
        list.into_iter().flatten()
    }

    /// Whether two surfaces touch or may: what holds an attached node or a joint is a contact of
    /// the problem, but touches nothing. Touches stand before all others in lists of contacts.
    #[must_use]
    pub fn is_touch(&self) -> bool {
        self.point.feature.part_a != ATTACHED && !self.is_of_joint()
    }

    /// Whether it is a joint's.
    pub(crate) fn is_of_joint(&self) -> bool {
        self.point.feature.part_a == JOINED
    }

    /// Whether a face or an edge of a deformable takes part.
    pub(crate) fn is_soft(&self) -> bool {
        self.nodes.iter().any(Option::is_some)
    }
}

/// How detection looks ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lookahead {
    /// Length of the coming step in s.
    pub dt: f64,
    /// Contacts this near are always found, m.
    pub margin: f64,
    /// Size of the acceleration that acts on every body, m/s².
    pub acceleration: f64,
}

/// Finds every contact that can matter in the coming step, sorted by bodies.
pub(crate) fn detect<S: Space>(
    bodies: &Bodies<S>,
    rules: &PairRules<'_, S>,
    ahead: &Lookahead,
    previous: &[Contact<S>],
) -> Vec<Contact<S>> {
    let reach: Vec<f64> = (0..bodies.len()).map(|k| reach(bodies, k, ahead)).collect();
    let pairs = candidate_pairs(bodies, rules, &reach, ahead.margin);
    let mut contacts = Vec::with_capacity(previous.len());
    let mut points = Vec::new();
    for (a, b) in pairs {
        points.clear();
        let margin = ahead.margin + reach[a] + reach[b];
        touch(bodies, (a, b), margin, ahead, &mut points);
        let Manner { surface, slide } = rules.adjust(bodies, (a, b), &mut points);
        if points.is_empty() {
            continue;
        }
        let start = contacts.len();
        let frame_a = bodies.origin(a);
        contacts.extend(points.iter().map(|&point| Contact {
            a: a as u32,
            b: b as u32,
            point,
            surface,
            slide,
            impulse: S::Vector::default(),
            bend: 0.0,
            anchor: frame_a.local_point(point.position),
            nodes: [None; 2],
        }));
        let size = bodies.radius[a].min(bodies.radius[b]);
        inherit(&mut contacts[start..], of_pair(previous, (a, b)), size);
    }
    contacts
}

/// How far a point of the body can move in the coming step, m.
pub(crate) fn reach<S: Space>(bodies: &Bodies<S>, k: usize, ahead: &Lookahead) -> f64 {
    let motion = &bodies.motion[k];
    let fall = if bodies.is_dynamic(k) {
        ahead.acceleration * ahead.dt
    } else {
        0.0
    };
    let radius = bodies.radius[k];
    // An infinite wall that turns can reach anywhere; only its translation is looked at.
    let sweep = if radius.is_finite() {
        motion.spin.length() * radius
    } else {
        0.0
    };
    ahead.dt * (motion.linear.length() + sweep + fall)
}

/// Pairs whose grown boxes overlap and that may touch, sorted.
fn candidate_pairs<S: Space>(
    bodies: &Bodies<S>,
    rules: &PairRules<'_, S>,
    reach: &[f64],
    margin: f64,
) -> Vec<(usize, usize)> {
    let mut boxes: Vec<Bounds<S>> = Vec::with_capacity(bodies.len());
    let mut boxed: Vec<u32> = Vec::with_capacity(bodies.len());
    let mut unbounded: Vec<usize> = Vec::new();
    for (k, reach) in reach.iter().enumerate() {
        if !bodies.is_present(k) {
            continue;
        }
        match bodies.shape[k].bounds(&bodies.origin(k)) {
            Some(bounds) => {
                // Half of the margin each: the two together leave no gap.
                boxes.push(bounds.grown(reach + 0.5 * margin));
                boxed.push(k as u32);
            }
            None => unbounded.push(k),
        }
    }
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    crate::geometry::bvh::median_split::overlapping_pairs(&boxes, |i, j| {
        let (a, b) = (boxed[i].min(boxed[j]), boxed[i].max(boxed[j]));
        let (a, b) = (a as usize, b as usize);
        if rules.allow(bodies, a, b) {
            pairs.push((a, b));
        }
    });
    for &wall in &unbounded {
        pairs.extend(
            boxed
                .iter()
                .map(|&k| k as usize)
                .map(|k| (wall.min(k), wall.max(k)))
                .filter(|&(a, b)| rules.allow(bodies, a, b)),
        );
    }
    pairs.sort_unstable();
    pairs
}

/// The contact points of one pair.
pub(crate) fn touch<S: Space>(
    bodies: &Bodies<S>,
    (a, b): (usize, usize),
    margin: f64,
    ahead: &Lookahead,
    out: &mut Vec<ContactPoint<S>>,
) {
    let (shape_a, shape_b) = (&bodies.shape[a], &bodies.shape[b]);
    let (pose_a, pose_b) = (bodies.origin(a), bodies.origin(b));
    if let (Some(r_a), Some(r_b)) = (shape_a.ball_radius(), shape_b.ball_radius()) {
        let balls = [(pose_a.position, r_a), (pose_b.position, r_b)];
        let approach = bodies.motion[b].linear - bodies.motion[a].linear;
        out.extend(swept_balls::<S>(balls, approach, ahead));
    } else {
        let margin = margin.min(sight(bodies, (a, b), ahead));
        S::Shape::contacts((shape_a, &pose_a), (shape_b, &pose_b), margin, out);
    }
}

/// How far apart two bodies may be to have contacts, m.
///
/// Further ahead than its own size a body's contacts have normals that need not be those it will
/// touch with: it would bounce off what it passes. Nor do contacts further ahead of a body that
/// turns than it is thick: a thin rod would be asked to get there by a hundred turns about its own
/// axis. Before it gets that far it is held back ([`crate::dynamics::continuous`]). A half-space's normal is always
/// the same, and scripts are not held back.
fn sight<S: Space>(bodies: &Bodies<S>, (a, b): (usize, usize), ahead: &Lookahead) -> f64 {
    let is_wall = bodies.radius[a].is_infinite() || bodies.radius[b].is_infinite();
    let of = |k: usize| {
        let reach = reach(bodies, k, ahead);
        if is_wall || !bodies.is_dynamic(k) {
            return reach;
        }
        let sweep = ahead.dt * bodies.motion[k].spin.length() * bodies.radius[k];
        let seen = sweep.min(bodies.thickness(k));
        (reach - sweep + seen).min(bodies.radius[k])
    };
    ahead.margin + of(a) + of(b)
}

/// Contact of two moving balls with the normal of the moment they meet.
///
/// The line between centres turns while fast balls approach, and an impulse along the wrong
/// line sends them the wrong way. With relative position p, relative velocity w and R the sum
/// of radii, they meet at the first t with |p + w t| = R; the normal is (p + w t)/R, and the
/// separation along it, n·p − R = −(n·w) t, is what the contact may close in the time t. Balls
/// that pass each other have no contact, however near their paths.
fn swept_balls<S: Space>(
    [a, b]: [(S::Vector, f64); 2],
    w: S::Vector,
    ahead: &Lookahead,
) -> Option<ContactPoint<S>> {
    let near = ball_on_ball::<S>(a, b, ahead.margin);
    let p = b.0 - a.0;
    let sum = a.1 + b.1;
    let along = p.dot(w);
    let speed_squared = w.dot(w);
    let apart = p.dot(p) - sum * sum;
    // Touching already, or not approaching: the line between centres is the normal.
    if apart <= 0.0 || along >= 0.0 {
        return near;
    }
    let discriminant = along * along - speed_squared * apart;
    if discriminant < 0.0 {
        return near;
    }
    let t = apart / (-along + discriminant.sqrt());
    // Balls that meet in the step after this one must not be stopped in this one by a plane
    // across the present line, which the path to their meeting may cross.
    if t > ahead.dt && (near.is_none() || t > 2.0 * ahead.dt) {
        return near;
    }
    let normal = (p + w * t) * (1.0 / sum);
    let separation = normal.dot(p) - sum;
    Some(ContactPoint {
        position: a.0 + normal * (a.1 + 0.5 * separation),
        normal,
        separation,
        feature: FeatureId::default(),
    })
}

/// The previous contacts of a pair.
fn of_pair<S: Space>(previous: &[Contact<S>], (a, b): (usize, usize)) -> &[Contact<S>] {
    let key = (a as u32, b as u32);
    let start = previous.partition_point(|c| (c.a, c.b) < key);
    let count = previous[start..]
        .iter()
        .take_while(|c| (c.a, c.b) == key)
        .count();
    &previous[start..start + count]
}

/// Gives each new contact of a pair the impulse of the old one it continues: the one with the
/// same features, or else the nearest one that nothing continues, within a twentieth of the
/// smaller body's size.
fn inherit<S: Space>(new: &mut [Contact<S>], old: &[Contact<S>], size: f64) {
    if old.is_empty() {
        return;
    }
    let mut taken = vec![false; old.len()];
    let mut orphans = Vec::new();
    for (k, contact) in new.iter_mut().enumerate() {
        let same =
            (0..old.len()).find(|&j| !taken[j] && old[j].point.feature == contact.point.feature);
        match same {
            Some(j) => {
                taken[j] = true;
                contact.impulse = old[j].impulse;
            }
            None => orphans.push(k),
        }
    }
    let within = if size.is_finite() { 0.05 * size } else { 0.0 };
    for k in orphans {
        let mut nearest: Option<(usize, f64)> = None;
        for (j, candidate) in old.iter().enumerate() {
            let distance = (candidate.anchor - new[k].anchor).length();
            if !taken[j] && distance <= within && nearest.is_none_or(|(_, d)| distance < d) {
                nearest = Some((j, distance));
            }
        }
        if let Some((j, _)) = nearest {
            taken[j] = true;
            new[k].impulse = old[j].impulse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::algebra::D2;
    use glamx::DVec2;

    const AHEAD: Lookahead = Lookahead {
        dt: 0.1,
        margin: 0.0,
        acceleration: 0.0,
    };

    #[test]
    fn fast_balls_meet_with_the_normal_of_the_moment_of_impact() {
        // Offset by half the sum of radii: they meet when the line of centres is at 30°.
        let a = (DVec2::ZERO, 0.5);
        let b = (DVec2::new(5.0, 0.5), 0.5);
        let w = DVec2::new(-60.0, 0.0);
        let contact = swept_balls::<D2>([a, b], w, &AHEAD).unwrap();
        let expected = DVec2::new(0.75_f64.sqrt(), 0.5);
        assert!((contact.normal - expected).length() < 1e-12);
        // What it may close along the normal is what it closes until they meet.
        let t = (5.0 - 0.75_f64.sqrt()) / 60.0;
        assert!((contact.separation + contact.normal.dot(w) * t).abs() < 1e-12);
    }

    #[test]
    fn balls_that_pass_have_no_contact() {
        let a = (DVec2::ZERO, 0.5);
        let b = (DVec2::new(5.0, 1.01), 0.5);
        assert!(swept_balls::<D2>([a, b], DVec2::new(-60.0, 0.0), &AHEAD).is_none());
    }
}
