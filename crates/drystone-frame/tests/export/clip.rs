//! Clips to export: every form, in motion.

use drystone_frame::export::usd::{Physics, Tie, TieKind};
use drystone_frame::export::{Model, Motion};
use drystone_frame::{Form, Frame, FrameContact, Object, Part, Skin, Stage};

/// Frames in a second.
pub(crate) const RATE: f64 = 60.0;

/// Length of a step, s.
pub(crate) const DT: f64 = 1.0 / 120.0;

/// A stage and its frames.
pub(crate) struct Clip {
    pub(crate) stage: Stage,
    pub(crate) frames: Vec<Frame>,
}

fn part(position: [f64; 3], form: Form) -> Part {
    Part {
        position,
        rotation: [0.0, 0.0, 0.6, 0.8],
        form,
    }
}

fn object(name: &str, fixed: bool, form: Form) -> Object {
    let part = Part {
        position: [0.0; 3],
        rotation: [0.0, 0.0, 0.0, 1.0],
        form,
    };
    Object {
        name: name.to_owned(),
        fixed,
        parts: vec![part],
    }
}

fn tetrahedron() -> Form {
    Form::Mesh {
        points: vec![
            [0.0, 0.0, 0.0],
            [0.3, 0.0, 0.0],
            [0.0, 0.3, 0.0],
            [0.0, 0.0, 0.3],
        ],
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
    }
}

/// Every form in space or in the plane, names that need care, a body of two parts and one of none.
pub(crate) fn clip(dimension: u8) -> Clip {
    let square = |closed| Form::Outline {
        points: vec![
            [-0.2, -0.2, 0.0],
            [0.2, -0.2, 0.0],
            [0.2, 0.2, 0.0],
            [-0.2, 0.2, 0.0],
        ],
        closed,
    };
    let normal = [0.0, 1.0, 0.0];
    let mut objects = vec![
        object("floor", true, Form::HalfSpace { normal }),
        object("ball", false, Form::Ball { radius: 0.25 }),
        object("small \"ball\"", false, Form::Ball { radius: 0.1 }),
        object(
            "box 1",
            false,
            Form::Box {
                half: [0.2, 0.1, 0.3],
            },
        ),
        object(
            "box_1",
            false,
            Form::Box {
                half: [0.2, 0.1, 0.3],
            },
        ),
        object(
            "capsule",
            false,
            Form::Capsule {
                half_length: 0.2,
                radius: 0.1,
            },
        ),
        object("track", true, square(false)),
        object("plate", false, square(true)),
        Object {
            name: "nothing".to_owned(),
            fixed: false,
            parts: Vec::new(),
        },
        Object {
            name: "dumb-bell".to_owned(),
            fixed: false,
            parts: vec![
                part([0.4, 0.0, 0.0], Form::Ball { radius: 0.2 }),
                part(
                    [-0.4, 0.0, 0.0],
                    Form::Box {
                        half: [0.1, 0.1, 0.1],
                    },
                ),
            ],
        },
    ];
    if dimension == 3 {
        objects.push(object("tetrahedron", false, tetrahedron()));
        objects.push(object(
            "cylinder",
            false,
            Form::Cylinder {
                half_height: 0.2,
                radius: 0.1,
            },
        ));
        objects.push(object(
            "cone",
            false,
            Form::Cone {
                half_height: 0.2,
                radius: 0.1,
            },
        ));
    }
    let stage = Stage {
        dimension,
        objects,
        ..Stage::default()
    };
    let frames = (0..31).map(|k| frame(&stage, k)).collect();
    Clip { stage, frames }
}

/// Bodies on circles, turning, more than once around so that signs of quaternions change.
fn frame(stage: &Stage, number: u64) -> Frame {
    let time = number as f64 / RATE;
    let pose = |(k, object): (usize, &Object)| {
        let phase = k as f64 + 6.0 * time;
        if object.fixed {
            return ([0.0; 3], [0.0, 0.0, 0.0, 1.0]);
        }
        let position = [k as f64 + 0.5 * phase.cos(), 1.0 + 0.5 * phase.sin(), 0.0];
        let half = 7.0 * time + 0.1 * k as f64;
        (position, [0.0, 0.0, half.sin(), half.cos()])
    };
    let poses: Vec<_> = stage.objects.iter().enumerate().map(pose).collect();
    let contact = |k: u64| FrameContact {
        object_a: 0,
        object_b: 1 + k as u32,
        position: [0.5 * k as f64, 0.0, 0.25],
        normal: [0.0, 1.0, 0.0],
        impulse: [0.0, 0.125 * (k + 1) as f64, 0.0],
        separation: -1e-3,
    };
    Frame {
        time,
        step: 2 * number,
        positions: poses.iter().map(|pose| pose.0).collect(),
        rotations: poses.iter().map(|pose| pose.1).collect(),
        velocities: vec![[1.0, 2.0, 3.0]; poses.len()],
        spins: vec![[0.0, 0.0, 14.0]; poses.len()],
        contacts: (0..number % 4).map(contact).collect(),
        ..Frame::default()
    }
}

