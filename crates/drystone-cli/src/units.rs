//! Numbers for people: few digits, and a unit in which they are easy to read.

/// A length in m as "0.3 mm" or "42 µm".
pub(crate) fn length(metres: f64) -> String {
    scaled(
        metres,
        &[
            (0.1, 1.0, "m"),
            (1e-4, 1e-3, "mm"),
            (1e-7, 1e-6, "µm"),
            (0.0, 1e-9, "nm"),
        ],
    )
}

/// An energy in J as "1.2 mJ" or "3.4 kJ".
pub(crate) fn energy(joules: f64) -> String {
    let units = [
        (1e6, 1e6, "MJ"),
        (1e3, 1e3, "kJ"),
        (0.1, 1.0, "J"),
        (1e-4, 1e-3, "mJ"),
        (1e-7, 1e-6, "µJ"),
        (0.0, 1e-9, "nJ"),
    ];
    scaled(joules, &units)
}

/// A time in s as "1.2 ms" or "85 µs".
pub(crate) fn duration(seconds: f64) -> String {
    scaled(
        seconds,
        &[(1.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (0.0, 1e-6, "µs")],
    )
}

/// A size as "1.2 MB"; a MB is 10⁶ bytes.
pub(crate) fn bytes(number: u64) -> String {
    scaled(
        number as f64,
        &[
            (1e9, 1e9, "GB"),
            (1e6, 1e6, "MB"),
            (1e3, 1e3, "kB"),
            (0.0, 1.0, "bytes"),
        ],
    )
}

/// A number without a scaled unit: two digits, with an exponent where it is small or large.
pub(crate) fn plain(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (1e3..1e6).contains(&value) {
        count(libm::round(value) as u64)
    } else if (1e-2..1e6).contains(&value.abs()) {
        digits(value)
    } else {
        format!("{value:.1e}")
    }
}

/// A whole number with commas between thousands.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 step", "2 steps".
pub(crate) fn counted(n: u64, noun: &str) -> String {
    let plural = match (n, noun) {
        (1, _) => noun.to_owned(),
        (_, "body") => "bodies".to_owned(),
        (_, "box") => "boxes".to_owned(),
        (_, "polyhedron or mesh") => "polyhedra or meshes".to_owned(),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", count(n))
}

/// `value` in the first unit whose threshold it reaches. Units are (threshold, size, name).
fn scaled(value: f64, units: &[(f64, f64, &str)]) -> String {
    let fitting = units.iter().find(|(least, _, _)| value.abs() >= *least);
    match fitting.or(units.last()) {
        // Below a tenth of the smallest unit a number says nothing but "hardly any".
        Some((_, size, unit)) if value != 0.0 && value.abs() < 0.1 * size => {
            format!("less than 0.1 {unit}")
        }
        Some((_, size, unit)) if value != 0.0 => format!("{} {unit}", digits(value / size)),
        _ => "0".to_owned(),
    }
}

/// Two digits that count, without an exponent unless the number is huge.
fn digits(value: f64) -> String {
    if value.abs() >= 1e6 {
        return format!("{value:.1e}");
    }
    let magnitude = libm::floor(libm::log10(value.abs())) as i32;
    let decimals = (1 - magnitude).clamp(0, 9) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_well() {
        for (metres, text) in [
            (0.0, "0"),
            (3e-4, "0.30 mm"),
            (4.2e-5, "42 µm"),
            (1.7e-3, "1.7 mm"),
            (0.25, "0.25 m"),
            (12.3, "12 m"),
            (5e-9, "5.0 nm"),
            (1e-17, "less than 0.1 nm"),
            (1e300, "1.0e300 m"),
        ] {
            assert_eq!(length(metres), text);
        }
    }

    #[test]
    fn other_numbers_read_well() {
        assert_eq!(energy(0.0123), "12 mJ");
        assert_eq!(energy(4_200.0), "4.2 kJ");
        assert_eq!(duration(0.000_35), "350 µs");
        assert_eq!(duration(2.5), "2.5 s");
        assert_eq!(plain(2.1e-6), "2.1e-6");
        assert_eq!(plain(0.25), "0.25");
        assert_eq!(plain(5_645.7), "5,646");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(2, "body"), "2 bodies");
    }
}
