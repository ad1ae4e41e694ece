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

/// What each body touches.
#[derive(Clone, Debug, Default)]
struct Touches {
    /// First touch of each body; one more at the end.
    starts: Vec<u32>,
    list: Vec<Touch>,
}

impl Touches {
    /// `records` are record, body A and body B; only bodies that move are listed.
    fn collect(
        &mut self,
        records: &[(u32, [u32; 2])],
        bodies: usize,
        moves: &impl Fn(usize) -> bool,
    ) {
        self.starts.clear();
        self.starts.resize(bodies + 2, 0);
        for (_, ends) in records {
            for body in ends.map(|k| k as usize).into_iter().filter(|&k| moves(k)) {
                self.starts[body + 2] += 1;
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
        self.list.clear();
        self.list.resize(count, empty);
        for &(record, ends) in records {
            for (k, side) in [(0, -1.0), (1, 1.0)] {
                let body = ends[k] as usize;
                if moves(body) {
                    let place = &mut self.starts[body + 1];
                    self.list[*place as usize] = Touch {
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

    fn of(&self, body: usize) -> &[Touch] {
        match (self.starts.get(body), self.starts.get(body + 1)) {
            (Some(&start), Some(&end)) => &self.list[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// Groups of one colour.
#[derive(Clone, Debug, Default)]
pub(crate) struct Color {
    /// Bodies without joints.
    pub(crate) plain: Vec<BodyGroup>,
    /// Bodies with joints.
    pub(crate) linked: Vec<BodyGroup>,
}

/// Bodies by colour, with their patches and joints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) colors: Vec<Color>,
    /// Patches of groups.
    pub(crate) sides: Vec<Sides>,
    /// Rows of joints of groups.
    pub(crate) links: Vec<Sides>,
    patches_of: Touches,
    links_of: Touches,
}

impl Graph {
    /// Whether a body has any patch or joint.
    pub(crate) fn is_held(&self, body: usize) -> bool {
        !(self.patches_of.of(body).is_empty() && self.links_of.of(body).is_empty())
    }

    /// Builds the graph anew: `patches` and `links` are record, body A and body B; only bodies that
    /// move are coloured.
    pub(crate) fn rebuild(
        &mut self,
        patches: &[(u32, [u32; 2])],
        links: &[(u32, [u32; 2])],
        bodies: usize,
        moves: impl Fn(usize) -> bool,
    ) {
        self.patches_of.collect(patches, bodies, &moves);
        self.links_of.collect(links, bodies, &moves);
        let colors = self.paint(bodies, &moves);
        self.lay_out(&colors);
    }

    /// Record, body on the other side, and 1 where this body is B or −1 where it is A.
    pub(crate) fn patches_of(&self, body: usize) -> impl Iterator<Item = (u32, u32, f64)> {
        self.patches_of
            .of(body)
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
            for touch in self.patches_of.of(body).iter().chain(self.links_of.of(body)) {
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
    fn lay_out(&mut self, colors: &[Vec<u32>]) {
        let (mut sides, mut links) = (Vec::new(), Vec::new());
        let mut laid_out = Vec::with_capacity(colors.len());
        for bodies in colors {
            let mut bodies = bodies.clone();
            bodies.sort_by_key(|&k| {
                let (links, patches) = (self.links_of.of(k as usize), self.patches_of.of(k as usize));
                std::cmp::Reverse((links.len(), patches.len()))
            });
            let first_plain = bodies.partition_point(|&k| !self.links_of.of(k as usize).is_empty());
            let mut groups = |bodies: &[u32]| {
                bodies
                    .chunks(LANES)
                    .map(|eight| self.group(eight, &mut sides, &mut links))
                    .collect()
            };
            laid_out.push(Color {
                linked: groups(&bodies[..first_plain]),
                plain: groups(&bodies[first_plain..]),
            });
        }
        self.colors = laid_out;
        self.sides = sides;
        self.links = links;
    }

    fn group(&self, bodies: &[u32], sides: &mut Vec<Sides>, links: &mut Vec<Sides>) -> BodyGroup {
        let (start, end) = rows_of(bodies, &self.patches_of, sides);
        let (link_start, link_end) = rows_of(bodies, &self.links_of, links);
        let mut places = [0; LANES];
        for (lane, &body) in bodies.iter().enumerate() {
            places[lane] = body + 1;
        }
        BodyGroup {
            bodies: places,
            start,
            end,
            link_start,
            link_end,
        }
    }
}

/// Adds what up to eight bodies touch, one of each a row; first and one past the last row.
fn rows_of(bodies: &[u32], touches: &Touches, all: &mut Vec<Sides>) -> (u32, u32) {
    let start = all.len() as u32;
    let most = bodies
        .iter()
        .map(|&k| touches.of(k as usize).len())
        .max()
        .unwrap_or(0);
    for j in 0..most {
        let mut sides = Sides {
            records: [0; LANES],
            others: [0; LANES],
            side: Column([1.0; LANES]),
        };
        for (lane, &body) in bodies.iter().enumerate() {
            if let Some(touch) = touches.of(body as usize).get(j) {
                sides.records[lane] = touch.record;
                sides.others[lane] = touch.other + 1;
                sides.side.0[lane] = touch.side;
            }
        }
        all.push(sides);
    }
    (start, all.len() as u32)
}
