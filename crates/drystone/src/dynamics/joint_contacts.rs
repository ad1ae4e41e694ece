//! Joints as contacts: how the strategy `velocity` holds them.
//!
//! Each bound of a coordinate is a frictionless contact, so that one solve has joints, contacts
//! and deformables, any solver serves and the certificate judges them all. A coordinate c with
//! min ≤ c ≤ max has two, one against the other, with the separations
//!
//! $$ d_+ = c - \min, \qquad d_- = \max - c ; $$
//!
//! a locked one has min = max = 0. (A distance has no lower bound at 0: it is never less.)
//!
//! # Where they act
//!
//! A distance along n acts on both bodies at the origin of B's frame: there the relative velocity
//! along n is the rate of c as seen from A, axes that turn with A included, and equal and opposite
//! impulses at one point keep angular momentum. The offset of a rod's or rope's two points lies
//! along n and does not matter.
//!
//! An angle α about the unit vector û acts at the end of a **lever** of length L: at $o + L e$ along
//! w, with $e \perp û$ and $w = û \times e$, the relative velocity along w is
//!
//! $$ u = u_o\cdot w + L\,(\omega_b - \omega_a)\cdot û , $$
//!
//! $u_o$ being that of the origins. w lies among the directions that the joint locks, so that
//! $u_o\cdot w$ is known and the row means the angle. Its separation is $L\alpha + w\cdot g$, g
//! being the gap of the origins, in m: by how much the end of the lever is off. A joint that holds
//! an angle and locks no such direction is refused ([`unheld_angle`]).
//!
//! L is the radius of the smaller body that moves. Then separations and speeds are those of the
//! body's own surface, which the solver's tolerance in m/s is meant for; and the lever is longer
//! than the radius of gyration, so the row resists turns more than it resists shifts, which the
//! joint's other rows are there for: sweeps over the two converge.
//!
//! # Drift
//!
//! Bodies go straight and joints hold them on curves: at a spin ω a pendulum of length r leaves its
//! circle by $q = \tfrac12(\omega h)^2 r$ a step. Contacts leave an overlap as it is and repair
//! it slowly, which is right for stones and not for joints: they would hang by millimetres. So the
//! bend
//!
//! $$ q = c(x \oplus h v) - c(x) - h\,J v $$
//!
//! of the coming step is worked out ahead, from the velocities v at its start, and is part of the
//! target: $u \ge -(\max(d, 0) + q)/h$. The step then ends where the curve is, and follows its
//! chord: what swings is not damped (a pendulum's tangential speed is kept to fourth order in ωh;
//! stopping it along the tangent would take $\tfrac12(\omega h)^2$ of it a step). It is no repair
//! speed: at rest q is 0, so joints that are in each other's way, two hinges of one door, never
//! work up a load against each other.
//!
//! What is left, of higher order or because a solver stopped early, is undone in the same step by
//! [`crate::dynamics::overlap_repair`], which moves poses and leaves velocities alone.

use crate::contact::detection::{Contact, JOINED};
use crate::dynamics::integrate::turned;
use crate::geometry::Space;
use crate::geometry::shape::{ContactPoint, FeatureId, Pose};
use crate::math::algebra::vector;
use crate::math::algebra::{Components, Linear};
use crate::model::body::{Bodies, Kind};
use crate::model::joint::rows::{Coordinate, Gauge, Poses, Role, Row, rows_of};
use crate::model::joint::store::{Held, Joints, Reaction};
use crate::model::joint::{Axis, Freedom, JointKind};
use crate::model::material::Surface;
use glamx::DVec3;

/// Cosine below which two directions count as square to each other: axes of one frame are, up to
/// rounding and to how far the joint's angles are off.
const SQUARE: f64 = 1e-3;
/// Turn of a step up to which its bend is foreseen whole, rad. It grows as the turn's square; what
/// whirls faster, at the tip of a whip, has another velocity by the end of the step.
const FORESEEN: f64 = 0.25;
/// Cosine below which a direction is far enough from another to make a third. One of three axes
/// always is: their cosines' squares sum to 1.
const ACROSS: f64 = 0.8;

