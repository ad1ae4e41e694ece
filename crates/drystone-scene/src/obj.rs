//! Meshes in files of their own: Wavefront OBJ, of which vertices and faces are read, and for
//! deformables Gmsh's ([`crate::gmsh`]).

use crate::error::SceneError;
use crate::gmsh;
use crate::import::Files;
use crate::schema::{Scene, Shape, SoftShape};

/// Vertices and triangles.
pub(crate) type Mesh = (Vec<Vec<f64>>, Vec<[u32; 3]>);

impl Scene {
    /// Reads the meshes that the scene names by file.
    pub(crate) fn read_meshes(&mut self, files: &mut Files, scene: &str) -> Result<(), SceneError> {
        for body in &mut self.bodies {
            for shape in body.shape.iter_mut().chain(&mut body.shapes) {
                read_into(shape, files, scene)?;
            }
        }
        for deformable in &mut self.deformables {
            read_soft(&mut deformable.shape, files, scene)?;
        }
        Ok(())
    }
}

/// Reads a deformable's mesh.
fn read_soft(shape: &mut SoftShape, files: &mut Files, scene: &str) -> Result<(), SceneError> {
    let SoftShape::Mesh {
        file,
        points,
        segments,
        triangles,
        tetrahedra,
        ..
    } = shape
    else {
        return Ok(());
    };
    let has_cells = !(points.is_empty()
        && segments.is_empty()
        && triangles.is_empty()
        && tetrahedra.is_empty());
    let Some(name) = file.as_ref().filter(|_| !has_cells) else {
        return Ok(());
    };
    let path = files.resolve(name, scene)?;
    let shown = path.display().to_string();
    let is_gmsh = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("msh"));
    if is_gmsh {
        let mesh = gmsh::parse(&files.bytes(&path)?, &shown)?;
        *points = mesh.points;
        (*segments, *triangles, *tetrahedra) = (mesh.lines, mesh.triangles, mesh.tetrahedra);
    } else {
        (*points, *triangles) = parse(&files.text(&path)?, &shown)?;
    }
    *file = None;
    Ok(())
}

fn read_into(shape: &mut Shape, files: &mut Files, scene: &str) -> Result<(), SceneError> {
    match shape {
        Shape::Mesh {
            file,
            points,
            triangles,
            ..
        } if points.is_empty() && triangles.is_empty() => {
            if let Some(name) = file.take() {
                let path = files.resolve(&name, scene)?;
                let shown = path.display().to_string();
                (*points, *triangles) = parse(&files.text(&path)?, &shown)?;
            }
        }
        Shape::Compound { parts } => {
            for part in parts {
                read_into(&mut part.shape, files, scene)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Vertices (`v x y z`) and faces (`f 1 2 3`, `f 1/1/1 2/2/2 …`, `f -3 -2 -1`); faces of more
/// corners are cut into triangles from their first. Everything else is skipped.
pub(crate) fn parse(text: &str, file: &str) -> Result<Mesh, SceneError> {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for (line, words) in (1..).zip(text.lines()) {
        let wrong = |problem: String| {
            let problem = format!("line {line}: {problem}");
            SceneError::unreadable(file, problem, "export the mesh as Wavefront OBJ again")
        };
        let mut words = words.split_whitespace();
        match words.next() {
            Some("v") => {
                let numbers: Result<Vec<f64>, _> = words.take(3).map(str::parse).collect();
                match numbers {
                    Ok(point) if point.len() == 3 => points.push(point),
                    _ => return Err(wrong("a vertex is `v` and three numbers".to_owned())),
                }
            }
            Some("f") => {
                let corners: Option<Vec<u32>> =
                    words.map(|word| corner(word, points.len())).collect();
                let corners = corners
                    .filter(|corners| corners.len() >= 3)
                    .ok_or_else(|| {
                        let count = points.len();
                        wrong(format!(
                            "a face is `f` and three vertices or more, each 1 to {count} so far"
                        ))
                    })?;
                for pair in corners.windows(2).skip(1) {
                    triangles.push([corners[0], pair[0], pair[1]]);
                }
            }
            _ => {}
        }
    }
    Ok((points, triangles))
}

/// The vertex of one word of a face, counted from 0.
fn corner(word: &str, count: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let count = i64::try_from(count).ok()?;
    let index = if number < 0 {
        count + number
    } else {
        number - 1
    };
    (0..count)
        .contains(&index)
        .then(|| u32::try_from(index).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn faces_of_all_kinds_are_read() {
        let text = "# a square\no thing\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\n\
                    f 1/1/1 2//1 3 4\nf -4 -3 -2\n";
        let (points, triangles) = parse(text, "t.obj").unwrap();
        assert_eq!(points.len(), 4);
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
    }

    #[test]
    fn broken_files_are_refused_with_the_line() {
        for (text, line) in [
            ("v 0 0\n", "line 1"),
            ("v 0 0 0\nf 1 2 3\n", "line 2"),
            ("v 0 0 0\nf 1 1\n", "line 2"),
            ("v 0 0 x\n", "line 1"),
            ("f 0 0 0\n", "line 1"),
        ] {
            let error = parse(text, "t.obj").unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
