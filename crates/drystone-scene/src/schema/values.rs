//! Values that can be written in more than one way.
//!
//! They are read by hand-written visitors, because serde's untagged enums forget where in the
//! file a value stands and answer every mistake with "did not match any variant".

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};

/// x, y (2D) or x, y, z (3D).
pub type Vector = Vec<f64>;

/// An orientation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Rotation {
    /// 2D: counter-clockwise, in degrees.
    Angle(f64),
    /// 3D: a unit quaternion x, y, z, w (within 1e-3 of unit length).
    Quaternion(Vec<f64>),
    /// 3D: about an axis.
    AxisAngle {
        /// The axis; any length but 0.
        axis: Vec<f64>,
        /// The angle in degrees, right-handed.
        angle: f64,
    },
    /// 3D: about the world's x axis first, then y, then z.
    Euler {
        /// The three angles in degrees.
        euler: Vec<f64>,
    },
}

/// The table forms of a rotation.
#[derive(DeriveDeserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    axis: Option<Vec<f64>>,
    angle: Option<f64>,
    euler: Option<Vec<f64>>,
}

struct RotationVisitor;

impl<'de> Visitor<'de> for RotationVisitor {
    type Value = Rotation;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an angle in degrees (2D), or a quaternion [x, y, z, w], {{ axis = [x, y, z], angle = \
             degrees }} or {{ euler = [x, y, z] }} in degrees (3D)"
        )
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Rotation, E> {
        Ok(Rotation::Angle(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Rotation, E> {
        Ok(Rotation::Angle(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Rotation, E> {
        Ok(Rotation::Angle(value as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Rotation, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Rotation::Quaternion)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Rotation, A::Error> {
        let turn = Turn::deserialize(MapAccessDeserializer::new(table))?;
        match (turn.axis, turn.angle, turn.euler) {
            (Some(axis), Some(angle), None) => Ok(Rotation::AxisAngle { axis, angle }),
            (None, None, Some(euler)) => Ok(Rotation::Euler { euler }),
            _ => Err(A::Error::custom(
                "a rotation has either `axis` and `angle`, or `euler`",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Rotation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RotationVisitor)
    }
}

/// A number, or a list of numbers.
struct NumbersVisitor(&'static str);

/// What a [`NumbersVisitor`] found.
enum Numbers {
    One(f64),
    List(Vec<f64>),
}

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Numbers, E> {
        Ok(Numbers::One(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Numbers, E> {
        Ok(Numbers::One(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Numbers, E> {
        Ok(Numbers::One(value as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Numbers, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Numbers::List)
    }
}

/// A spin in rad/s, or a turn in degrees where it says so.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Spin {
    /// 2D: counter-clockwise.
    Flat(f64),
    /// 3D: about x, y and z.
    Solid(Vec<f64>),
}

impl<'de> Deserialize<'de> for Spin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = NumbersVisitor("a number (2D) or a list of three numbers (3D)");
        Ok(match deserializer.deserialize_any(visitor)? {
            Numbers::One(value) => Self::Flat(value),
            Numbers::List(list) => Self::Solid(list),
        })
    }
}

/// A moment of inertia about the centre of mass, in the shape's axes, kg·m².
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Inertia {
    /// 2D.
    Flat(f64),
    /// 3D: Ixx, Iyy, Izz, or Ixx, Iyy, Izz, Ixy, Ixz, Iyz.
    Solid(Vec<f64>),
}

impl<'de> Deserialize<'de> for Inertia {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = NumbersVisitor("a number (2D) or a list of three or six numbers (3D)");
        Ok(match deserializer.deserialize_any(visitor)? {
            Numbers::One(value) => Self::Flat(value),
            Numbers::List(list) => Self::Solid(list),
        })
    }
}
