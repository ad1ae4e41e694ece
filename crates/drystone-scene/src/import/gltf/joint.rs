//! Joints: two frames, limits and drives.

use super::document::Document;
use super::value::{NULL, Value};
use crate::error::SceneError;
use crate::export::joint as export;
use crate::import::rigid::MOST_ANGLE;
use crate::schema::{Joint, JointAxis, JointKind, Motor, Servo};

/// What a joint of `physicsJoints` allows, without its bodies and frames.
pub(super) fn read(
    document: &Document<'_>,
    joint: &Value,
    (place, unsupported): (&str, &mut Vec<String>),
) -> Result<Joint, SceneError> {
    let mut differs = Vec::new();
    let read = said(document, joint, (place, &mut differs))?;
    let extra = document.extra::<Joint>(joint, place)?;
    let is_same = |extra: &Joint| {
        let again = said(
            document,
            &export::said(extra).into(),
            (place, &mut Vec::new()),
        );
        again.is_ok_and(|again| again == read)
    };
    Ok(extra.filter(is_same).unwrap_or_else(|| {
        unsupported.append(&mut differs);
        read
    }))
}

fn said(
    document: &Document<'_>,
    joint: &Value,
    (place, unsupported): (&str, &mut Vec<String>),
) -> Result<Joint, SceneError> {
    if let Some(drawn) = drawn(document, joint)? {
        return Ok(drawn);
    }
    let [linear, angular] = axes(document, joint, (place, unsupported))?;
    Ok(Joint {
        kind: JointKind::Axes,
        linear: Some(linear),
        angular: Some(angular),
        ..Joint::default()
    })
}

/// A joint whose only limit is that of a distance: a rod, a rope or a spring.
fn drawn(document: &Document<'_>, joint: &Value) -> Result<Option<Joint>, SceneError> {
    let list = |key: &str| joint.get(key).and_then(Value::as_array);
    let Some([limit]) = list("limits").map(Vec::as_slice) else {
        return Ok(None);
    };
    let axes = |key: &str| limit.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    let has_drives = list("drives").is_some_and(|drives| !drives.is_empty());
    if axes("linearAxes") != 3 || axes("angularAxes") != 0 || has_drives {
        return Ok(None);
    }
    let length = document.number(limit, "max", 0.0)?;
    let min = document.number(limit, "min", length)?;
    let is_soft = limit.get("stiffness").is_some();
    let kind = match (min == length, is_soft) {
        _ if length <= 0.0 => return Ok(None),
        (true, false) => JointKind::Rod,
        (true, true) => JointKind::Spring,
        (false, false) if min == 0.0 => JointKind::Rope,
        _ => return Ok(None),
    };
    let of_spring = |key: &str| document.number(limit, key, 0.0);
    Ok(Some(Joint {
        kind,
        length: Some(length),
        stiffness: is_soft.then(|| of_spring("stiffness")).transpose()?,
        damping: is_soft.then(|| of_spring("damping")).transpose()?,
        ..Joint::default()
    }))
}

/// What it allows along x, y, z (m) and about them (degrees).
fn axes(
    document: &Document<'_>,
    joint: &Value,
    (place, unsupported): (&str, &mut Vec<String>),
) -> Result<[[JointAxis; 3]; 2], SceneError> {
    let free = JointAxis {
        free: true,
        ..JointAxis::default()
    };
    let mut axes = [[free; 3]; 2];
    let list = |key: &str| joint.get(key).and_then(Value::as_array);
    for limit in list("limits").map_or(&[][..], Vec::as_slice) {
        for (row, key) in axes.iter_mut().zip(["linearAxes", "angularAxes"]) {
            let named = limit.get(key).and_then(Value::as_array);
            let named = named.map_or(&[][..], Vec::as_slice);
            for axis in named {
                let slot = slot(document, row, axis, place)?;
                let is_angle = key == "angularAxes";
                restrict(
                    document,
                    limit,
                    (slot, is_angle, named.len()),
                    (place, unsupported),
                )?;
            }
        }
        if limit.get("stiffness").is_some() {
            unsupported.push(format!("{place}: soft limits are hard"));
        }
    }
    for drive in list("drives").map_or(&[][..], Vec::as_slice) {
        let is_angle = drive.get("type").and_then(Value::as_str) == Some("angular");
        let [linear, angular] = &mut axes;
        let row = if is_angle { angular } else { linear };
        let slot = slot(document, row, drive.get("axis").unwrap_or(&NULL), place)?;
        push(document, drive, (slot, is_angle), (place, unsupported))?;
    }
    Ok(axes)
}