/// The contacts of all joints, with the impulses of the last step's.
pub(crate) fn contacts<S: Space>(
    joints: &Joints<S>,
    bodies: &Bodies<S>,
    dt: f64,
    previous: &[Contact<S>],
) -> Vec<Contact<S>> {
    let mut contacts = Vec::new();
    for (place, joint) in joints.iter() {
        let generation = joints.id(place).generation;
        let held = Holding::new(joint, bodies, dt);
        held.for_each_contact(|k, contact| {
            let feature = FeatureId {
                part_a: JOINED,
                part_b: place,
                feature_a: k,
                feature_b: generation,
            };
            let point = ContactPoint {
                feature,
                ..contact.point
            };
            contacts.push(Contact { point, ..contact });
        });
    }
    // Both lists are in the order of places, and of rows within a joint.
    let name = |c: &Contact<S>| {
        let FeatureId {
            part_b, feature_a, ..
        } = c.point.feature;
        (part_b, feature_a)
    };
    let mut old = previous.iter().peekable();
    for contact in &mut contacts {
        while old.next_if(|c| name(c) < name(contact)).is_some() {}
        let is_same = |c: &&Contact<S>| {
            (c.a, c.b, c.point.feature) == (contact.a, contact.b, contact.point.feature)
        };
        if let Some(same) = old.next_if(is_same) {
            contact.impulse = same.impulse;
        }
    }
    contacts
}

/// What a joint's contacts gave B in a step of `dt` seconds, of a list that may have others too.
pub(crate) fn reaction<S: Space>(
    contacts: &[Contact<S>],
    (place, generation): (u32, u32),
    dt: f64,
) -> Reaction<S> {
    let joints = contacts.partition_point(|c| !c.is_of_joint());
    let of_joints = &contacts[joints..];
    let start = of_joints.partition_point(|c| c.point.feature.part_b < place);
    let mut sum = Reaction::default();
    for c in &of_joints[start..] {
        let feature = c.point.feature;
        if feature.part_b != place || feature.feature_b != generation {
            break;
        }
        sum.force += c.impulse * (1.0 / dt);
        sum.torque += S::cross(c.anchor, c.impulse) * (1.0 / dt);
    }
    sum
}

/// Whether a joint of this kind holds an angle, but locks no distance across its lever.
pub(crate) fn unheld_angle<S: Space>(kind: &JointKind) -> bool {
    let JointKind::Axes { linear, angular } = kind else {
        return false;
    };
    let is_locked = |axis: &Axis| axis.freedom == Freedom::Locked;
    let locked: Vec<usize> = (0..S::DIM).filter(|&k| is_locked(&linear[k])).collect();
    let held = (0..S::SPIN_DIM).filter(|&k| angular[k].freedom != Freedom::Free);
    let turns = angular.iter().filter(|axis| !is_locked(axis)).count();
    held.into_iter().any(|k| match locked[..] {
        [] => true,
        // Angles are about the axes of A's frame only where one of them is free.
        [one] if S::DIM == 3 => one == k || turns != 1,
        _ => false,
    })
}

/// A joint where bodies are now, and where they would be a step later.
struct Holding<'a, S: Space> {
    joint: &'a Held<S>,
    bodies: &'a Bodies<S>,
    dt: f64,
    roles: Vec<(Coordinate, Role)>,
    /// All coordinates: distances, then angles; or the one distance.
    now: Vec<Row<S>>,
    /// Their values a step later.
    later: Vec<f64>,
    /// Origin of B's frame, m.
    origin: S::Vector,
    /// Axes of A's frame along which distances are locked.
    locked: Vec<DVec3>,
    /// m.
    lever: f64,
}

/// One coordinate as a contact holds it.
struct Hold<S: Space> {
    /// From the origin of B's frame to where it acts, m.
    arm: S::Vector,
    normal: S::Vector,
    /// c now and a step later, m.
    value: f64,
    later: f64,
    /// m for one unit of the joint's own coordinate.
    scale: f64,
}

