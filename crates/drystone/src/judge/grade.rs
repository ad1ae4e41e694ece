//! Grades: how good a figure is for its scale.
//!
//! A figure alone alarms or lulls: a millimetre of overlap is nothing between houses and all there is
//! between grains. So every figure is divided by what it is to be held against, and the **share** has a
//! grade: *exact* up to what the solvers' tolerances and rounding leave, *good* up to what a run in real
//! time may leave, *poor* beyond. These are all the bounds there are; report, summary and viewer take
//! them from here.
//!
//! | figure | over | exact | good |
//! |---|---|---|---|
//! | residual | g·dt and the contact's speed | 1e-4 | 0.1 |
//! | overlap | size of the smaller body | 1e-4 | 0.01 |
//! | energy made or lost for no reason | energy that is there | 1e-6 | 0.01 |
//! | momentum | what is there, and a step of free fall | 1e-6 | 0.01 |
//! | angular momentum | what is there | 1e-6 | 0.01 |
//! | gap of a joint | size of the smaller body | 1e-4 | 0.01 |
//! | angle of a joint | a radian | 1e-4 | 0.01 |
//! | gap across which a contact pushes | size of the smaller body | 1e-4 | 0.01 |
//! | displacement that velocities don't explain | size of the body | 1e-4 | 0.01 |
//!
//! The size of a body is twice its largest distance from its centre of mass; the energy that is there is
//! that of motion and springs, and what it takes to lift a body by half its size.

use serde::{Deserialize, Serialize};

/// How good a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Within tolerance and rounding.
    #[default]
    Exact,
    /// Within what a run in real time may leave.
    Good,
    /// Beyond.
    Poor,
}

impl Grade {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Good => "good",
            Self::Poor => "poor",
        }
    }
}

/// A figure that has a grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Figure {
    /// How far the laws of contact are from holding.
    Residual,
    /// Overlap.
    Overlap,
    /// Energy made, or lost for no reason.
    Energy,
    /// Momentum.
    Momentum,
    /// Angular momentum.
    AngularMomentum,
    /// Gaps of joints.
    JointGap,
    /// Angles of joints.
    JointAngle,
    /// Contacts that push across a gap.
    PushApart,
    /// Displacement that velocities don't explain.
    Displacement,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Residual,
        Self::Overlap,
        Self::Energy,
        Self::Momentum,
        Self::AngularMomentum,
        Self::JointGap,
        Self::JointAngle,
        Self::PushApart,
        Self::Displacement,
    ];

    /// The largest shares that are exact and good.
    #[must_use]
    pub fn bounds(self) -> [f64; 2] {
        match self {
            Self::Residual => [1e-4, 0.1],
            Self::Energy | Self::Momentum | Self::AngularMomentum => [1e-6, 0.01],
            Self::Overlap
            | Self::JointGap
            | Self::JointAngle
            | Self::PushApart
            | Self::Displacement => [1e-4, 0.01],
        }
    }

    /// The grade of a share; what is no number is poor.
    #[must_use]
    pub fn grade(self, share: f64) -> Grade {
        let [exact, good] = self.bounds();
        if share <= exact {
            Grade::Exact
        } else if share <= good {
            Grade::Good
        } else {
            Grade::Poor
        }
    }

    /// How much of its good bound a share takes: what is worse has more, whatever the figures.
    #[must_use]
    pub fn badness(self, share: f64) -> f64 {
        let badness = share / self.bounds()[1];
        if badness.is_nan() {
            f64::INFINITY
        } else {
            badness
        }
    }

    /// What the figure is, as in reports.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Residual => "residual",
            Self::Overlap => "overlap",
            Self::Energy => "energy",
            Self::Momentum => "momentum",
            Self::AngularMomentum => "angular_momentum",
            Self::JointGap => "joint_gap",
            Self::JointAngle => "joint_angle",
            Self::PushApart => "push_apart",
            Self::Displacement => "displacement",
        }
    }

    /// What helps where it is poor.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Residual => "more rounds or iterations, or a smaller dt",
            Self::Overlap => "a smaller dt, or a start without overlap",
            Self::Energy | Self::Momentum | Self::AngularMomentum => "a smaller dt",
            Self::JointGap | Self::JointAngle => "a smaller dt, or weaker motors and loads",
            Self::PushApart => "a smaller dt or margin",
            Self::Displacement => "a start without overlap, or a smaller dt",
        }
    }
}

