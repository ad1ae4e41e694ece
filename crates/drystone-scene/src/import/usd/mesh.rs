//! Triangles of a `Mesh`.

use drystone::glam::{DMat4, DVec3};

use super::scene::Maker;
use crate::error::SceneError;
use crate::import::surface::Surface;

/// Most points of all meshes of a stage: references can bring in one mesh any number of times.
pub(super) const MAX_POINTS: usize = 4_000_000;

impl Maker<'_> {
    /// The mesh of a prim, its points led through a matrix. Faces are cut into fans.
    pub(super) fn surface(&mut self, prim: usize, matrix: &DMat4) -> Result<Surface, SceneError> {
        let stage = self.stage;
        let points = stage.numbers(prim, "points")?.unwrap_or_default();
        if !points.len().is_multiple_of(3) || points.iter().any(|x| !x.is_finite()) {
            return Err(stage.wrong_at(prim, "points", "they should be three finite numbers each"));
        }
        let counts = stage.numbers(prim, "faceVertexCounts")?.unwrap_or_default();
        let corners = stage
            .numbers(prim, "faceVertexIndices")?
            .unwrap_or_default();
        let size = points.len() / 3 + corners.len();
        self.points_left = self.points_left.checked_sub(size).ok_or_else(|| {
            let problem = format!("meshes have more than {MAX_POINTS} points and corners together");
            stage.wrong_at(prim, "points", problem)
        })?;
        let place = |row: &[f64]| match *row {
            [x, y, z] => matrix
                .transform_point3(DVec3::new(x, y, z))
                .to_array()
                .to_vec(),
            _ => Vec::new(),
        };
        let is_mirrored = matrix.determinant() < 0.0;
        let is_flipped = is_mirrored != (stage.token(prim, "orientation") == "leftHanded");
        let triangles = self.triangles(prim, (counts, corners), points.len() / 3)?;
        let turned = |[a, b, c]: [u32; 3]| if is_flipped { [a, c, b] } else { [a, b, c] };
        Ok(Surface {
            points: points.chunks_exact(3).map(place).collect(),
            triangles: triangles.into_iter().map(turned).collect(),
        })
    }

    /// Faces cut into fans, by the lengths of faces and their corners one after the other.
    fn triangles(
        &self,
        prim: usize,
        (lengths, corners): (&[f64], &[f64]),
        count: usize,
    ) -> Result<Vec<[u32; 3]>, SceneError> {
        let stage = self.stage;
        let vertex = |corner: &f64| {
            let is_there = *corner >= 0.0 && *corner < count as f64 && corner.fract() == 0.0;
            is_there.then_some(*corner as u32).ok_or_else(|| {
                let problem = format!("point {corner} of {count} is named");
                stage.wrong_at(prim, "faceVertexIndices", problem)
            })
        };
        let mut triangles = Vec::new();
        let mut rest = corners;
        for &length in lengths {
            let split = (length >= 0.0 && length <= rest.len() as f64).then_some(length as usize);
            let split = split.and_then(|length| rest.split_at_checked(length));
            let Some((face, others)) = split else {
                let problem = "it names more corners than there are";
                return Err(stage.wrong_at(prim, "faceVertexCounts", problem));
            };
            rest = others;
            let [first, more @ ..] = face else {
                continue;
            };
            for pair in more.windows(2) {
                if let [b, c] = pair {
                    triangles.push([vertex(first)?, vertex(b)?, vertex(c)?]);
                }
            }
        }
        match triangles.is_empty() {
            false => Ok(triangles),
            true => Err(stage.wrong_at(prim, "faceVertexCounts", "there is no triangle in it")),
        }
    }
}
