//! Events of a step: contacts that begin and end, sensors, joints that break.
//!
//! Events come in an order that depends on the world alone: contacts that began, contacts that
//! ended, sensors that noticed, sensors that no longer do, joints that broke; each by the bodies'
//! places.

use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::geometry::shape::Geometry;
use crate::math::algebra::Linear;
use crate::model::body::{Bodies, BodyId};
use crate::model::joint::JointId;
use serde::{Deserialize, Serialize};

/// What touches and carries nothing goes on touching up to this distance, m: else a stone that comes
/// to rest would begin to touch again and again.
const STILL_TOUCHING: f64 = 5e-3;

/// Something that happened in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<S: Space> {
    /// Two bodies touch that did not before.
    ContactBegan {
        /// Body A, which the normal leaves.
        a: BodyId,
        /// Body B.
        b: BodyId,
        /// The world point that carries most, m.
        point: S::Vector,
        /// Impulse of the whole contact on B in this step, N·s.
        impulse: S::Vector,
    },
    /// Two bodies no longer touch, or one of them is no more.
    ContactEnded {
        /// Body A.
        a: BodyId,
        /// Body B.
        b: BodyId,
    },
    /// A body overlaps a sensor.
    SensorEntered {
        /// The sensor.
        sensor: BodyId,
        /// The body.
        body: BodyId,
    },
    /// A body no longer overlaps a sensor, or one of them is no more.
    SensorLeft {
        /// The sensor.
        sensor: BodyId,
        /// The body.
        body: BodyId,
    },
    /// A joint carried more than it can. It is no more.
    JointBroke {
        /// The joint.
        joint: JointId,
        /// Its body A.
        a: BodyId,
        /// Its body B.
        b: BodyId,
    },
}

/// Remembers what touched, to tell what changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TouchRecord {
    touching: Vec<(BodyId, BodyId)>,
    noticed: Vec<(BodyId, BodyId)>,
}

impl TouchRecord {
    /// Events of contacts; contacts come sorted by bodies. What holds attached nodes and joints is
    /// no touch.
    pub(crate) fn contacts<S: Space>(
        &mut self,
        bodies: &Bodies<S>,
        contacts: &[Contact<S>],
        events: &mut Vec<Event<S>>,
    ) {
        let carried = |c: &Contact<S>| c.point.normal.dot(c.impulse);
        let mut now = Vec::with_capacity(self.touching.len());
        let touches = contacts.partition_point(Contact::is_touch);
        for pair in contacts[..touches].chunk_by(|p, q| (p.a, p.b) == (q.a, q.b)) {
            let [a, b] = [pair[0].a, pair[0].b].map(|k| bodies.id(k as usize));
            let is_new = self.touching.binary_search(&(a, b)).is_err();
            let near = if is_new { 0.0 } else { STILL_TOUCHING };
            let touches = |c: &Contact<S>| carried(c) > 0.0 || c.point.separation < near;
            if !pair.iter().any(touches) {
                continue;
            }
            now.push((a, b));
            if is_new {
                let most = pair
                    .iter()
                    .fold(&pair[0], |m, c| if carried(c) > carried(m) { c } else { m });
                let impulse = pair
                    .iter()
                    .fold(S::Vector::default(), |sum, c| sum + c.impulse);
                events.push(Event::ContactBegan {
                    a,
                    b,
                    point: most.point.position,
                    impulse,
                });
            }
        }
        now.sort_unstable();
        for &(a, b) in &self.touching {
            if now.binary_search(&(a, b)).is_err() {
                events.push(Event::ContactEnded { a, b });
            }
        }
        self.touching = now;
    }

    /// Events of sensors.
    pub(crate) fn sensors<S: Space>(&mut self, bodies: &Bodies<S>, events: &mut Vec<Event<S>>) {
        let mut now = Vec::new();
        let is_there = |k: &usize| bodies.is_present(*k);
        for sensor in (0..bodies.len()).filter(is_there) {
            if !bodies.is_sensor[sensor] {
                continue;
            }
            for body in (0..bodies.len()).filter(is_there) {
                if notices(bodies, sensor, body) {
                    now.push((bodies.id(sensor), bodies.id(body)));
                }
            }
        }
        for &(sensor, body) in &now {
            if self.noticed.binary_search(&(sensor, body)).is_err() {
                events.push(Event::SensorEntered { sensor, body });
            }
        }
        for &(sensor, body) in &self.noticed {
            if now.binary_search(&(sensor, body)).is_err() {
                events.push(Event::SensorLeft { sensor, body });
            }
        }
        self.noticed = now;
    }
}

/// Whether a sensor notices a body: one that is not fixed, is no sensor itself, is in its groups
/// and overlaps it.
fn notices<S: Space>(bodies: &Bodies<S>, sensor: usize, body: usize) -> bool {
    let moves = bodies.is_dynamic(body) || bodies.kind[body] != crate::model::body::Kind::Fixed;
    if !moves || bodies.is_sensor[body] || !bodies.groups[sensor].allow(bodies.groups[body]) {
        return false;
    }
    let between = bodies.position[sensor] - bodies.position[body];
    let reach = bodies.radius[sensor] + bodies.radius[body];
    if between.dot(between) > reach * reach {
        return false;
    }
    let (other, pose) = (&bodies.shape[body], bodies.origin(body));
    other.is_solid() && bodies.shape[sensor].overlaps(&bodies.origin(sensor), (other, &pose))
}
