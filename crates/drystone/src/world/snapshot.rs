//! Snapshots: the whole world as bytes, and back.
//!
//! A snapshot holds everything that the next step depends on: bodies, joints, deformables, materials, settings,
//! contacts with their impulses, what the real-time strategy has learnt, what sleeps, what touches.
//! A world that goes on from a snapshot goes on bit by bit as the one it was taken from. Shapes are
//! not in it: they never change, so a snapshot names them by their prints, and the world that is
//! restored must have had bodies of these shapes. [Hooks](crate::Hooks) are code and stay as they
//! are, and so do threads and instructions, on which no result depends: the same state is the same
//! bytes on every machine.
//!
//! The bytes are `DRYSNAP`, a version, a checksum of the rest (8 bytes, little-endian) and the
//! state in [postcard](https://postcard.jamesmunns.com)'s format.

use super::World;
use crate::contact::detection::Contact;
use crate::geometry::Space;
use crate::math::simd::Instructions;
use crate::model::body::Bodies;
use crate::model::changes::Changes;
use crate::model::deformable::Deformables;
use crate::model::joint::Joints;
use crate::model::material::Materials;
use crate::strategy::Running;
use crate::strategy::settings::Settings;
use crate::world::events::TouchRecord;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use thiserror::Error;

const MAGIC: &[u8; 7] = b"DRYSNAP";
const VERSION: u8 = 7;
const HEAD: usize = MAGIC.len() + 1 + 8;

/// Why bytes are no snapshot of this world.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Something else.
    #[error("these bytes are no snapshot of a world")]
    NotASnapshot,
    /// Of another version.
    #[error("this snapshot has version {0}; this program reads version {VERSION}")]
    Version(u8),
    /// Cut or changed.
    #[error("this snapshot is damaged: {0}")]
    Damaged(String),
    /// A shape that this world never had.
    #[error(
        "the snapshot's body `{0}` has a shape that this world never had; build the world as it \
         was built when the snapshot was taken"
    )]
    Shape(String),
}

/// Everything that the next step depends on.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct State<'a, S: Space> {
    dimension: u8,
    settings: Settings<S>,
    materials: Cow<'a, Materials>,
    bodies: Cow<'a, Bodies<S>>,
    joints: Cow<'a, Joints<S>>,
    deformables: Cow<'a, Deformables>,
    contacts: Cow<'a, [Contact<S>]>,
    solved: Cow<'a, [Contact<S>]>,
    /// What the strategy keeps, in its own words.
    strategy: Cow<'a, [u8]>,
    watch: Cow<'a, TouchRecord>,
    changes: Cow<'a, Changes>,
    step: u64,
    time: f64,
    even_since: (u64, f64, f64),
}