/// Squares of the cloth along an edge.
const SQUARES: u32 = 4;

/// A cloth that waves, a string that stretches between two of its own nodes, and a ball.
pub(crate) fn cloth() -> Clip {
    let side = SQUARES + 1;
    let node = |row: u32, column: u32| row * side + column;
    let nodes = side * side;
    let mut objects: Vec<Object> = (0..nodes + 2)
        .map(|k| object(&format!("node {k}"), false, Form::Ball { radius: 0.01 }))
        .collect();
    objects.push(object("ball", false, Form::Ball { radius: 0.2 }));
    let mut triangles = Vec::new();
    for row in 0..SQUARES {
        for column in 0..SQUARES {
            let [a, b] = [node(row, column), node(row, column + 1)];
            let [c, d] = [node(row + 1, column), node(row + 1, column + 1)];
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    let skins = vec![
        Skin {
            name: "my cloth".to_owned(),
            objects: (0..nodes).collect(),
            triangles,
            thickness: 0.02,
            two_sided: true,
            ..Skin::default()
        },
        Skin {
            name: "string".to_owned(),
            objects: vec![nodes, nodes + 1],
            segments: vec![[nodes, nodes + 1]],
            thickness: 0.04,
            ..Skin::default()
        },
    ];
    let frames = (0..31_u32).map(|number| {
        let time = f64::from(number) / RATE;
        let place = |k: u32| {
            let (x, z) = (f64::from(k % side), f64::from(k / side));
            match k {
                _ if k < nodes => [x, 2.0 + 0.3 * (x + 9.0 * time).sin(), z],
                _ if k == nodes => [-1.0, 0.5, 0.0],
                _ if k == nodes + 1 => [-1.0 - time, 1.5, 4.0 * time],
                _ => [5.0, 1.0 - time, 0.0],
            }
        };
        let count = nodes as usize + 3;
        Frame {
            time,
            step: u64::from(number),
            positions: (0..nodes + 3).map(place).collect(),
            rotations: vec![[0.0, 0.0, 0.0, 1.0]; count],
            velocities: (0..nodes + 3).map(|k| [f64::from(k), 0.0, 0.0]).collect(),
            spins: vec![[0.0; 3]; count],
            ..Frame::default()
        }
    });
    let frames = frames.collect();
    let stage = Stage {
        dimension: 3,
        objects,
        skins,
        ..Stage::default()
    };
    Clip { stage, frames }
}

impl Clip {
    pub(crate) fn model(&self) -> Model {
        Model::new(&self.stage, &self.frames[0])
    }

    pub(crate) fn motion(&self) -> Motion {
        let mut motion = Motion::new(&self.stage);
        self.frames.iter().for_each(|frame| motion.add(frame));
        motion
    }

    pub(crate) fn glb(&self) -> Vec<u8> {
        drystone_frame::export::gltf::write(&self.stage, &self.model(), &self.motion()).unwrap()
    }

    /// Masses and surfaces of all, and a joint of each kind between neighbours.
    fn physics(&self) -> Physics {
        let count = self.stage.objects.len();
        let frame = ([0.1, 0.2, 0.3], [0.0, 0.6, 0.0, 0.8]);
        let kinds = [
            TieKind::Fixed,
            TieKind::Ball,
            TieKind::Hinge(Some([-30.0, 60.0])),
            TieKind::Slider(Some([-0.5, 0.5])),
            TieKind::Distance([0.0, 2.0]),
        ];
        let tie = |(k, kind): (usize, TieKind)| Tie {
            name: format!("joint {k}"),
            objects: [k, k + 1],
            frames: [frame; 2],
            kind,
        };
        Physics {
            masses: (0..count).map(|k| Some(1.5 + k as f64)).collect(),
            surfaces: (0..count)
                .map(|k| Some([0.1 * (k % 3) as f64, 0.5]))
                .collect(),
            ties: kinds.into_iter().enumerate().map(tie).collect(),
        }
    }

    pub(crate) fn usda(&self) -> String {
        use drystone_frame::export::usd::{Setting, write};
        let setting = Setting {
            frames_per_second: RATE,
            gravity: [0.0, -9.81, 0.0],
            physics: self.physics(),
        };
        let mut file = Vec::new();
        write(
            &self.stage,
            &self.model(),
            &self.motion(),
            &setting,
            &mut file,
        )
        .unwrap();
        String::from_utf8(file).unwrap()
    }
}
