//! Gmsh's meshes, versions 2.2 and 4.1: nodes, lines, triangles and tetrahedra.
//! Binary ones are read by [`crate::gmsh_binary`].
//!
//! A file with tetrahedra has triangles on its border and lines on its edges too; only the cells
//! of the highest dimension are kept, and the nodes that they use, in the order of the file.

use crate::error::SceneError;
use std::collections::BTreeMap;

/// Kinds of elements in Gmsh's numbering: line, triangle, tetrahedron of first order.
const LINE: u32 = 1;
const TRIANGLE: u32 = 2;
const TETRAHEDRON: u32 = 4;
/// A point, of which there is nothing to keep.
const POINT: u32 = 15;

/// What a file holds: cells of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cells {
    pub(crate) points: Vec<Vec<f64>>,
    pub(crate) lines: Vec<[u32; 2]>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) tetrahedra: Vec<[u32; 4]>,
}

/// Reads a mesh, ASCII or binary.
pub(crate) fn parse(bytes: &[u8], file: &str) -> Result<Cells, SceneError> {
    if let Some(version) = binary_version(bytes) {
        return crate::gmsh_binary::parse(bytes, file, version);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let problem = format!("byte {} is not UTF-8", error.valid_up_to());
        SceneError::unreadable(file, problem, "export the mesh as version 2.2 or 4.1 again")
    })?;
    let mut reader = Reader {
        lines: (1..).zip(text.lines()).collect(),
        at: 0,
        file,
    };
    let version = reader.version()?;
    reader.section("$Nodes")?;
    let nodes = if version < 3.0 {
        reader.nodes_2()?
    } else {
        reader.nodes_4()?
    };
    reader.section("$Elements")?;
    let elements = if version < 3.0 {
        reader.elements_2()?
    } else {
        reader.elements_4()?
    };
    collect(&nodes, &elements, &|problem| reader.wrong(problem))
}

/// The version of a mesh that is binary; `None` for any other file.
fn binary_version(bytes: &[u8]) -> Option<f64> {
    let header = bytes.trim_ascii_start().strip_prefix(b"$MeshFormat")?;
    let line = header
        .trim_ascii_start()
        .split(|&byte| byte == b'\n')
        .next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let version: f64 = words.next()?.parse().ok()?;
    let is_binary = words.next() == Some("1") && words.next() == Some("8");
    let is_known = (2.0..2.3).contains(&version) || (4.1..4.2).contains(&version);
    (is_binary && is_known).then_some(version)
}

/// A node's tag and place.
pub(crate) type Node = (u64, Vec<f64>);
/// An element's kind and its nodes' tags.
pub(crate) type Element = (u32, Vec<u64>);

struct Reader<'a> {
    /// With their numbers from 1.
    lines: Vec<(usize, &'a str)>,
    at: usize,
    file: &'a str,
}

impl<'a> Reader<'a> {
    fn wrong(&self, problem: &str) -> SceneError {
        let line = self.lines.get(self.at.saturating_sub(1));
        let problem = match line {
            Some((number, _)) => format!("line {number}: {problem}"),
            None => problem.to_owned(),
        };
        let help = "export the mesh as version 2.2 or 4.1";
        SceneError::unreadable(self.file, problem, help)
    }

