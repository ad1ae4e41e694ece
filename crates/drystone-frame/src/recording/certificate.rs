//! How well the laws of contact held on the way to a frame, as plain numbers.

use super::bytes::Bytes;

/// Stands for no object.
const NONE: u32 = u32::MAX;

/// The certificate of a frame: of all steps since the frame before, the worst of each number.
///
/// The engine's documentation says what the numbers mean; here they are only kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameCertificate {
    /// The step with the largest residual.
    pub step: u64,
    /// Most contact points in a step.
    pub contacts: u32,
    /// Objects A and B of the contact with the largest residual.
    pub worst: Option<[u32; 2]>,
    /// Largest residual, m/s.
    pub residual_m_s: f64,
    /// Largest relative residual, without unit.
    pub relative_residual: f64,
    /// Largest speed at which a contact still closes, m/s.
    pub approach_speed_m_s: f64,
    /// Largest impulse that pulls, N·s.
    pub pull_n_s: f64,
    /// Largest friction beyond the cone, N·s.
    pub cone_excess_n_s: f64,
    /// Largest violation of Signorini's law, J.
    pub signorini_j: f64,
    /// Largest violation of the direction of friction, J.
    pub friction_direction_j: f64,
    /// Deepest overlap, m.
    pub penetration_m: f64,
    /// Energy that contact made in all steps together, J.
    pub energy_made_j: f64,
    /// Largest error of the momentum balance, N·s.
    pub momentum_n_s: f64,
}

impl FrameCertificate {
    /// Adds a later step: the worst of each number stays, energy is summed.
    pub fn merge(&mut self, later: &Self) {
        if later.residual_m_s > self.residual_m_s || self.step == 0 {
            self.step = later.step;
            self.worst = later.worst;
        }
        self.contacts = self.contacts.max(later.contacts);
        self.energy_made_j += later.energy_made_j;
        let largest = [
            (&mut self.residual_m_s, later.residual_m_s),
            (&mut self.relative_residual, later.relative_residual),
            (&mut self.approach_speed_m_s, later.approach_speed_m_s),
            (&mut self.pull_n_s, later.pull_n_s),
            (&mut self.cone_excess_n_s, later.cone_excess_n_s),
            (&mut self.signorini_j, later.signorini_j),
            (&mut self.friction_direction_j, later.friction_direction_j),
            (&mut self.penetration_m, later.penetration_m),
            (&mut self.momentum_n_s, later.momentum_n_s),
        ];
        for (worst, later) in largest {
            *worst = worst.max(later);
        }
    }

    fn numbers(&self) -> [f64; 10] {
        [
            self.residual_m_s,
            self.relative_residual,
            self.approach_speed_m_s,
            self.pull_n_s,
            self.cone_excess_n_s,
            self.signorini_j,
            self.friction_direction_j,
            self.penetration_m,
            self.energy_made_j,
            self.momentum_n_s,
        ]
    }

    /// 100 bytes: step, contacts, the two objects, and the numbers in the order of the fields.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let [a, b] = self.worst.unwrap_or([NONE; 2]);
        out.extend(self.step.to_le_bytes());
        for whole in [self.contacts, a, b] {
            out.extend(whole.to_le_bytes());
        }
        for number in self.numbers() {
            out.extend(number.to_le_bytes());
        }
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let step = bytes.u64()?;
        let contacts = bytes.u32()?;
        let worst = [bytes.u32()?, bytes.u32()?];
        Some(Self {
            step,
            contacts,
            worst: (worst != [NONE; 2]).then_some(worst),
            residual_m_s: bytes.f64()?,
            relative_residual: bytes.f64()?,
            approach_speed_m_s: bytes.f64()?,
            pull_n_s: bytes.f64()?,
            cone_excess_n_s: bytes.f64()?,
            signorini_j: bytes.f64()?,
            friction_direction_j: bytes.f64()?,
            penetration_m: bytes.f64()?,
            energy_made_j: bytes.f64()?,
            momentum_n_s: bytes.f64()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_step(step: u64, residual: f64, energy: f64) -> FrameCertificate {
        FrameCertificate {
            step,
            worst: Some([step as u32, 0]),
            residual_m_s: residual,
            energy_made_j: energy,
            penetration_m: energy / 2.0,
            ..FrameCertificate::default()
        }
    }

    #[test]
    fn the_worst_step_stays_and_energy_is_summed() {
        let mut all = of_step(1, 1e-6, 0.5);
        all.merge(&of_step(2, 3e-6, 0.25));
        all.merge(&of_step(3, 2e-6, 0.125));
        assert_eq!((all.step, all.worst), (2, Some([2, 0])));
        assert_eq!((all.residual_m_s, all.energy_made_j), (3e-6, 0.875));
        assert_eq!(all.penetration_m, 0.25);
    }

    #[test]
    fn a_certificate_comes_back_from_its_bytes() {
        let mut bytes = Vec::new();
        let certificate = of_step(7, 1e-9, 2.0);
        certificate.write(&mut bytes);
        assert_eq!(bytes.len(), 100);
        assert_eq!(
            FrameCertificate::read(&mut Bytes(&bytes)),
            Some(certificate)
        );
        assert_eq!(FrameCertificate::read(&mut Bytes(&bytes[1..])), None);
    }
}