impl<'a, S: Space> Holding<'a, S> {
    fn new(joint: &'a Held<S>, bodies: &'a Bodies<S>, dt: f64) -> Self {
        let gauge = joint.gauge();
        let ends = [joint.a as usize, joint.b as usize];
        let now = ends.map(|k| Pose {
            position: bodies.position[k],
            rotation: bodies.rotation[k],
        });
        let then = ends.map(|k| ahead(bodies, k, dt));
        let all = all_of::<S>(&joint.kind);
        let rows = measure(&gauge, &all, &now);
        let later = measure(&gauge, &all, &then)
            .iter()
            .map(|r| r.value)
            .collect();
        let axes = S::compose(now[0].rotation, joint.frame_a.rotation);
        let is_locked = |k: &usize| match &joint.kind {
            JointKind::Axes { linear, .. } => linear[*k].freedom == Freedom::Locked,
            JointKind::Distance(_) | JointKind::Gear { .. } => false,
        };
        let axis = |k: usize| {
            let unit = S::Vector::default().with_component(k, 1.0);
            DVec3::from_array(S::rotate(axes, unit).to_array3())
        };
        Self {
            origin: now[1].point(joint.frame_b.position),
            roles: rows_of::<S>(&joint.kind),
            now: rows,
            later,
            locked: (0..S::DIM).filter(is_locked).map(axis).collect(),
            lever: lever(bodies, ends),
            joint,
            bodies,
            dt,
        }
    }

    /// Calls `f` with every contact and its number, rising.
    fn for_each_contact(&self, mut f: impl FnMut(u32, Contact<S>)) {
        for (index, &(coordinate, role)) in self.roles.iter().enumerate() {
            let (min, max) = match role {
                Role::Lock => (0.0, 0.0),
                Role::Limit(min, max) => (min, max),
                Role::Motor(..) | Role::Spring(_) => continue,
            };
            let Some(hold) = self.hold(coordinate) else {
                continue;
            };
            let (min, max) = (min * hold.scale, max * hold.scale);
            let bend = self.bend(&hold);
            let number = 2 * index as u32;
            // A distance is never less than 0, and near 0 its direction means nothing.
            if coordinate != Coordinate::Distance || min > 0.0 {
                f(
                    number,
                    self.contact(&hold, hold.normal, hold.value - min, bend),
                );
            }
            f(
                number + 1,
                self.contact(&hold, -hold.normal, max - hold.value, -bend),
            );
        }
    }

    fn hold(&self, coordinate: Coordinate) -> Option<Hold<S>> {
        match coordinate {
            Coordinate::Linear(k) => Some(self.straight(k as usize)),
            Coordinate::Distance => Some(self.straight(0)),
            Coordinate::Angular(k) => self.at_lever(k as usize),
            Coordinate::Gear => None,
        }
    }

    /// A distance.
    fn straight(&self, k: usize) -> Hold<S> {
        Hold {
            arm: S::Vector::default(),
            normal: self.now[k].n,
            value: self.now[k].value,
            later: self.later[k],
            scale: 1.0,
        }
    }

    /// An angle; `None` where no lever is there for it.
    fn at_lever(&self, k: usize) -> Option<Hold<S>> {
        let row = &self.now[S::DIM + k];
        let rate = row.j_b.length();
        if rate <= 0.0 {
            return None;
        }
        let about = row.j_b * (1.0 / rate);
        let across = across(DVec3::from_array(about.to_array3()), &self.locked)?;
        let normal = vector::<S>(across);
        // The angle changes by `rate` for a turn about the unit vector.
        let scale = self.lever / rate;
        let gap = |values: &dyn Fn(usize) -> f64| -> f64 {
            (0..S::DIM)
                .map(|i| normal.dot(self.now[i].n) * values(i))
                .sum()
        };
        let angle = row.value;
        let mut turned = self.later[S::DIM + k] - angle;
        // Where an angle jumps by a whole turn, nothing is known of its bend.
        if turned.abs() > std::f64::consts::PI {
            turned = self.dt * self.spin().dot(row.j_b);
        }
        Some(Hold {
            arm: -S::spin_cross(about, normal) * self.lever,
            normal,
            value: scale * angle + gap(&|i| self.now[i].value),
            later: scale * (angle + turned) + gap(&|i| self.later[i]),
            scale,
        })
    }

    /// Spin of B relative to A, rad/s.
    fn spin(&self) -> S::Spin {
        let motion = &self.bodies.motion;
        motion[self.joint.b as usize].spin - motion[self.joint.a as usize].spin
    }

