//! Where prims are.
//!
//! A prim's `xformOpOrder` names operations; the last one is done to its points first. USD writes
//! matrices for rows, p′ = p M, row by row, which is what columns, p′ = M p, have column by column.
//! The outermost matrix turns z up into y up and makes metres of the stage's units, so that a
//! prim's matrix leads from its points straight to ours.

use drystone::glam::{DMat3, DMat4, DQuat, DVec3};

use super::layer::Value;
use super::stage::Stage;
use crate::error::SceneError;
use crate::import::rigid::{Pose3, turn, upright};

/// Sines of angles between axes that count as right angles.
const RIGHT: f64 = 1e-5;

/// Most operations of a prim: each is done again at each time.
const MAX_OPERATIONS: usize = 100;

/// A matrix as rotation, then scale, then translation, and whether it is no more than these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placement {
    pub(super) pose: Pose3,
    /// Of x, y and z; x is negative where the matrix mirrors.
    pub(super) scale: DVec3,
    pub(super) is_sheared: bool,
}

impl Placement {
    /// `None` for a matrix that flattens space or is not finite.
    pub(super) fn of(matrix: &DMat4) -> Option<Self> {
        let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.truncate());
        let position = matrix.w_axis.truncate();
        let mut scale = DVec3::new(x.length(), y.length(), z.length());
        if !scale.is_finite() || !position.is_finite() || scale.min_element() <= 0.0 {
            return None;
        }
        if x.cross(y).dot(z) < 0.0 {
            scale.x = -scale.x;
        }
        let (x, y, z) = (x / scale.x, y / scale.y, z / scale.z);
        // Axes made right-angled, x first.
        let upright_y = (y - x * x.dot(y)).try_normalize()?;
        let rotation = DMat3::from_cols(x, upright_y, x.cross(upright_y));
        let rotation = DQuat::from_mat3(&rotation).normalize();
        let lean = x.dot(y).abs().max(y.dot(z).abs()).max(z.dot(x).abs());
        (rotation.is_finite() && lean < 1.0 - RIGHT).then_some(Self {
            pose: Pose3 { position, rotation },
            scale,
            is_sheared: lean > RIGHT,
        })
    }

    /// Whether all axes are scaled alike.
    pub(super) fn is_even(&self) -> bool {
        let scale = self.scale.abs();
        (scale - DVec3::splat(scale.x)).length() < 1e-6 * scale.length()
    }
}

/// The matrix around all prims.
pub(super) fn outermost(stage: &Stage<'_>, meters_per_unit: f64) -> DMat4 {
    let is_z_up = match stage.settings.get("upAxis") {
        Some(Value::Texts(texts)) => texts.first().is_some_and(|axis| axis == "Z"),
        _ => false,
    };
    let rotation = if is_z_up {
        upright().rotation
    } else {
        DQuat::IDENTITY
    };
    DMat4::from_scale_rotation_translation(DVec3::splat(meters_per_unit), rotation, DVec3::ZERO)
}

/// Two matrices of each prim: from its points to its parent's, and to the world's.
pub(super) fn all(
    stage: &Stage<'_>,
    outermost: DMat4,
) -> Result<(Vec<DMat4>, Vec<DMat4>), SceneError> {
    let mut local = Vec::with_capacity(stage.prims.len());
    let mut matrices: Vec<DMat4> = Vec::with_capacity(stage.prims.len());
    for (index, prim) in stage.prims.iter().enumerate() {
        let above = prim.parent.and_then(|parent| matrices.get(parent));
        let above = above.copied().unwrap_or(outermost);
        let (own, is_reset) = own(stage, index, None)?;
        match is_reset {
            true => {
                matrices.push(outermost * own);
                local.push(above.inverse() * outermost * own);
            }
            false => {
                matrices.push(above * own);
                local.push(own);
            }
        }
    }
    Ok((local, matrices))
}

