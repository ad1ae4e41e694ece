//! Attributes by type. What has another type than it should is an error that names prim and
//! attribute.

use std::borrow::Cow;

use drystone::glam::{DQuat, DVec3};

use super::layer::Value;
use super::stage::Stage;
use crate::error::SceneError;

impl Stage<'_> {
    /// Something wrong with an attribute.
    pub(super) fn wrong_at(
        &self,
        prim: usize,
        name: &str,
        problem: impl std::fmt::Display,
    ) -> SceneError {
        self.wrong(&format!("{}.{name}", self.path(prim)), problem)
    }

    /// All numbers of an attribute; `None` if it has no value.
    pub(super) fn numbers(&self, prim: usize, name: &str) -> Result<Option<&[f64]>, SceneError> {
        match self.value(prim, name) {
            None => Ok(None),
            Some(Value::Numbers(numbers)) => Ok(Some(numbers)),
            Some(_) => Err(self.wrong_at(prim, name, "it should have numbers")),
        }
    }

    /// Numbers of an attribute at a time, in between along a straight line; without a time as they
    /// are first.
    pub(super) fn numbers_at(
        &self,
        prim: usize,
        name: &str,
        time: Option<f64>,
    ) -> Result<Option<Cow<'_, [f64]>>, SceneError> {
        let samples = self.samples(prim, name);
        let (Some(time), false) = (time, samples.is_empty()) else {
            return Ok(self.numbers(prim, name)?.map(Cow::Borrowed));
        };
        let next = samples.partition_point(|(at, _)| *at < time);
        let after = samples.get(next).or(samples.last());
        let before = samples.get(next.saturating_sub(1)).or(samples.first());
        let numbers = |sample: Option<&(f64, Value)>| match sample {
            Some((at, Value::Numbers(numbers))) => Ok((*at, numbers.clone())),
            _ => Err(self.wrong_at(prim, name, "it should have numbers")),
        };
        let ((from, mut a), (to, mut b)) = (numbers(before)?, numbers(after)?);
        let share = match to > from {
            true => ((time - from) / (to - from)).clamp(0.0, 1.0),
            false => 0.0,
        };
        // The two quaternions of a rotation: the nearer one.
        let is_turn = name.starts_with("xformOp:orient");
        if is_turn && a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
            b.iter_mut().for_each(|x| *x = -*x);
        }
        a.iter_mut()
            .zip(&b)
            .for_each(|(a, b)| *a += share * (b - *a));
        Ok(Some(Cow::Owned(a)))
    }

    /// So many numbers, none of which is NaN.
    pub(super) fn row<const N: usize>(
        &self,
        prim: usize,
        name: &str,
    ) -> Result<Option<[f64; N]>, SceneError> {
        let Some(numbers) = self.numbers(prim, name)? else {
            return Ok(None);
        };
        match <[f64; N]>::try_from(numbers) {
            Ok(row) if !row.iter().any(|x| x.is_nan()) => Ok(Some(row)),
            Ok(_) => Err(self.wrong_at(prim, name, "it is not a number")),
            Err(_) => {
                let problem = format!("it should have {N} numbers, not {}", numbers.len());
                Err(self.wrong_at(prim, name, problem))
            }
        }
    }

    /// A number, which may be infinite; `default` if it is not there.
    pub(super) fn number(&self, prim: usize, name: &str, default: f64) -> Result<f64, SceneError> {
        Ok(self.row::<1>(prim, name)?.map_or(default, |[x]| x))
    }

    /// A number that must be finite.
    pub(super) fn finite(&self, prim: usize, name: &str, default: f64) -> Result<f64, SceneError> {
        let number = self.number(prim, name, default)?;
        match number.is_finite() {
            true => Ok(number),
            false => Err(self.wrong_at(prim, name, "it should be finite")),
        }
    }

    /// A length, mass or the like.
    pub(super) fn positive(
        &self,
        prim: usize,
        name: &str,
        default: f64,
    ) -> Result<f64, SceneError> {
        let number = self.finite(prim, name, default)?;
        match number > 0.0 {
            true => Ok(number),
            false => Err(self.wrong_at(prim, name, format!("it must be above 0, not {number}"))),
        }
    }

    /// A vector whose coordinates are finite.
    pub(super) fn vector(&self, prim: usize, name: &str) -> Result<Option<DVec3>, SceneError> {
        let vector = self.row::<3>(prim, name)?.map(DVec3::from_array);
        match vector {
            Some(vector) if !vector.is_finite() => {
                Err(self.wrong_at(prim, name, "it should be finite"))
            }
            vector => Ok(vector),
        }
    }

    /// A rotation; `None` if it is not there or all 0, which stands for none.
    pub(super) fn quaternion(&self, prim: usize, name: &str) -> Result<Option<DQuat>, SceneError> {
        let Some([w, x, y, z]) = self.row::<4>(prim, name)? else {
            return Ok(None);
        };
        let quaternion = DQuat::from_xyzw(x, y, z, w);
        let length = quaternion.length();
        if length == 0.0 {
            return Ok(None);
        }
        match length.is_finite() && length > 1e-6 {
            true => Ok(Some(quaternion / length)),
            false => Err(self.wrong_at(prim, name, "it is no rotation")),
        }
    }

    /// Whether something is so.
    pub(super) fn flag(&self, prim: usize, name: &str, default: bool) -> Result<bool, SceneError> {
        let default = if default { 1.0 } else { 0.0 };
        Ok(self.number(prim, name, default)? != 0.0)
    }

    /// A token; empty if it is not there.
    pub(super) fn token(&self, prim: usize, name: &str) -> &str {
        match self.value(prim, name) {
            Some(Value::Texts(texts)) => texts.first().map_or("", String::as_str),
            _ => "",
        }
    }

    /// A number that the layer says of itself.
    pub(super) fn setting(&self, name: &str, default: f64) -> Result<f64, SceneError> {
        match self.settings.get(name) {
            None => Ok(default),
            Some(Value::Numbers(numbers)) => match numbers.as_slice() {
                &[number] if number.is_finite() && number > 0.0 => Ok(number),
                _ => Err(self.wrong("/", format!("`{name}` must be a number above 0"))),
            },
            Some(_) => Err(self.wrong("/", format!("`{name}` must be a number above 0"))),
        }
    }
}
