//! Gmsh's binary meshes, versions 2.2 and 4.1: the same sections as the ASCII ones, of which the
//! parts between the names are numbers in the order of bytes of the writing machine.

use crate::error::SceneError;
use crate::gmsh::{Cells, Element, Node, collect, kind_of};

/// Reads a mesh that is known to be binary; `version` is that of its header.
pub(crate) fn parse(bytes: &[u8], file: &str, version: f64) -> Result<Cells, SceneError> {
    let mut reader = Reader {
        bytes,
        at: 0,
        is_swapped: false,
        file,
    };
    reader.section("$MeshFormat")?;
    reader.line()?;
    let at = reader.at;
    reader.is_swapped = match reader.int()? {
        1 => false,
        0x0100_0000 => true,
        _ => {
            return Err(wrong(
                file,
                at,
                "the number 1 must follow, to tell the order of bytes",
            ));
        }
    };
    let is_old = version < 3.0;
    reader.section("$Nodes")?;
    let nodes = if is_old {
        reader.nodes_2()?
    } else {
        reader.nodes_4()?
    };
    reader.section("$Elements")?;
    let elements = if is_old {
        reader.elements_2()?
    } else {
        reader.elements_4()?
    };
    let end = reader.at;
    collect(&nodes, &elements, &|problem| wrong(file, end, problem))
}

fn wrong(file: &str, at: usize, problem: &str) -> SceneError {
    let help = "export the mesh as version 2.2 or 4.1 again";
    SceneError::unreadable(file, format!("byte {at}: {problem}"), help)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    is_swapped: bool,
    file: &'a str,
}

