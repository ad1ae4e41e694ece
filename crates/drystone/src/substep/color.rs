//! Which patches may be worked on at once.
//!
//! Patches that share a moving body must be swept one after the other; patches of one **colour**
//! share none, so that eight of them fit side by side in a group and threads may split the groups.
//! A new patch gets the lowest colour that neither of its bodies uses yet; bodies that impulses do
//! not move take part in as many patches of a colour as they like. The result of a sweep depends
//! on the colours alone, not on the places of patches within a colour, and a patch's colour
//! depends on its own island alone: so a far-away body changes not a bit.
//!
//! A body with more than [`COLORS`] patches has the rest in an **overflow** colour, whose groups
//! hold one patch each and are swept one after the other by one thread.

use super::patch::{GroupBodies, Layout, NO_POINT};
use super::simd::{Column, LANES};
use crate::space::{Components, Space};

/// Colours whose patches are swept side by side: one bit each.
pub(crate) const COLORS: usize = 63;
const OVERFLOW: usize = COLORS;

/// Where a patch's numbers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) color: u32,
    pub(crate) index: u32,
}

impl Slot {
    /// Group and lane within the colour.
    pub(crate) fn place(self) -> (usize, usize) {
        if self.color as usize == OVERFLOW {
            (self.index as usize, 0)
        } else {
            (self.index as usize / LANES, self.index as usize % LANES)
        }
    }
}

/// The patches of one colour.
#[derive(Clone, Debug, Default)]
pub(crate) struct Color {
    pub(crate) columns: Vec<Column>,
    pub(crate) groups: Vec<GroupBodies>,
    /// Patch in each slot, without holes.
    owners: Vec<u32>,
}

/// One point of a patch, to be written into columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointNumbers {
    pub(crate) place: [f64; 2],
    pub(crate) separation: f64,
    /// Normal, then tangential.
    pub(crate) impulse: [f64; 3],
}

/// A patch, to be written into columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchNumbers<S: Space> {
    pub(crate) basis: S::Matrix,
    pub(crate) arm_a: S::Vector,
    pub(crate) arm_b: S::Vector,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    pub(crate) points: [PointNumbers; 4],
    pub(crate) count: usize,
}

/// The two bodies of a patch and whether impulses move them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) moves_a: bool,
    pub(crate) moves_b: bool,
}

/// All patches by colour.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coloring {
    pub(crate) colors: Vec<Color>,
    /// Colours that each body's patches use, one bit each.
    used: Vec<u64>,
}

impl Coloring {
    /// Whether a body takes part in any patch or overflow.
    pub(crate) fn is_used(&self, body: usize) -> bool {
        self.used.get(body).is_some_and(|&mask| mask != 0)
    }

    /// Adds a patch; its numbers are still to be written.
    pub(crate) fn insert<S: Space>(&mut self, owner: u32, ends: &Ends) -> Slot {
        let most = ends.a.max(ends.b) as usize + 1;
        if self.used.len() < most {
            self.used.resize(most, 0);
        }
        let mask = |body: u32, moves: bool| if moves { self.used[body as usize] } else { 0 };
        let taken = mask(ends.a, ends.moves_a) | mask(ends.b, ends.moves_b);
        let free = (!taken).trailing_zeros() as usize;
        let color = free.min(OVERFLOW);
        self.mark(color, ends, true);
        if self.colors.len() <= color {
            self.colors.resize_with(color + 1, Color::default);
        }
        let slots = &mut self.colors[color];
        let slot = Slot {
            color: color as u32,
            index: slots.owners.len() as u32,
        };
        slots.owners.push(owner);
        let (group, lane) = slot.place();
        if slots.groups.len() <= group {
            slots.groups.push(GroupBodies::default());
            let filled = slots.columns.len() + Layout::<S>::STRIDE;
            slots.columns.resize(filled, Column::default());
            for p in 0..S::POINTS {
                let at = group * Layout::<S>::STRIDE + Layout::<S>::point(p);
                slots.columns[at + Layout::<S>::SEPARATION] = Column([NO_POINT; LANES]);
            }
        }
        let bodies = &mut slots.groups[group];
        // Place 0 of the body columns belongs to nobody: empty lanes read it.
        bodies.a[lane] = ends.a + 1;
        bodies.b[lane] = ends.b + 1;
        bodies.moves_a |= u8::from(ends.moves_a) << lane;
        bodies.moves_b |= u8::from(ends.moves_b) << lane;
        bodies.dirty = true;
        slot
    }

    /// Removes a patch. The colour's last patch takes its place: its owner and new slot are
    /// returned.
    pub(crate) fn remove<S: Space>(&mut self, slot: Slot, ends: &Ends) -> Option<(u32, Slot)> {
        self.mark(slot.color as usize, ends, false);
        let slots = &mut self.colors[slot.color as usize];
        let last = Slot {
            index: slots.owners.len() as u32 - 1,
            ..slot
        };
        let (to, from) = (slot.place(), last.place());
        let stride = Layout::<S>::STRIDE;
        if slot != last {
            for k in 0..stride {
                let value = slots.columns[from.0 * stride + k].0[from.1];
                slots.columns[to.0 * stride + k].0[to.1] = value;
            }
            let source = slots.groups[from.0];
            let target = &mut slots.groups[to.0];
            target.a[to.1] = source.a[from.1];
            target.b[to.1] = source.b[from.1];
            set_bit(&mut target.moves_a, to.1, source.moves_a >> from.1 & 1 != 0);
            set_bit(&mut target.moves_b, to.1, source.moves_b >> from.1 & 1 != 0);
            target.dirty |= source.dirty;
            target.bouncy |= source.bouncy;
        }
        slots.owners.swap_remove(slot.index as usize);
        if from.1 == 0 {
            slots.groups.pop();
            slots.columns.truncate(from.0 * stride);
        } else {
            clear_lane::<S>(slots, from);
        }
        (slot != last).then(|| (slots.owners[slot.index as usize], slot))
    }

