//! What a page may ask for.

use super::simulation::{Change, Grip, Throw};
use serde::Deserialize;

/// One message from a page, as JSON with a field `do`. Commands without fields have braces: serde
/// refuses unknown fields only there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Opens a scene at its start.
    Open {
        /// Its name.
        scene: String,
    },
    /// Plays or pauses.
    Play {
        /// Whether to play.
        on: bool,
    },
    /// Makes one step, or shows the next one, and pauses.
    Step {},
    /// Shows the step before, and pauses.
    Back {},
    /// Changes how fast time goes.
    Speed {
        /// Simulated seconds in a second.
        factor: f64,
    },
    /// Goes back to the start; settings stay.
    Restart {},
    /// Shows the moment nearest to a time, and pauses.
    Seek {
        /// Simulated time, s.
        time: f64,
    },
    /// Changes settings.
    Set {
        /// What changes.
        change: Change,
    },
    /// Takes hold of an object or moves the hand.
    Grab {
        /// Which object, where, and whereto.
        grip: Grip,
    },
    /// Lets go.
    Release {},
    /// Throws a ball.
    Throw {
        /// From where and how fast.
        throw: Throw,
    },
    /// Runs the scene side by side with these solvers and strategies; one or none ends the race.
    Race {
        /// Names of racers, at most [`MOST_LANES`].
        racers: Vec<String>,
    },
    /// Asks for the matrix of the newest step.
    Matrix {},
}

/// Worlds side by side, at most.
pub(crate) const MOST_LANES: usize = 4;

/// Longest pieces of a message that are shown in a log.
const SHOWN_CHARACTERS: usize = 80;

impl Command {
    /// Reads a message.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let command: Self = serde_json::from_str(text).map_err(|error| {
            let shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
            format!("a message was refused: {error}; it began with {shown:?}")
        })?;
        command.check().map(|()| command)
    }

    /// Whether it would change how a run goes, or asks what only a simulation knows.
    pub(crate) fn changes_the_run(&self) -> bool {
        matches!(
            self,
            Self::Set { .. }
                | Self::Grab { .. }
                | Self::Throw { .. }
                | Self::Race { .. }
                | Self::Matrix {}
        )
    }

    /// JSON has no infinite numbers, but numbers that overflow to them; ranges are checked too.
    fn check(&self) -> Result<(), String> {
        let finite = |values: &[f64], what: &str| {
            if values.iter().all(|value| value.is_finite()) {
                Ok(())
            } else {
                Err(format!("{what} must be made of finite numbers"))
            }
        };
        match self {
            Self::Speed { factor } if !(1e-4..=1e3).contains(factor) => Err(format!(
                "speed must be a number from 0.0001 to 1000, not {factor}"
            )),
            Self::Seek { time } => finite(&[*time], "time"),
            Self::Grab { grip } => {
                finite(&grip.point, "the point of a grip")?;
                finite(&grip.target, "the target of a grip")
            }
            Self::Throw { throw } => {
                finite(&throw.position, "the position of a ball")?;
                finite(&throw.velocity, "the velocity of a ball")?;
                finite(&[throw.radius], "the radius of a ball")
            }
            Self::Race { racers } if racers.len() > MOST_LANES => {
                Err(format!("at most {MOST_LANES} can race"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_nonsense_is_refused() {
        let read = Command::parse(r#"{"do":"play","on":true}"#);
        assert_eq!(read, Ok(Command::Play { on: true }));
        let change = Command::parse(r#"{"do":"set","change":{"dt":0.01}}"#).unwrap();
        assert!(matches!(change, Command::Set { change } if change.dt == Some(0.01)));
        for bad in [
            "",
            "{}",
            "[1]",
            r#"{"do":"fly"}"#,
            r#"{"do":"play"}"#,
            r#"{"do":"play","on":1}"#,
            r#"{"do":"step","more":1}"#,
            r#"{"do":"speed","factor":0}"#,
            r#"{"do":"speed","factor":1e999}"#,
            r#"{"do":"set","change":{"colour":1}}"#,
            r#"{"do":"race","racers":["a","b","c","d","e"]}"#,
        ] {
            assert!(Command::parse(bad).is_err(), "{bad}");
        }
    }
}