impl<S: Space> World<S> {
    /// Does [`World::snapshot`].
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let state = State {
            dimension: S::DIM as u8,
            settings: on_machine(self.settings, 1, Instructions::Portable),
            materials: Cow::Borrowed(&self.materials),
            bodies: Cow::Borrowed(&self.bodies),
            joints: Cow::Borrowed(&self.joints),
            deformables: Cow::Borrowed(&self.deformables),
            contacts: Cow::Borrowed(&self.contacts.present),
            solved: Cow::Borrowed(&self.contacts.solved),
            strategy: Cow::Owned(self.strategy_state()),
            watch: Cow::Borrowed(&self.watch),
            changes: Cow::Borrowed(&self.changes),
            step: self.step,
            time: self.time,
            even_since: self.even_since,
        };
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        bytes.extend([0; 8]);
        // Writing plain data to memory cannot fail.
        let mut bytes = postcard::to_extend(&state, bytes).unwrap_or_default();
        if bytes.len() >= HEAD {
            let sum = checksum(&bytes[HEAD..]).to_le_bytes();
            bytes[HEAD - 8..HEAD].copy_from_slice(&sum);
        }
        bytes
    }

    /// What the strategy keeps; nothing if the settings ask for another since the last step.
    fn strategy_state(&self) -> Vec<u8> {
        let stepper = self.running.stepper_of(&self.settings.strategy);
        stepper.map(|stepper| stepper.save()).unwrap_or_default()
    }

    /// Does [`World::restore`].
    pub(super) fn go_back(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state = read::<S>(bytes)?;
        let mut bodies = state.bodies.into_owned();
        let joints = state.joints.into_owned();
        let count = bodies.len();
        let fits = bodies.is_consistent()
            && joints.is_consistent(count)
            && state.deformables.is_consistent(count)
            && state.changes.is_consistent(count)
            && [&state.contacts, &state.solved].into_iter().all(|list| {
                list.iter()
                    .flat_map(Contact::bodies)
                    .all(|k| k < count as u32)
            });
        if !fits {
            return Err(contradiction());
        }
        bodies.shape.reserve(count);
        for k in 0..count {
            let shape = self.shapes.get(&bodies.print[k]);
            let shape = shape.ok_or_else(|| SnapshotError::Shape(bodies.name(k).to_owned()))?;
            bodies.shape.push(shape.clone());
        }
        let own = self.settings.strategy.instructions().copied();
        let instructions = own.unwrap_or_else(Instructions::best);
        let settings = on_machine(state.settings, self.settings.threads, instructions);
        let mut running = Running::default();
        // Nothing is kept before the first step.
        if !state.strategy.is_empty() {
            let stepper = running.go_on(&settings.strategy);
            if !stepper.restore(&state.strategy, &bodies, &joints) {
                return Err(contradiction());
            }
        }
        self.names = (0..count)
            .filter(|&k| bodies.is_present(k))
            .map(|k| (bodies.name(k).to_owned(), bodies.id(k)))
            .collect();
        (self.settings, self.running) = (settings, running);
        self.materials = state.materials.into_owned();
        self.bodies = bodies;
        self.joints = joints;
        self.deformables = state.deformables.into_owned();
        self.contacts.present = state.contacts.into_owned();
        self.contacts.solved = state.solved.into_owned();
        self.watch = state.watch.into_owned();
        self.changes = state.changes.into_owned();
        self.events.clear();
        self.last = None;
        (self.step, self.time, self.even_since) = (state.step, state.time, state.even_since);
        Ok(())
    }
}

fn contradiction() -> SnapshotError {
    SnapshotError::Damaged("its numbers contradict".to_owned())
}

/// Settings with other threads and instructions.
fn on_machine<S: Space>(
    settings: Settings<S>,
    threads: u32,
    instructions: Instructions,
) -> Settings<S> {
    let mut settings = Settings {
        threads,
        ..settings
    };
    if let Some(own) = settings.strategy.instructions() {
        *own = instructions;
    }
    settings
}

fn read<S: Space>(bytes: &[u8]) -> Result<State<'static, S>, SnapshotError> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or(SnapshotError::NotASnapshot)?;
    match rest.first() {
        Some(&VERSION) => {}
        Some(&other) => return Err(SnapshotError::Version(other)),
        None => return Err(SnapshotError::NotASnapshot),
    }
    let damaged = |what: &str| SnapshotError::Damaged(what.to_owned());
    let sum = bytes
        .get(HEAD - 8..HEAD)
        .ok_or_else(|| damaged("it is cut short"))?;
    if sum != checksum(&bytes[HEAD..]).to_le_bytes() {
        return Err(damaged("its checksum does not fit"));
    }
    let state: State<'static, S> = postcard::from_bytes(&bytes[HEAD..])
        .map_err(|error| SnapshotError::Damaged(error.to_string()))?;
    if usize::from(state.dimension) != S::DIM {
        return Err(damaged("it is of a world of another dimension"));
    }
    Ok(state)
}

/// Mixes eight bytes at a time: any flipped bit changes the sum, and it costs next to nothing.
fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(ODD);
    let mut words = bytes.chunks_exact(8);
    let mut sum = bytes.len() as u64;
    for word in &mut words {
        let mut eight = [0; 8];
        eight.copy_from_slice(word);
        sum = mix(sum, u64::from_le_bytes(eight));
    }
    let rest = words.remainder().iter();
    rest.fold(sum, |sum, &byte| mix(sum, byte.into()))
}