    fn mark(&mut self, color: usize, ends: &Ends, on: bool) {
        // The overflow colour is not marked: many patches of a body may be in it. A body that
        // is there has every other colour, so it counts as used all the same.
        if color == OVERFLOW {
            return;
        }
        for (body, moves) in [(ends.a, ends.moves_a), (ends.b, ends.moves_b)] {
            if moves {
                let mask = &mut self.used[body as usize];
                *mask = *mask & !(1 << color) | u64::from(on) << color;
            }
        }
    }

    /// Writes a patch's numbers.
    pub(crate) fn write<S: Space>(&mut self, slot: Slot, patch: &PatchNumbers<S>) {
        let (group, lane) = slot.place();
        let slots = &mut self.colors[slot.color as usize];
        slots.groups[group].dirty = true;
        let stride = Layout::<S>::STRIDE;
        let columns = &mut slots.columns[group * stride..(group + 1) * stride];
        let mut put = |column: usize, value: f64| columns[column].0[lane] = value as f32;
        let (normal, tangent) = (S::column(&patch.basis, 0), S::column(&patch.basis, 1));
        for axis in 0..S::DIM {
            put(Layout::<S>::NORMAL + axis, normal.component(axis));
            put(Layout::<S>::ARM_A + axis, patch.arm_a.component(axis));
            put(Layout::<S>::ARM_B + axis, patch.arm_b.component(axis));
        }
        for axis in 0..S::TANGENT_COLUMNS {
            put(Layout::<S>::TANGENT + axis, tangent.component(axis));
        }
        put(Layout::<S>::MU, patch.friction);
        put(Layout::<S>::RESTITUTION, patch.restitution);
        for p in 0..S::POINTS {
            let at = Layout::<S>::point(p);
            let point = patch.points[p];
            let is_there = p < patch.count;
            let separation = if is_there { point.separation } else { f64::from(NO_POINT) };
            put(at + Layout::<S>::SEPARATION, separation);
            put(at + Layout::<S>::IMPULSE_N, point.impulse[0]);
            for k in 0..Layout::<S>::TANGENTS {
                put(at + Layout::<S>::PLACE + k, point.place[k]);
                put(at + Layout::<S>::IMPULSE_T + k, point.impulse[1 + k]);
            }
            put(Layout::<S>::BOUNCE + p, -f64::from(NO_POINT));
        }
    }

    /// The impulse of a patch's point in its own axes, N·s in a substep.
    pub(crate) fn impulse<S: Space>(&self, slot: Slot, point: usize) -> [f64; 3] {
        let (group, lane) = slot.place();
        let columns = &self.colors[slot.color as usize].columns[group * Layout::<S>::STRIDE..];
        let at = Layout::<S>::point(point);
        let mut impulse = [0.0; 3];
        impulse[0] = f64::from(columns[at + Layout::<S>::IMPULSE_N].0[lane]);
        for k in 0..Layout::<S>::TANGENTS {
            impulse[1 + k] = f64::from(columns[at + Layout::<S>::IMPULSE_T + k].0[lane]);
        }
        impulse
    }

    /// Says whether a patch may bounce in the coming step.
    pub(crate) fn mark_bouncy(&mut self, slot: Slot) {
        let (group, _) = slot.place();
        self.colors[slot.color as usize].groups[group].bouncy = true;
    }

    /// Takes all such marks away.
    pub(crate) fn clear_bouncy(&mut self) {
        for color in &mut self.colors {
            color.groups.iter_mut().for_each(|group| group.bouncy = false);
        }
    }

    /// Groups in all colours.
    pub(crate) fn groups(&self) -> usize {
        self.colors.iter().map(|color| color.groups.len()).sum()
    }
}

fn set_bit(mask: &mut u8, bit: usize, on: bool) {
    *mask = *mask & !(1 << bit) | u8::from(on) << bit;
}

fn clear_lane<S: Space>(slots: &mut Color, (group, lane): (usize, usize)) {
    let stride = Layout::<S>::STRIDE;
    for column in &mut slots.columns[group * stride..(group + 1) * stride] {
        column.0[lane] = 0.0;
    }
    for p in 0..S::POINTS {
        let at = group * stride + Layout::<S>::point(p) + Layout::<S>::SEPARATION;
        slots.columns[at].0[lane] = NO_POINT;
    }
    let bodies = &mut slots.groups[group];
    bodies.a[lane] = 0;
    bodies.b[lane] = 0;
    set_bit(&mut bodies.moves_a, lane, false);
    set_bit(&mut bodies.moves_b, lane, false);
}