    fn next(&mut self) -> Result<&'a str, SceneError> {
        let line = self.lines.get(self.at).map(|(_, line)| *line);
        self.at += 1;
        line.ok_or_else(|| {
            let help = "export the mesh again";
            SceneError::unreadable(self.file, "the file ends too early", help)
        })
    }

    /// The numbers of the next line, at least `least` of them.
    fn numbers<T: std::str::FromStr>(&mut self, least: usize) -> Result<Vec<T>, SceneError> {
        let line = self.next()?;
        let numbers: Result<Vec<T>, _> = line.split_whitespace().map(str::parse).collect();
        match numbers {
            Ok(numbers) if numbers.len() >= least => Ok(numbers),
            _ => Err(self.wrong(&format!("there must be {least} numbers or more"))),
        }
    }

    /// Goes to the line after a section's name.
    fn section(&mut self, name: &str) -> Result<(), SceneError> {
        loop {
            match self.lines.get(self.at) {
                Some((_, line)) if line.trim() == name => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.at += 1,
                None => {
                    let problem = format!("there is no section {name}");
                    return Err(SceneError::unreadable(
                        self.file,
                        problem,
                        "export the mesh as version 2.2 or 4.1",
                    ));
                }
            }
        }
    }

    fn version(&mut self) -> Result<f64, SceneError> {
        self.section("$MeshFormat")?;
        let numbers: Vec<f64> = self.numbers(3)?;
        let is_known = (2.0..2.3).contains(&numbers[0]) || (4.1..4.2).contains(&numbers[0]);
        if !is_known || numbers[1] != 0.0 {
            return Err(self.wrong("only files of the versions 2.2 and 4.1 can be read"));
        }
        Ok(numbers[0])
    }

    fn nodes_2(&mut self) -> Result<Vec<Node>, SceneError> {
        let count = self.numbers::<u64>(1)?[0];
        let mut nodes = Vec::new();
        for _ in 0..count {
            let line = self.next()?;
            let mut words = line.split_whitespace();
            let tag = words.next().and_then(|word| word.parse().ok());
            let place: Option<Vec<f64>> = words.take(3).map(|word| word.parse().ok()).collect();
            match (tag, place) {
                (Some(tag), Some(place)) if place.len() == 3 => nodes.push((tag, place)),
                _ => return Err(self.wrong("a node is its number and three coordinates")),
            }
        }
        Ok(nodes)
    }

    fn nodes_4(&mut self) -> Result<Vec<Node>, SceneError> {
        let blocks = self.numbers::<u64>(4)?[0];
        let mut nodes = Vec::new();
        for _ in 0..blocks {
            let count = self.numbers::<u64>(4)?[3];
            let mut tags = Vec::new();
            for _ in 0..count {
                tags.push(self.numbers::<u64>(1)?[0]);
            }
            for tag in tags {
                let mut place: Vec<f64> = self.numbers(3)?;
                place.truncate(3);
                nodes.push((tag, place));
            }
        }
        Ok(nodes)
    }

    fn elements_2(&mut self) -> Result<Vec<Element>, SceneError> {
        let count = self.numbers::<u64>(1)?[0];
        let mut elements = Vec::new();
        for _ in 0..count {
            let numbers: Vec<u64> = self.numbers(3)?;
            let skipped = usize::try_from(numbers[2]).map_or(usize::MAX, |n| n.saturating_add(3));
            let corners = numbers.get(skipped..).unwrap_or(&[]);
            elements.extend(self.element(numbers[1], corners)?);
        }
        Ok(elements)
    }

    fn elements_4(&mut self) -> Result<Vec<Element>, SceneError> {
        let blocks = self.numbers::<u64>(4)?[0];
        let mut elements = Vec::new();
        for _ in 0..blocks {
            let head: Vec<u64> = self.numbers(4)?;
            for _ in 0..head[3] {
                let numbers: Vec<u64> = self.numbers(2)?;
                elements.extend(self.element(head[2], &numbers[1..])?);
            }
        }
        Ok(elements)
    }

    fn element(&self, kind: u64, corners: &[u64]) -> Result<Option<Element>, SceneError> {
        let (kind, count) = match kind_of(kind).map_err(|problem| self.wrong(&problem))? {
            (Some(kind), count) => (kind, count),
            (None, _) => return Ok(None),
        };
        if corners.len() != count {
            return Err(self.wrong(&format!("this element needs {count} nodes")));
        }
        Ok(Some((kind, corners.to_vec())))
    }
}