/// Every figure over its scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Residual over g·dt and the contact's speed.
    pub residual: f64,
    /// Overlap over the size of the smaller body.
    pub overlap: f64,
    /// Energy made or lost for no reason over what is there.
    pub energy: f64,
    /// Error of momentum over what is there.
    pub momentum: f64,
    /// Error of angular momentum over what is there.
    pub angular_momentum: f64,
    /// Gap of a joint over the size of the smaller body.
    pub joint_gap: f64,
    /// Angle of a joint, rad.
    pub joint_angle: f64,
    /// Gap across which a contact pushes over the size of the smaller body.
    pub push_apart: f64,
    /// Displacement that velocities don't explain over the size of the body.
    pub displacement: f64,
}

impl Shares {
    /// One of them.
    #[must_use]
    pub fn of(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Residual => self.residual,
            Figure::Overlap => self.overlap,
            Figure::Energy => self.energy,
            Figure::Momentum => self.momentum,
            Figure::AngularMomentum => self.angular_momentum,
            Figure::JointGap => self.joint_gap,
            Figure::JointAngle => self.joint_angle,
            Figure::PushApart => self.push_apart,
            Figure::Displacement => self.displacement,
        }
    }

    /// The larger of each; what is no number stays.
    #[must_use]
    pub fn upper(&self, other: &Self) -> Self {
        let larger = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
        Self {
            residual: larger(self.residual, other.residual),
            overlap: larger(self.overlap, other.overlap),
            energy: larger(self.energy, other.energy),
            momentum: larger(self.momentum, other.momentum),
            angular_momentum: larger(self.angular_momentum, other.angular_momentum),
            joint_gap: larger(self.joint_gap, other.joint_gap),
            joint_angle: larger(self.joint_angle, other.joint_angle),
            push_apart: larger(self.push_apart, other.push_apart),
            displacement: larger(self.displacement, other.displacement),
        }
    }

    /// The grade of one figure.
    #[must_use]
    pub fn grade(&self, figure: Figure) -> Grade {
        figure.grade(self.of(figure))
    }

    /// The figure that takes most of its good bound.
    #[must_use]
    pub fn worst(&self) -> Figure {
        let badness = |figure: Figure| figure.badness(self.of(figure));
        let worse = |a: Figure, b: Figure| if badness(b) > badness(a) { b } else { a };
        Figure::ALL.into_iter().fold(Figure::Residual, worse)
    }

    /// The worst grade of all figures.
    #[must_use]
    pub fn overall(&self) -> Grade {
        let grades = Figure::ALL.into_iter().map(|figure| self.grade(figure));
        grades.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_change_at_the_documented_bounds() {
        for figure in Figure::ALL {
            let [exact, good] = figure.bounds();
            assert_eq!(figure.grade(exact), Grade::Exact);
            assert_eq!(figure.grade(exact * 1.001), Grade::Good);
            assert_eq!(figure.grade(good), Grade::Good);
            assert_eq!(figure.grade(good * 1.001), Grade::Poor);
            assert_eq!(figure.grade(f64::NAN), Grade::Poor);
        }
    }

    /// The table above says what the code says.
    #[test]
    fn the_table_has_the_bounds() {
        let source = include_str!("grade.rs");
        let rows = source.lines().filter(|line| line.starts_with("//! | "));
        let bounds: Vec<[f64; 2]> = rows
            .filter_map(|row| {
                let cells: Vec<&str> = row.split('|').map(str::trim).collect();
                Some([cells.get(3)?.parse().ok()?, cells.get(4)?.parse().ok()?])
            })
            .collect();
        assert_eq!(bounds, Figure::ALL.map(Figure::bounds));
    }

    #[test]
    fn the_worst_figure_is_that_nearest_to_or_beyond_its_bound() {
        let shares = Shares {
            residual: 0.05,
            overlap: 0.02,
            ..Shares::default()
        };
        assert_eq!(shares.worst(), Figure::Overlap);
        assert_eq!(shares.overall(), Grade::Poor);
        assert_eq!(shares.grade(Figure::Residual), Grade::Good);
        let nan = Shares {
            energy: f64::NAN,
            ..shares
        };
        assert_eq!(nan.upper(&shares).worst(), Figure::Energy);
        assert_eq!(shares.upper(&nan).overall(), Grade::Poor);
    }
}
