//! Values of options: what is read, and what is said of those that make no sense.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use drystone::SolverKind;

use super::ALL;
use crate::output::{Format, OutFile};

fn number(text: &str, fits: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && fits(value) => Ok(value),
        _ => Err(format!("give {expected}")),
    }
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0, "a finite number greater than 0")
}

pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |value| value >= 0.0, "a finite number, 0 or more")
}

pub(super) fn whole(text: &str) -> Result<NonZeroU32, String> {
    let whole = text.parse();
    whole.map_err(|_| "give a whole number, 1 or more".to_owned())
}

pub(super) fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X', '×']);
    let sides = sides.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match sides {
        Some((width, height)) if width > 0 && height > 0 => Ok((width, height)),
        _ => Err("give width and height in pixels, such as 1280x720".to_owned()),
    }
}

/// The names of solvers, and the word for all of them.
pub(super) fn solvers() -> PossibleValuesParser {
    PossibleValuesParser::new(SolverKind::NAMES.iter().chain([&ALL]))
}

pub(super) fn chart(text: &str) -> Result<OutFile, String> {
    match OutFile::parse(text) {
        Ok(file) if matches!(file.format, Format::Svg | Format::Png) => Ok(file),
        _ => Err("races are drawn as .svg or .png".to_owned()),
    }
}

pub(super) fn scene_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().and_then(|e| e.to_str());
    if extension.is_some_and(|e| e == "toml" || e == "json") {
        Ok(path)
    } else {
        Err("scenes are written as .toml or .json".to_owned())
    }
}

pub(super) fn png(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().and_then(|e| e.to_str());
    if extension.is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        Ok(path)
    } else {
        Err("pictures are written as .png".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        assert_eq!(positive("0.01"), Ok(0.01));
        for bad in ["0", "-1", "nan", "inf", "1e999", "fast", ""] {
            assert!(positive(bad).is_err(), "{bad}");
        }
        assert_eq!(not_negative("0"), Ok(0.0));
        assert_eq!(size("640x480"), Ok((640, 480)));
        for bad in ["640", "0x480", "640x", "axb", "-1x2", "99999999999x1"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert!(png("a.PNG").is_ok() && png("a.jpg").is_err());
        assert!(chart("a.svg").is_ok() && chart("a.csv").is_err());
    }
}