/// What is kept of an element of a kind, `None` for a point, and how many nodes it has.
pub(crate) fn kind_of(kind: u64) -> Result<(Option<u32>, usize), String> {
    match u32::try_from(kind).unwrap_or(u32::MAX) {
        LINE => Ok((Some(LINE), 2)),
        TRIANGLE => Ok((Some(TRIANGLE), 3)),
        TETRAHEDRON => Ok((Some(TETRAHEDRON), 4)),
        POINT => Ok((None, 1)),
        other => Err(format!(
            "elements of kind {other} can't be used, only lines, triangles and tetrahedra of \
             first order"
        )),
    }
}

/// Keeps the cells of the highest dimension and the nodes they use.
pub(crate) fn collect(
    nodes: &[Node],
    elements: &[Element],
    wrong: &dyn Fn(&str) -> SceneError,
) -> Result<Cells, SceneError> {
    let highest = elements.iter().map(|(kind, _)| *kind).max();
    let kept = || elements.iter().filter(|(kind, _)| Some(*kind) == highest);
    let mut number: BTreeMap<u64, u32> = BTreeMap::new();
    let used: std::collections::BTreeSet<u64> = kept()
        .flat_map(|(_, corners)| corners.iter().copied())
        .collect();
    let mut cells = Cells::default();
    for (tag, place) in nodes.iter().filter(|(tag, _)| used.contains(tag)) {
        let known = number.insert(*tag, cells.points.len() as u32);
        if known.is_some() {
            return Err(wrong(&format!("node {tag} is there twice")));
        }
        cells.points.push(place.clone());
    }
    for (_, corners) in kept() {
        let found: Option<Vec<u32>> = corners.iter().map(|tag| number.get(tag).copied()).collect();
        match found.as_deref() {
            Some(&[a, b]) => cells.lines.push([a, b]),
            Some(&[a, b, c]) => cells.triangles.push([a, b, c]),
            Some(&[a, b, c, d]) => cells.tetrahedra.push([a, b, c, d]),
            _ => return Err(wrong("an element names a node that is not there")),
        }
    }
    if highest.is_none() {
        return Err(wrong("there are no lines, triangles or tetrahedra"));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const OLD: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n\
        3 0 1 0\n7 0 0 1\n9 5 5 5\n$EndNodes\n$Elements\n3\n1 15 2 0 1 1\n2 2 2 0 1 1 2 3\n\
        3 4 2 0 1 1 2 3 7\n$EndElements\n";
    const NEW: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 0\n$EndEntities\n\
        $Nodes\n2 4 1 7\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n3 1 0 1\n7\n0 0 1\n$EndNodes\n\
        $Elements\n2 2 1 2\n2 1 2 1\n1 1 2 3\n3 1 4 1\n2 1 2 3 7\n$EndElements\n";

    #[test]
    fn both_versions_give_the_same_tetrahedron_without_unused_nodes() {
        for text in [OLD, NEW] {
            let mesh = parse(text.as_bytes(), "t.msh").unwrap();
            assert_eq!(mesh.points.len(), 4);
            assert_eq!(mesh.points[3], [0.0, 0.0, 1.0]);
            assert_eq!(mesh.tetrahedra, [[0, 1, 2, 3]]);
            assert!(mesh.triangles.is_empty() && mesh.lines.is_empty());
        }
    }

    #[test]
    fn broken_files_are_refused_with_the_line() {
        for (text, part) in [
            ("", "$MeshFormat"),
            ("$MeshFormat\n3.0 0 8\n", "line 2"),
            ("$MeshFormat\n2.2 2 8\n", "line 2"),
            ("$MeshFormat\n2.2 1 8\n", "ends too early"),
            ("$MeshFormat\n2.2 0 8\n$Nodes\n1\n1 0 0\n", "line 5"),
            (
                "$MeshFormat\n2.2 0 8\n$Nodes\n2\n1 0 0 0\n",
                "ends too early",
            ),
            (&OLD.replace("1 2 3 7", "1 2 3 8"), "not there"),
            (&OLD.replace("3 4 2", "3 11 2"), "kind 11"),
            (&OLD.replace("7 0 0 1\n", "2 0 0 1\n"), "twice"),
        ] {
            let error = parse(text.as_bytes(), "t.msh").unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