impl Reader<'_> {
    fn wrong(&self, problem: &str) -> SceneError {
        wrong(self.file, self.at, problem)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], SceneError> {
        let taken = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>());
        let mut taken = *taken.ok_or_else(|| self.wrong("the file ends too early"))?;
        self.at += N;
        if self.is_swapped {
            taken.reverse();
        }
        Ok(taken)
    }

    fn int(&mut self) -> Result<u32, SceneError> {
        self.take().map(u32::from_le_bytes)
    }

    fn size(&mut self) -> Result<u64, SceneError> {
        self.take().map(u64::from_le_bytes)
    }

    fn place(&mut self) -> Result<Vec<f64>, SceneError> {
        (0..3)
            .map(|_| self.take().map(f64::from_le_bytes))
            .collect()
    }

    /// The rest of the line, as text.
    fn line(&mut self) -> Result<String, SceneError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or_else(|| self.wrong("the file ends too early"))?;
        let line = rest.get(..end).unwrap_or_default();
        self.at += end + 1;
        Ok(String::from_utf8_lossy(line).trim().to_owned())
    }

    /// Goes to the line after a section's name.
    fn section(&mut self, name: &str) -> Result<(), SceneError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_there = |window: &[u8]| window == name.as_bytes();
        let begins = rest.windows(name.len()).position(is_there);
        let begins = begins.ok_or_else(|| {
            let problem = format!("there is no section {name}");
            self.wrong(&problem)
        })?;
        self.at += begins + name.len();
        self.line().map(|_| ())
    }

    fn nodes_2(&mut self) -> Result<Vec<Node>, SceneError> {
        let count = self.line()?.parse::<u64>();
        let count = count.map_err(|_| self.wrong("the number of nodes must be here"))?;
        let mut nodes = Vec::new();
        for _ in 0..count {
            let tag = self.int()?.into();
            nodes.push((tag, self.place()?));
        }
        Ok(nodes)
    }

    fn nodes_4(&mut self) -> Result<Vec<Node>, SceneError> {
        let [blocks, ..] = self.sizes::<4>()?;
        let mut nodes = Vec::new();
        for _ in 0..blocks {
            let [dimension, _, is_parametric] = self.ints::<3>()?;
            let count = self.size()?;
            let mut tags = Vec::new();
            for _ in 0..count {
                tags.push(self.size()?);
            }
            for tag in tags {
                nodes.push((tag, self.place()?));
                let more = if is_parametric == 1 {
                    dimension.min(3)
                } else {
                    0
                };
                for _ in 0..more {
                    self.size()?;
                }
            }
        }
        Ok(nodes)
    }

    fn elements_2(&mut self) -> Result<Vec<Element>, SceneError> {
        let count = self.line()?.parse::<u64>();
        let count = count.map_err(|_| self.wrong("the number of elements must be here"))?;
        let mut elements = Vec::new();
        let mut read = 0;
        while read < count {
            let [kind, follow, tags] = self.ints::<3>()?;
            let (kind, corners) = self.kind(kind.into())?;
            if follow == 0 {
                return Err(self.wrong("a block of no elements"));
            }
            for _ in 0..follow {
                for _ in 0..u64::from(tags) + 1 {
                    self.int()?;
                }
                let nodes: Result<Vec<u64>, _> =
                    (0..corners).map(|_| self.int().map(u64::from)).collect();
                let nodes = nodes?;
                elements.extend(kind.map(|kind| (kind, nodes)));
            }
            read += u64::from(follow);
        }
        Ok(elements)
    }

    fn elements_4(&mut self) -> Result<Vec<Element>, SceneError> {
        let [blocks, ..] = self.sizes::<4>()?;
        let mut elements = Vec::new();
        for _ in 0..blocks {
            let [_, _, kind] = self.ints::<3>()?;
            let (kind, corners) = self.kind(kind.into())?;
            for _ in 0..self.size()? {
                self.size()?;
                let nodes: Result<Vec<u64>, _> = (0..corners).map(|_| self.size()).collect();
                let nodes = nodes?;
                elements.extend(kind.map(|kind| (kind, nodes)));
            }
        }
        Ok(elements)
    }

    /// The kind of an element, `None` for a point, and how many nodes it has.
    fn kind(&self, kind: u64) -> Result<(Option<u32>, usize), SceneError> {
        kind_of(kind).map_err(|problem| self.wrong(&problem))
    }

    fn ints<const N: usize>(&mut self) -> Result<[u32; N], SceneError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.int()?;
        }
        Ok(numbers)
    }

    fn sizes<const N: usize>(&mut self) -> Result<[u64; N], SceneError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.size()?;
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    /// A tetrahedron and one of its triangles, with bytes in either order.
    fn tetrahedron(version: &str, is_big: bool) -> Vec<u8> {
        let int = |n: u32| {
            if is_big {
                n.to_be_bytes()
            } else {
                n.to_le_bytes()
            }
        };
        let size = |n: u64| {
            if is_big {
                n.to_be_bytes()
            } else {
                n.to_le_bytes()
            }
        };
        let real = |x: f64| size(x.to_bits());
        let places = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut bytes = format!("$MeshFormat\n{version} 1 8\n").into_bytes();
        bytes.extend(int(1));
        bytes.extend(b"\n$EndMeshFormat\n$Nodes\n");
        if version == "2.2" {
            bytes.extend(b"4\n");
            for (tag, place) in (1..).zip(places) {
                bytes.extend(int(tag));
                place.iter().for_each(|&x| bytes.extend(real(x)));
            }
            bytes.extend(b"\n$EndNodes\n$Elements\n2\n");
            for row in [
                &[2, 1, 2, 1, 0, 1, 1, 2, 3][..],
                &[4, 1, 2, 2, 0, 1, 1, 2, 3, 4],
            ] {
                row.iter().for_each(|&n| bytes.extend(int(n)));
            }
        } else {
            [1, 4, 1, 4].iter().for_each(|&n| bytes.extend(size(n)));
            [3, 1, 0].iter().for_each(|&n| bytes.extend(int(n)));
            [4, 1, 2, 3, 4].iter().for_each(|&n| bytes.extend(size(n)));
            places
                .as_flattened()
                .iter()
                .for_each(|&x| bytes.extend(real(x)));
            bytes.extend(b"\n$EndNodes\n$Elements\n");
            [2, 2, 1, 2].iter().for_each(|&n| bytes.extend(size(n)));
            [2, 1, 2].iter().for_each(|&n| bytes.extend(int(n)));
            [1, 1, 1, 2, 3].iter().for_each(|&n| bytes.extend(size(n)));
            [3, 1, 4].iter().for_each(|&n| bytes.extend(int(n)));
            [1, 2, 1, 2, 3, 4]
                .iter()
                .for_each(|&n| bytes.extend(size(n)));
        }
        bytes.extend(b"\n$EndElements\n");
        bytes
    }

    #[test]
    fn binary_meshes_of_both_versions_and_orders_of_bytes_are_read() {
        for version in ["2.2", "4.1"] {
            for is_big in [false, true] {
                let mesh = crate::gmsh::parse(&tetrahedron(version, is_big), "t.msh").unwrap();
                assert_eq!(mesh.tetrahedra, [[0, 1, 2, 3]], "{version} {is_big}");
                assert_eq!(mesh.points[1], [1.0, 0.0, 0.0]);
                assert!(mesh.triangles.is_empty());
            }
        }
    }

    #[test]
    fn binary_meshes_that_end_early_are_refused_and_never_panic() {
        for version in ["2.2", "4.1"] {
            let whole = tetrahedron(version, false);
            for length in 0..whole.len() - 16 {
                let cut = whole.get(..length).unwrap();
                assert!(
                    crate::gmsh::parse(cut, "t.msh").is_err(),
                    "{version} {length}"
                );
            }
            // Counts that the bytes do not bear out are no reason to allocate.
            for at in 0..whole.len() {
                let mut changed = whole.clone();
                changed[at] = 0xff;
                let _ = crate::gmsh::parse(&changed, "t.msh");
            }
        }
    }
}
