//! Checks of single values, with the words for what is wrong.

use super::dimension::Dimension;
use crate::error::Flaw;
use crate::path::FieldPath;

/// A finite number.
pub(super) fn finite(value: f64, path: FieldPath) -> Result<f64, Flaw> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Flaw::new(
            path,
            format!("must be a finite number, not {value}"),
        ))
    }
}

/// A finite number greater than 0; `unit` is named in the error.
pub(super) fn positive(value: f64, unit: &str, path: FieldPath) -> Result<f64, Flaw> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        let problem = format!("must be a finite number greater than 0 ({unit}), not {value}");
        Err(Flaw::new(path, problem))
    }
}

/// A finite number, 0 or more; `unit` is named in the error.
pub(super) fn not_negative(value: f64, unit: &str, path: FieldPath) -> Result<f64, Flaw> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        let problem = format!("must be a finite number, 0 or more ({unit}), not {value}");
        Err(Flaw::new(path, problem))
    }
}

/// A number from 0 to 1.
pub(super) fn share(value: f64, path: FieldPath) -> Result<f64, Flaw> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Flaw::new(
            path,
            format!("must be a number from 0 to 1, not {value}"),
        ))
    }
}

/// Two positive numbers, the smaller first.
pub(super) fn range(values: [f64; 2], unit: &str, path: &FieldPath) -> Result<[f64; 2], Flaw> {
    let [least, most] = values;
    positive(least, unit, path.index(0))?;
    positive(most, unit, path.index(1))?;
    if least > most {
        let problem = format!("the smallest comes first, but {least} is greater than {most}");
        return Err(Flaw::new(path.clone(), problem).help(format!("write [{most}, {least}]")));
    }
    Ok(values)
}

/// A vector of the scene's dimension, finite.
pub(super) fn vector<S: Dimension>(values: &[f64], path: &FieldPath) -> Result<S::Vector, Flaw> {
    for (index, &value) in values.iter().enumerate() {
        finite(value, path.index(index))?;
    }
    S::vector(values).ok_or_else(|| wrong_length::<S>(values.len(), path))
}

/// A vector, or zero where none is given.
pub(super) fn vector_or_zero<S: Dimension>(
    values: Option<&Vec<f64>>,
    path: &FieldPath,
) -> Result<S::Vector, Flaw> {
    values.map_or(Ok(S::Vector::default()), |values| vector::<S>(values, path))
}

/// The error for a vector of the wrong length.
pub(super) fn wrong_length<S: Dimension>(given: usize, path: &FieldPath) -> Flaw {
    let numbers = if given == 1 { "number" } else { "numbers" };
    Flaw::new(
        path.clone(),
        format!(
            "{given} {numbers} do not fit a scene of dimension {}",
            <S as drystone::Algebra>::DIM
        ),
    )
    .help(format!(
        "give {} numbers: {}",
        <S as drystone::Algebra>::DIM,
        S::AXES
    ))
}

/// A name that can be shown.
pub(super) fn name<'a>(name: &'a str, path: &FieldPath) -> Result<&'a str, Flaw> {
    const LONGEST: usize = 200;
    if name.trim().is_empty() {
        return Err(Flaw::new(path.clone(), "a name must not be empty"));
    }
    if name.len() > LONGEST || name.chars().any(char::is_control) {
        let problem = "a name must be one line of at most 200 bytes";
        return Err(Flaw::new(path.clone(), problem));
    }
    Ok(name)
}
