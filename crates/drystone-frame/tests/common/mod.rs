//! A toy simulation: bodies that fly and turn, contacts that come and go, all from one number.

// Each test file uses its own part of this.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use drystone_frame::recording::{
    FrameCertificate, Header, Record, Recovered, Storage, WriteError, Writer,
};
use drystone_frame::{
    Form, Frame, FrameContact, FrameJoint, JointEnd, JointForm, NO_ISLAND, Object, Part, Stage,
    StageJoint,
};

/// What is stepped: the whole state in a few numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Toy {
    step: u64,
    chance: u64,
    bodies: Vec<[f64; 6]>,
}

pub(crate) const BODIES: usize = 5;

impl Toy {
    pub(crate) fn new() -> Self {
        let bodies = (0..BODIES).map(|k| [k as f64, 1e3, -0.5, 0.1 * k as f64, 0.0, -1.0]);
        Self {
            step: 0,
            chance: 7,
            bodies: bodies.collect(),
        }
    }

    fn random(&mut self) -> f64 {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.chance >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
    }

    pub(crate) fn step(&mut self) {
        for k in 0..self.bodies.len() {
            for axis in 0..3 {
                // Body 0 is at rest, as most of a scene often is.
                if k > 0 {
                    self.bodies[k][3 + axis] += 0.01 * self.random();
                    self.bodies[k][axis] += 0.01 * self.bodies[k][3 + axis];
                }
            }
        }
        self.step += 1;
    }

    pub(crate) fn frame(&self) -> Frame {
        let contact = |k: u64| FrameContact {
            object_a: (k / 2) as u32,
            object_b: (k / 2) as u32 + 1,
            position: [k as f64, 1e3, 0.25 * self.step as f64],
            normal: [0.0, 1.0, 0.0],
            impulse: [0.0, 1.0 / (k + 3) as f64, 0.0],
            separation: -1e-6 * self.step as f64,
        };
        Frame {
            time: 0.01 * self.step as f64,
            step: self.step,
            positions: self.bodies.iter().map(|b| [b[0], b[1], b[2]]).collect(),
            rotations: self.bodies.iter().map(|b| [b[3], 0.0, 0.0, 1.0]).collect(),
            velocities: self.bodies.iter().map(|b| [b[3], b[4], b[5]]).collect(),
            spins: vec![[0.0, 0.5, 0.0]; self.bodies.len()],
            contacts: (0..self.step % 5).map(contact).collect(),
            islands: (0..BODIES as u32)
                .map(|k| {
                    if k == 0 {
                        NO_ISLAND
                    } else {
                        k.min(1 + self.step as u32)
                    }
                })
                .collect(),
            asleep: (0..BODIES).map(|k| self.step > 10 && k % 2 == 1).collect(),
            joints: vec![FrameJoint {
                force: [self.bodies[1][3], -9.81, 1e-3 * self.step as f64],
                torque: [0.0, 0.25, self.bodies[2][4]],
                error_m: 1e-6 * self.step as f64,
                error_rad: 1e-7,
                broken: self.step > 12,
            }],
        }
    }

    pub(crate) fn record(&self, number: u64) -> Record {
        let certificate = FrameCertificate {
            step: self.step,
            residual_m_s: 1e-9 * self.step as f64,
            ..FrameCertificate::default()
        };
        Record {
            number,
            frame: self.frame(),
            certificate: (number > 0).then_some(certificate),
        }
    }

    pub(crate) fn snapshot(&self) -> Vec<u8> {
        let mut bytes = [self.step, self.chance]
            .map(u64::to_le_bytes)
            .as_flattened()
            .to_vec();
        for number in self.bodies.as_flattened() {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn restore(bytes: &[u8]) -> Self {
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|w| u64::from_le_bytes(w.try_into().unwrap()))
            .collect();
        let numbers: Vec<f64> = words[2..].iter().map(|&w| f64::from_bits(w)).collect();
        Self {
            step: words[0],
            chance: words[1],
            bodies: numbers
                .chunks_exact(6)
                .map(|b| b.try_into().unwrap())
                .collect(),
        }
    }
}

pub(crate) fn header() -> Header {
    Header {
        title: "toy".to_owned(),
        dt: 0.01,
        steps: 21,
        steps_per_frame: 2,
        group: 4,
        seeds: vec![7],
        ..Header::default()
    }
}

pub(crate) fn stage() -> Stage {
    let object = |k: usize| Object {
        name: format!("body {k}"),
        fixed: k == 0,
        parts: vec![Part {
            position: [0.0, 0.1, 0.0],
            rotation: [0.0, 0.0, 0.0, 1.0],
            form: Form::Ball {
                radius: 0.1 + 1.0 / 3.0,
            },
        }],
    };
    Stage {
        dimension: 3,
        objects: (0..BODIES).map(object).collect(),
        skins: Vec::new(),
        joints: vec![StageJoint {
            name: "hinge".to_owned(),
            form: JointForm::Hinge,
            ends: [1, 2].map(|object| JointEnd {
                object,
                position: [0.5, 0.0, 1.0 / 3.0],
                ..JointEnd::default()
            }),
        }],
    }
}

/// Runs the toy from the frame after the writer's last to the end.
pub(crate) fn go_on<S: Storage>(mut writer: Writer<S>, mut toy: Toy) -> Result<u64, WriteError> {
    let header = writer.header().clone();
    if writer.state_due() {
        writer.state(&toy.snapshot())?;
    }
    while writer.next_frame() < header.frames() {
        let number = writer.next_frame();
        while toy.step < header.step_of(number) {
            toy.step();
        }
        writer.frame(&toy.record(number))?;
        if writer.state_due() {
            writer.state(&toy.snapshot())?;
        }
    }
    writer.finish()
}

/// The whole recording.
pub(crate) fn recording() -> Vec<u8> {
    let mut file = Vec::new();
    let writer = Writer::create(&mut file, header(), &stage()).unwrap();
    go_on(writer, Toy::new()).unwrap();
    file
}

/// The toy at the last good frame: from the last state, made again and checked.
pub(crate) fn caught_up(recovered: &Recovered) -> Toy {
    let (from, mut toy) = match &recovered.state {
        Some((frame, state)) => (frame + 1, Toy::restore(state)),
        None => (0, Toy::new()),
    };
    for (number, hash) in (from..).zip(&recovered.hashes) {
        while toy.step < recovered.header.step_of(number) {
            toy.step();
        }
        assert_eq!(drystone_frame::recording::frame_hash(&toy.frame()), *hash);
    }
    toy
}