    /// q, m: see the [module documentation](self).
    fn bend(&self, hold: &Hold<S>) -> f64 {
        let at = self.origin + hold.arm;
        let velocity = |k: u32| {
            let (k, motion) = (k as usize, &self.bodies.motion[k as usize]);
            motion.linear + S::spin_cross(motion.spin, at - self.bodies.position[k])
        };
        let rate = hold
            .normal
            .dot(velocity(self.joint.b) - velocity(self.joint.a));
        let bend = hold.later - hold.value - self.dt * rate;
        let turn = |k: u32| self.dt * self.bodies.motion[k as usize].spin.length();
        let turn = turn(self.joint.a).max(turn(self.joint.b));
        let part = if turn > FORESEEN {
            FORESEEN / turn
        } else {
            1.0
        };
        bend * part * part
    }

    fn contact(&self, hold: &Hold<S>, normal: S::Vector, separation: f64, bend: f64) -> Contact<S> {
        Contact {
            a: self.joint.a,
            b: self.joint.b,
            point: ContactPoint {
                position: self.origin + hold.arm,
                normal,
                separation,
                feature: FeatureId::default(),
            },
            surface: Surface {
                friction: 0.0,
                restitution: 0.0,
            },
            slide: S::Vector::default(),
            impulse: S::Vector::default(),
            anchor: hold.arm,
            bend,
            nodes: [None; 2],
        }
    }
}

/// All coordinates that a kind of joint has, whatever it allows along them.
fn all_of<S: Space>(kind: &JointKind) -> Vec<(Coordinate, Role)> {
    let linear = (0..S::DIM as u8).map(Coordinate::Linear);
    let angular = (0..S::SPIN_DIM as u8).map(Coordinate::Angular);
    match kind {
        JointKind::Axes { .. } => linear.chain(angular).map(|c| (c, Role::Lock)).collect(),
        JointKind::Distance(_) => vec![(Coordinate::Distance, Role::Lock)],
        JointKind::Gear { .. } => Vec::new(),
    }
}

fn measure<S: Space>(
    gauge: &Gauge<S>,
    all: &[(Coordinate, Role)],
    [a, b]: &[Pose<S>; 2],
) -> Vec<Row<S>> {
    let poses = Poses {
        end: [a, b],
        within: [a, b],
    };
    let mut rows = Vec::with_capacity(all.len());
    gauge.for_each_row(all, &poses, |_, row| rows.push(row));
    rows
}

/// Where the centre of a body is a step later if its velocity stays.
fn ahead<S: Space>(bodies: &Bodies<S>, k: usize, dt: f64) -> Pose<S> {
    let motion = &bodies.motion[k];
    let rotation = match bodies.kind[k] {
        Kind::Rigid => turned(bodies, k, motion.spin, dt).0,
        Kind::Kinematic(_) => S::turn(bodies.rotation[k], motion.spin * dt),
        Kind::Fixed | Kind::Particle => bodies.rotation[k],
    };
    Pose {
        position: bodies.position[k] + motion.linear * dt,
        rotation,
    }
}

/// L, m: the radius of the smaller body that moves and has one.
fn lever<S: Space>(bodies: &Bodies<S>, ends: [usize; 2]) -> f64 {
    let sizes = ends
        .into_iter()
        .filter(|&k| bodies.is_dynamic(k))
        .map(|k| bodies.radius[k])
        .filter(|radius| *radius > 0.0 && radius.is_finite());
    sizes.reduce(f64::min).unwrap_or(1.0)
}

/// A unit vector square to `about` in the span of `locked`, which are square to each other.
fn across(about: DVec3, locked: &[DVec3]) -> Option<DVec3> {
    let square = |v: DVec3| (v - about * about.dot(v)).try_normalize();
    match *locked {
        [] => None,
        [one] => square(one).filter(|_| about.dot(one).abs() < SQUARE),
        [one, two] => {
            let (x, y) = (about.dot(one), about.dot(two));
            if (x * x + y * y).sqrt() < SQUARE {
                square(one)
            } else {
                (two * x - one * y).try_normalize()
            }
        }
        _ => {
            // The first that is not along it, so that it is the same one from step to step.
            let is_across = |axis: &&DVec3| about.dot(**axis).abs() < ACROSS;
            locked.iter().find(is_across).and_then(|axis| square(*axis))
        }
    }
}
