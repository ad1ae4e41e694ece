//! The verdict: a line in plain words that says how good a step or a run is, and why.

use super::grade::{Figure, Grade, Shares};

impl Figure {
    /// What a share of this figure means, in words.
    #[must_use]
    pub fn words(self, share: f64) -> String {
        let part = percent(share);
        match self {
            Self::Residual => {
                format!("contacts miss their laws by at most {part} of the speeds there")
            }
            Self::Overlap => format!("bodies overlap by at most {part} of their size"),
            Self::Energy => {
                format!("{part} of the energy there came from or went to nothing")
            }
            Self::Momentum => format!("momentum is off by at most {part}"),
            Self::AngularMomentum => format!("angular momentum is off by at most {part}"),
            Self::JointGap => {
                format!("joints open by at most {part} of their bodies' size")
            }
            Self::JointAngle => {
                format!("joints are off by at most {}°", digits(share.to_degrees()))
            }
            Self::PushApart => {
                format!("a contact pushes across a gap of {part} of its bodies' size")
            }
            Self::Displacement => {
                format!("bodies move without velocity by at most {part} of their size a step")
            }
        }
    }
}

impl Shares {
    /// How good it is, in one line.
    ///
    /// ```
    /// use drystone::judge::Shares;
    /// let shares = Shares { overlap: 0.003, ..Shares::default() };
    /// assert_eq!(shares.verdict(), "good: bodies overlap by at most 0.30 % of their size");
    /// assert!(Shares::default().verdict().starts_with("exact"));
    /// ```
    #[must_use]
    pub fn verdict(&self) -> String {
        let grade = self.overall();
        if grade == Grade::Exact {
            return "exact: nothing is off by more than tolerance and rounding".to_owned();
        }
        let worst = self.worst();
        let mut line = format!("{}: {}", grade.word(), worst.words(self.of(worst)));
        let is_worse = |figure: &Figure| *figure != worst && self.grade(*figure) == grade;
        let others: Vec<String> = Figure::ALL
            .into_iter()
            .filter(|figure| grade == Grade::Poor && is_worse(figure))
            .map(|figure| figure.words(self.of(figure)))
            .collect();
        for other in &others {
            line.push_str("; ");
            line.push_str(other);
        }
        line
    }
}

/// A share in percent, two digits that count.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", digits(100.0 * share))
}

fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e6).contains(&value.abs()) {
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
    fn a_poor_verdict_names_every_poor_figure_the_worst_first() {
        let shares = Shares {
            overlap: 0.02,
            energy: 0.5,
            residual: 0.05,
            ..Shares::default()
        };
        assert_eq!(
            shares.verdict(),
            "poor: 50 % of the energy there came from or went to nothing; \
             bodies overlap by at most 2.0 % of their size"
        );
    }

    #[test]
    fn what_is_no_number_is_poor() {
        let shares = Shares {
            residual: f64::NAN,
            ..Shares::default()
        };
        assert!(shares.verdict().starts_with("poor: contacts"));
    }
}