fn slot<'r>(
    document: &Document<'_>,
    row: &'r mut [JointAxis; 3],
    axis: &Value,
    place: &str,
) -> Result<&'r mut JointAxis, SceneError> {
    let index = axis.as_u64().and_then(|axis| usize::try_from(axis).ok());
    let slot = index.and_then(|index| row.get_mut(index));
    slot.ok_or_else(|| document.wrong(place, format!("an axis is 0, 1 or 2, not {axis}")))
}

/// Limits one coordinate. Limits of several at once are distances, which only 0 makes alike.
fn restrict(
    document: &Document<'_>,
    limit: &Value,
    (slot, is_angle, together): (&mut JointAxis, bool, usize),
    (place, unsupported): (&str, &mut Vec<String>),
) -> Result<(), SceneError> {
    let most = if is_angle { MOST_ANGLE } else { f64::MAX };
    let min = document.number(limit, "min", -most)?;
    let max = document.number(limit, "max", most)?;
    if min > max {
        return Err(document.wrong(place, "the `min` of a limit is above its `max`"));
    }
    slot.free = false;
    if min == 0.0 && max == 0.0 {
        slot.limits = None;
        return Ok(());
    }
    if together > 1 {
        unsupported.push(format!(
            "{place}: a limit of {together} axes holds for each by itself"
        ));
    }
    if is_angle && min <= -MOST_ANGLE && max >= MOST_ANGLE {
        slot.free = true;
        return Ok(());
    }
    let [min, max] = [min, max].map(|x| x.clamp(-most, most));
    let unit = if is_angle {
        180.0 / std::f64::consts::PI
    } else {
        1.0
    };
    slot.limits = Some([min * unit, max * unit]);
    Ok(())
}

/// Drives one coordinate: to a position with a stiffness, else at a speed.
fn push(
    document: &Document<'_>,
    drive: &Value,
    (slot, is_angle): (&mut JointAxis, bool),
    (place, unsupported): (&str, &mut Vec<String>),
) -> Result<(), SceneError> {
    if drive.get("mode").and_then(Value::as_str) == Some("acceleration") {
        unsupported.push(format!("{place}: a drive by acceleration is left out"));
        return Ok(());
    }
    if !slot.free && slot.limits.is_none() {
        unsupported.push(format!("{place}: a drive along a locked axis is left out"));
        return Ok(());
    }
    let stiffness = document.number(drive, "stiffness", 0.0)?;
    let damping = document.number(drive, "damping", 0.0)?;
    let speed = document.number(drive, "velocityTarget", 0.0)?;
    let target = document.number(drive, "positionTarget", 0.0)?;
    let max_force = match drive.get("maxForce") {
        Some(_) => Some(document.number(drive, "maxForce", 0.0)?),
        None => None,
    };
    if stiffness > 0.0 || speed == 0.0 {
        if speed != 0.0 {
            unsupported.push(format!("{place}: speed of a drive that has a stiffness"));
        }
        let unit = if is_angle {
            180.0 / std::f64::consts::PI
        } else {
            1.0
        };
        slot.servo = Some(Servo {
            position: target * unit,
            stiffness,
            damping,
            max_force,
        });
    } else {
        unsupported.push(format!("{place}: damping of a motor: it keeps its speed"));
        slot.motor = Some(Motor { speed, max_force });
    }
    Ok(())
}