/// A prim's own matrix, at a time or as it is first, and whether it leaves those above out.
pub(super) fn own(
    stage: &Stage<'_>,
    prim: usize,
    time: Option<f64>,
) -> Result<(DMat4, bool), SceneError> {
    let mut matrix = DMat4::IDENTITY;
    let mut is_reset = false;
    let Some(Value::Texts(order)) = stage.value(prim, "xformOpOrder") else {
        return Ok((matrix, is_reset));
    };
    if order.len() > MAX_OPERATIONS {
        let problem = format!("it has more than {MAX_OPERATIONS} operations");
        return Err(stage.wrong_at(prim, "xformOpOrder", problem));
    }
    for operation in order {
        if operation == "!resetXformStack!" {
            (matrix, is_reset) = (DMat4::IDENTITY, true);
            continue;
        }
        let (name, is_inverse) = match operation.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (operation.as_str(), false),
        };
        let numbers = stage.numbers_at(prim, name, time)?;
        let Some(done) = one(name, numbers.as_deref()) else {
            let problem = "this is no operation with as many finite numbers as it has";
            return Err(stage.wrong_at(prim, name, problem));
        };
        if is_inverse && done.determinant().abs() <= 0.0 {
            return Err(stage.wrong_at(prim, name, "it has no inverse"));
        }
        matrix *= if is_inverse { done.inverse() } else { done };
    }
    match matrix.is_finite() {
        true => Ok((matrix, is_reset)),
        false => Err(stage.wrong_at(prim, "xformOpOrder", "it leads beyond all numbers")),
    }
}

/// An operation by its name, such as `xformOp:rotateXYZ:tilt`, and its numbers; `None` for what is
/// none. Without numbers it does nothing.
fn one(name: &str, numbers: Option<&[f64]>) -> Option<DMat4> {
    let kind = name.strip_prefix("xformOp:")?.split(':').next()?;
    let Some(numbers) = numbers else {
        return Some(DMat4::IDENTITY);
    };
    if numbers.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let axis = |letter: u8| match letter {
        b'X' => Some(DVec3::X),
        b'Y' => Some(DVec3::Y),
        b'Z' => Some(DVec3::Z),
        _ => None,
    };
    let about = |axis: DVec3, degrees: f64| {
        DMat4::from_quat(turn(axis, degrees * std::f64::consts::PI / 180.0))
    };
    let along = || axis(kind.bytes().last()?);
    Some(match (kind, numbers) {
        ("translate", &[x, y, z]) => DMat4::from_translation(DVec3::new(x, y, z)),
        ("scale", &[x, y, z]) => DMat4::from_scale(DVec3::new(x, y, z)),
        ("orient", &[w, x, y, z]) => {
            let turned = DQuat::from_xyzw(x, y, z, w);
            let length = turned.length();
            match length > 1e-6 && length.is_finite() {
                true => DMat4::from_quat(turned / length),
                false => DMat4::IDENTITY,
            }
        }
        ("transform", numbers) => DMat4::from_cols_array(numbers.try_into().ok()?),
        ("translateX" | "translateY" | "translateZ", &[by]) => {
            DMat4::from_translation(along()? * by)
        }
        ("scaleX" | "scaleY" | "scaleZ", &[by]) => {
            DMat4::from_scale(DVec3::ONE + along()? * (by - 1.0))
        }
        ("rotateX" | "rotateY" | "rotateZ", &[by]) => about(along()?, by),
        (_, &[x, y, z]) => {
            let angles = DVec3::new(x, y, z);
            let letters = kind.strip_prefix("rotate").filter(|axes| axes.len() == 3)?;
            let mut matrix = DMat4::IDENTITY;
            // The first axis is turned about first.
            for letter in letters.bytes() {
                let axis = axis(letter)?;
                matrix = about(axis, angles.dot(axis)) * matrix;
            }
            matrix
        }
        _ => return None,
    })
}
