//! Contacts over a step: what scripted bodies and belts gave through them, and which pushed although
//! what they are between was apart.

use super::Step;
use super::islands::{Islands, acts};
use super::joints::smaller;
use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::math::algebra::Linear;
use serde::{Deserialize, Serialize};

/// A contact that pushed across a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PushApart {
    /// Gap at the start of the step beyond what its bodies could close within it, m.
    pub gap_m: f64,
    /// The same over the size of the smaller body.
    pub gap_of_size: f64,
    /// Force, on average over the step, N.
    pub force_n: f64,
    /// Bodies A and B, by number.
    pub bodies: [u32; 2],
}

/// Gaps that can't be told from rounding, over the size of the smaller body.
const ROUNDING: f64 = 1e-6;

/// Gives islands what scripts gave them through contacts. Returns its sum, J.
pub(super) fn scripted_work<S: Space>(step: &Step<'_, S>, islands: &mut Islands<S>) -> f64 {
    let mut sum = 0.0;
    for contact in step.contacts.iter().filter(|contact| acts(contact)) {
        let work = work_of(step, contact);
        if work == 0.0 {
            continue;
        }
        sum += work;
        let moved = contact
            .bodies()
            .find(|&k| step.bodies.is_dynamic(k as usize));
        if let Some(island) = moved.and_then(|k| islands.of_body(k)) {
            island.energy -= work;
            island.scale += work.abs();
            island.had += work.abs();
        }
    }
    sum
}

/// Work that scripted bodies and belts did through a contact, J: its impulse times the speed that
/// their surface has, whatever is pushed.
fn work_of<S: Space>(step: &Step<'_, S>, contact: &Contact<S>) -> f64 {
    let mut work = 0.0;
    let [a, b] = [contact.a, contact.b].map(|k| k as usize);
    for (k, sign) in [(a, 1.0), (b, -1.0)] {
        if step.bodies.is_dynamic(k) {
            continue;
        }
        let (way, turn) = (step.way(k), step.turn(k));
        if way != S::Vector::default() || turn != S::Spin::default() {
            let middle = step.before.position[k] + way * 0.5;
            let went = way + S::spin_cross(turn, contact.point.position - middle);
            work += sign * contact.impulse.dot(went) / step.dt;
        }
    }
    let [moves_a, moves_b] = [a, b].map(|k| step.bodies.is_dynamic(k));
    match (moves_a, moves_b) {
        // The belt is A: its surface moves against `slide`.
        (false, true) | (true, false) => work - contact.impulse.dot(contact.slide),
        _ => work,
    }
}

/// The contact that pushed across the largest gap, over the size of the smaller body.
pub(super) fn pushes_apart<S: Space>(step: &Step<'_, S>) -> Option<PushApart> {
    let mut worst: Option<PushApart> = None;
    let fall = step.gravity.length() * step.dt * step.dt;
    for contact in step.contacts.iter().filter(|contact| contact.is_touch()) {
        let gap = contact.point.separation - fall;
        let normal = contact.point.normal;
        let push = contact.impulse.dot(normal);
        if gap <= 0.0 || push <= 0.0 {
            continue;
        }
        let ends = [contact.a, contact.b].map(|k| k as usize);
        let size = smaller(step.bodies, ends);
        let apart = gap - closing(step, contact, ends) - ROUNDING * size;
        let gap_of_size = apart / size;
        if apart > 0.0 && worst.is_none_or(|worst| gap_of_size > worst.gap_of_size) {
            worst = Some(PushApart {
                gap_m: apart,
                gap_of_size,
                force_n: push / step.dt,
                bodies: [contact.a, contact.b],
            });
        }
    }
    worst
}

/// How far two bodies could come nearer in the step by the motion they had before it, m.
fn closing<S: Space>(step: &Step<'_, S>, contact: &Contact<S>, ends: [usize; 2]) -> f64 {
    let speed = |k: usize| {
        let motion = &step.before.motion[k];
        let arm = contact.point.position - step.before.position[k];
        let turning = motion.spin.length() * arm.length();
        (motion.linear, if turning > 0.0 { turning } else { 0.0 })
    };
    let [(a, turning_a), (b, turning_b)] = ends.map(speed);
    ((b - a).length() + turning_a + turning_b) * step.dt
}
