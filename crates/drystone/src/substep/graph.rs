//! Which bodies may be moved at once.
//!
//! Bodies that touch must be moved one after the other; bodies of one **colour** do not touch, so
//! that eight of them are moved side by side and threads may split the rest. Each body gets the
//! lowest colour that none of the bodies it touches has, in the order of the bodies: colours
//! depend on who touches whom and on nothing else, and a far-away body changes none.

use super::patch::{BodyGroup, Sides};
use super::simd::{Column, LANES};

/// A patch seen from one of its bodies.
#[derive(Clone, Copy, Debug)]
struct Touch {
    record: u32,
    other: u32,
    side: f32,
}

/// Bodies by colour, with their patches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Groups of each colour.
    pub(crate) colors: Vec<Vec<BodyGroup>>,
    pub(crate) sides: Vec<Sides>,
    /// Bodies that joints tie and that touch something. They have no colour: their linkages move
    /// them.
    pub(crate) tied: Vec<BodyGroup>,
    /// First touch of each body; one more at the end.
    starts: Vec<u32>,
    touches: Vec<Touch>,
}

impl Graph {
    /// Whether a body has any patch.
    pub(crate) fn is_held(&self, body: usize) -> bool {
        self.starts.len() > body + 1 && self.starts[body] < self.starts[body + 1]
    }

    /// Builds the graph anew: `patches` are record, body A and body B; only bodies that move are
    /// coloured, and of these only the ones that no joint ties.
    pub(crate) fn rebuild(
        &mut self,
        patches: &[(u32, [u32; 2])],
        bodies: usize,
        moves: impl Fn(usize) -> bool,
        is_tied: impl Fn(usize) -> bool,
    ) {
        self.collect(patches, bodies, &moves);
        let colors = self.paint(bodies, &|k| moves(k) && !is_tied(k));
        self.lay_out(&colors, &is_tied);
        let tied: Vec<u32> = (0..bodies as u32)
            .filter(|&k| moves(k as usize) && is_tied(k as usize) && self.is_held(k as usize))
            .collect();
        let mut sides = std::mem::take(&mut self.sides);
        self.tied = tied
            .chunks(LANES)
            .map(|eight| self.group(eight, &mut sides, &is_tied))
            .collect();
        self.sides = sides;
    }

    fn collect(
        &mut self,
        patches: &[(u32, [u32; 2])],
        bodies: usize,
        moves: &impl Fn(usize) -> bool,
    ) {
        self.starts.clear();
        self.starts.resize(bodies + 2, 0);
        let both = |ends: &[u32; 2]| ends.map(|k| (k, moves(k as usize)));
        for (_, ends) in patches {
            for (body, _) in both(ends).into_iter().filter(|(_, moves)| *moves) {
                self.starts[body as usize + 2] += 1;
            }
        }
        for k in 2..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        let empty = Touch {
            record: 0,
            other: 0,
            side: 0.0,
        };
        let count = self.starts.last().copied().unwrap_or(0) as usize;
        self.touches.clear();
        self.touches.resize(count, empty);
        for &(record, ends) in patches {
            for (k, side) in [(0, -1.0), (1, 1.0)] {
                let body = ends[k] as usize;
                if moves(body) {
                    let place = &mut self.starts[body + 1];
                    self.touches[*place as usize] = Touch {
                        record,
                        other: ends[1 - k],
                        side,
                    };
                    *place += 1;
                }
            }
        }
        self.starts.pop();
    }

    fn touches(&self, body: usize) -> &[Touch] {
        if !self.is_held(body) {
            return &[];
        }
        &self.touches[self.starts[body] as usize..self.starts[body + 1] as usize]
    }

    /// Record, body on the other side, and 1 where this body is B or −1 where it is A.
    pub(crate) fn patches_of(&self, body: usize) -> impl Iterator<Item = (u32, u32, f64)> {
        self.touches(body)
            .iter()
            .map(|touch| (touch.record, touch.other, f64::from(touch.side)))
    }

    /// Bodies of each colour.
    fn paint(&self, bodies: usize, moves: &impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
        const NONE: u32 = u32::MAX;
        let mut color = vec![NONE; bodies];
        let mut colors: Vec<Vec<u32>> = Vec::new();
        let mut taken: Vec<bool> = Vec::new();
        for body in (0..bodies).filter(|&k| moves(k) && self.is_held(k)) {
            taken.clear();
            taken.resize(colors.len() + 1, false);
            for touch in self.touches(body) {
                if let Some(slot) = taken.get_mut(color[touch.other as usize] as usize) {
                    *slot = true;
                }
            }
            let free = taken.iter().position(|taken| !taken).unwrap_or(0);
            color[body] = free as u32;
            if free == colors.len() {
                colors.push(Vec::new());
            }
            colors[free].push(body as u32);
        }
        colors
    }

    /// Eight bodies to a group; those with many patches together, so that lanes stay busy.
    fn lay_out(&mut self, colors: &[Vec<u32>], is_tied: &impl Fn(usize) -> bool) {
        self.colors.clear();
        let mut all = Vec::new();
        for bodies in colors {
            let mut bodies = bodies.clone();
            bodies.sort_by_key(|&k| std::cmp::Reverse(self.touches(k as usize).len()));
            let mut groups = Vec::with_capacity(bodies.len().div_ceil(LANES));
            for eight in bodies.chunks(LANES) {
                groups.push(self.group(eight, &mut all, is_tied));
            }
            self.colors.push(groups);
        }
        self.sides = all;
    }

    fn group(
        &self,
        bodies: &[u32],
        all: &mut Vec<Sides>,
        is_tied: &impl Fn(usize) -> bool,
    ) -> BodyGroup {
        let start = all.len() as u32;
        let most = bodies
            .iter()
            .map(|&k| self.touches(k as usize).len())
            .max()
            .unwrap_or(0);
        for j in 0..most {
            let mut sides = Sides {
                records: [0; LANES],
                others: [0; LANES],
                side: Column([1.0; LANES]),
                weight: Column([1.0; LANES]),
            };
            for (lane, &body) in bodies.iter().enumerate() {
                if let Some(touch) = self.touches(body as usize).get(j) {
                    sides.records[lane] = touch.record;
                    sides.others[lane] = touch.other + 1;
                    sides.side.0[lane] = touch.side;
                    if is_tied(body as usize) && is_tied(touch.other as usize) {
                        sides.weight.0[lane] = 2.0;
                    }
                }
            }
            all.push(sides);
        }
        let mut places = [0; LANES];
        for (lane, &body) in bodies.iter().enumerate() {
            places[lane] = body + 1;
        }
        BodyGroup {
            bodies: places,
            start,
            end: all.len() as u32,
        }
    }
}
