//! Solids with a radius around them: mass, and triangles to draw them with.
//!
//! All that is within r of a convex core is the core, a prism over each face, a sector of a
//! cylinder along each edge and a sector of a ball at each corner (that is how Steiner's formula
//! for its volume comes about). Each has volume, first and second moments in closed form:
//!
//! * **face**: the triangles of its fan, as high as r; a quadrature that is exact for squares.
//! * **edge** of length L between face normals at an angle θ: ½ L r² θ.
//! * **corner**: the directions between the normals of its faces are a polygon Ω on the unit
//!   sphere, whose area is the corner's angle defect, $|\Omega| = 2\pi - \sum \alpha$. From
//!   Stokes' theorem, with the outward unit vector ν across each arc (it is the direction of the
//!   edge that the arc belongs to), arcs of length θ from a to b give
//!
//! $$ \int_\Omega \omega = -\tfrac12\sum \theta\,\nu, \qquad
//!    \int_\Omega \omega\omega^T = \tfrac13\Bigl(|\Omega|\,1
//!       - \sum \tan\tfrac\theta2\,(a + b)\,\nu^T\Bigr) . $$
//!
//! Cylinders and cones are turned from an outline of straight lines and arcs; the integrals along
//! it are smooth and sixteen Gauss points a piece leave nothing but rounding.

use glamx::{DMat3, DVec2, DVec3};

use super::polyhedron::Polyhedron;

/// Volume (m³), and first (m⁴) and second moments (m⁵) about the origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) volume: f64,
    pub(crate) first: DVec3,
    pub(crate) second: DMat3,
}

impl Default for Moments {
    fn default() -> Self {
        Self {
            volume: 0.0,
            first: DVec3::ZERO,
            second: DMat3::ZERO,
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Moments {
    /// Adds moments given about `point`.
    fn add_at(&mut self, point: DVec3, other: &Self) {
        self.volume += other.volume;
        self.first += other.first + point * other.volume;
        self.second += other.second
            + outer(point, other.first)
            + outer(other.first, point)
            + outer(point, point) * other.volume;
    }

    /// Adds a part of the volume that is all in one point.
    fn add_point(&mut self, point: DVec3, volume: f64) {
        self.volume += volume;
        self.first += point * volume;
        self.second += outer(point, point) * volume;
    }

    /// Centre, and inertia about it for a density of 1.
    pub(crate) fn center_and_inertia(&self) -> (DVec3, DMat3) {
        let center = self.first * (1.0 / self.volume);
        let about = self.second - outer(center, center) * self.volume;
        let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        (center, DMat3::from_diagonal(DVec3::splat(trace)) - about)
    }
}

/// Moments of the inside of a closed surface of triangles, corners counter-clockwise seen from
/// outside.
pub(crate) fn of_triangles(triangles: impl Iterator<Item = [DVec3; 3]>) -> Moments {
    let mut sum = Moments::default();
    for [a, b, c] in triangles {
        // A tetrahedron with its fourth corner at the origin.
        let volume = a.dot(b.cross(c)) / 6.0;
        let total = a + b + c;
        sum.volume += volume;
        sum.first += total * (0.25 * volume);
        let squares = outer(a, a) + outer(b, b) + outer(c, c) + outer(total, total);
        sum.second += squares * (volume / 20.0);
    }
    sum
}

/// Triangles of the fans of all faces.
fn fans(hull: &Polyhedron) -> impl Iterator<Item = (usize, [DVec3; 3])> + '_ {
    (0..hull.normals.len()).flat_map(move |k| {
        let corners = hull.face(k);
        corners
            .windows(2)
            .skip(1)
            .map(move |w| (k, [corners[0], w[0], w[1]].map(|c| hull.point(c))))
    })
}

/// Moments of all that is within `radius` of a polyhedron.
pub(crate) fn of_polyhedron(hull: &Polyhedron, radius: f64) -> Moments {
    let mut sum = of_triangles(fans(hull).map(|(_, triangle)| triangle));
    for (face, [a, b, c]) in fans(hull) {
        let normal = hull.normals[face];
        let part = 0.5 * (b - a).cross(c - a).length() * radius / 6.0;
        // Mid-points of the sides are exact for squares in a triangle, two Gauss points along
        // the height.
        for middle in [a + b, b + c, c + a] {
            for place in [0.5 - 0.5 / 3.0_f64.sqrt(), 0.5 + 0.5 / 3.0_f64.sqrt()] {
                sum.add_point(middle * 0.5 + normal * (radius * place), part);
            }
        }
    }
    let mut corners = vec![Moments::default(); hull.points.len()];
    for edge in &hull.edges {
        let normals = edge.faces.map(|f| hull.normals[f as usize]);
        let ends = edge.ends.map(|k| hull.point(k));
        add_edge(&mut sum, ends, normals, radius);
        let angle = normals[0].cross(normals[1]).length();
        let angle = libm::atan2(angle, normals[0].dot(normals[1]));
        for (k, (from, to)) in [(0, (ends[0], ends[1])), (1, (ends[1], ends[0]))] {
            let outward = (to - from).normalize();
            let sector = &mut corners[edge.ends[k] as usize];
            sector.first -= outward * (0.5 * angle);
            let along_arc = (normals[0] + normals[1]) * libm::tan(0.5 * angle);
            sector.second -= outer(along_arc, outward) * (1.0 / 3.0);
        }
    }
    for (k, mut sector) in corners.into_iter().enumerate() {
        sector.volume = angle_defect(hull, k as u32);
        sector.second += DMat3::from_diagonal(DVec3::splat(sector.volume / 3.0));
        // Symmetric but for rounding.
        sector.second = (sector.second + sector.second.transpose()) * 0.5;
        let (r3, r4) = (radius.powi(3) / 3.0, radius.powi(4) / 4.0);
        let of_ball = Moments {
            volume: sector.volume * r3,
            first: sector.first * r4,
            second: sector.second * (radius.powi(5) / 5.0),
        };
        sum.add_at(hull.points[k], &of_ball);
    }
    sum
}

/// The sector of a cylinder along an edge, between the normals of its faces.
fn add_edge(sum: &mut Moments, ends: [DVec3; 2], normals: [DVec3; 2], radius: f64) {
    let along = ends[1] - ends[0];
    let length = along.length();
    let cos = normals[0].dot(normals[1]);
    let across = normals[1] - normals[0] * cos;
    let sin = across.length();
    if sin <= 1e-12 || length <= 0.0 {
        return;
    }
    let (u, v) = (normals[0], across * (1.0 / sin));
    let angle = libm::atan2(sin, cos);
    // Integrals over the arc of w = u cos + v sin, and of w wᵀ.
    let first = u * sin + v * (1.0 - cos);
    let (uu, vv) = (0.5 * (angle + sin * cos), 0.5 * (angle - sin * cos));
    let second =
        outer(u, u) * uu + outer(v, v) * vv + (outer(u, v) + outer(v, u)) * (0.5 * sin * sin);
    let area = 0.5 * radius * radius * angle;
    let sector = Moments {
        volume: length * area,
        first: first * (length * radius.powi(3) / 3.0),
        second: outer(along, along) * (length * area / 12.0)
            + second * (length * radius.powi(4) / 4.0),
    };
    sum.add_at((ends[0] + ends[1]) * 0.5, &sector);
}

/// 2π less the angles of the faces at a corner: the solid angle of its normals.
fn angle_defect(hull: &Polyhedron, corner: u32) -> f64 {
    let mut defect = std::f64::consts::TAU;
    for loop_of in hull.faces() {
        let count = loop_of.len();
        for k in (0..count).filter(|&k| loop_of[k] == corner) {
            let at = hull.point(corner);
            let next = hull.point(loop_of[(k + 1) % count]) - at;
            let previous = hull.point(loop_of[(k + count - 1) % count]) - at;
            defect -= libm::atan2(next.cross(previous).length(), next.dot(previous));
        }
    }
    defect
}

/// A piece of the outline of a solid of revolution about y; x is the distance from the axis.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stroke {
    Line(DVec2, DVec2),
    /// Centre, radius, and the angles (from +x, towards +y) of start and end.
    Arc(DVec2, f64, [f64; 2]),
}

impl Stroke {
    /// Point and derivative at t from 0 to 1.
    fn at(&self, t: f64) -> (DVec2, DVec2) {
        match *self {
            Self::Line(from, to) => (from + (to - from) * t, to - from),
            Self::Arc(center, radius, [start, end]) => {
                let (sin, cos) = libm::sincos(start + (end - start) * t);
                (
                    center + DVec2::new(cos, sin) * radius,
                    DVec2::new(-sin, cos) * (radius * (end - start)),
                )
            }
        }
    }
}

/// The outline of a cylinder with a radius around it, from the bottom to the top.
pub(crate) fn cylinder_outline(half_height: f64, radius: f64, rounding: f64) -> Vec<Stroke> {
    use std::f64::consts::FRAC_PI_2;
    let corner = |y: f64| DVec2::new(radius, y);
    let side = DVec2::X * rounding;
    vec![
        Stroke::Arc(corner(-half_height), rounding, [-FRAC_PI_2, 0.0]),
        Stroke::Line(corner(-half_height) + side, corner(half_height) + side),
        Stroke::Arc(corner(half_height), rounding, [0.0, FRAC_PI_2]),
    ]
}

/// The outline of a cone (tip at +y) with a radius around it, from the bottom to the top.
pub(crate) fn cone_outline(half_height: f64, radius: f64, rounding: f64) -> Vec<Stroke> {
    use std::f64::consts::FRAC_PI_2;
    let (base, tip) = (DVec2::new(radius, -half_height), DVec2::Y * half_height);
    let slope = libm::atan2(radius, 2.0 * half_height);
    let out = DVec2::new(libm::cos(slope), libm::sin(slope)) * rounding;
    vec![
        Stroke::Arc(base, rounding, [-FRAC_PI_2, slope]),
        Stroke::Line(base + out, tip + out),
        Stroke::Arc(tip, rounding, [slope, FRAC_PI_2]),
    ]
}

/// Nodes and weights of Gauss's rule with eight points on 0 to 1, by halves.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_3),
];

/// Moments of a solid of revolution about y. Its outline ends on the axis or in flat ends.
pub(crate) fn of_revolution(outline: &[Stroke]) -> Moments {
    let mut sum = Moments::default();
    for stroke in outline {
        for half in [0.0, 0.5] {
            for (node, weight) in GAUSS {
                for t in [0.5 - 0.5 * node, 0.5 + 0.5 * node] {
                    let (at, slope) = stroke.at(half + 0.5 * t);
                    // A disk of radius x and thickness dy.
                    let disk = std::f64::consts::PI * at.x * at.x * slope.y * weight * 0.25;
                    sum.volume += disk;
                    sum.first += DVec3::Y * (disk * at.y);
                    let across = 0.25 * disk * at.x * at.x;
                    let along = disk * at.y * at.y;
                    sum.second += DMat3::from_diagonal(DVec3::new(across, along, across));
                }
            }
        }
    }
    sum
}

/// Points and triangles of a surface.
pub(crate) type Triangles = (Vec<DVec3>, Vec<[u32; 3]>);

/// Steps of a quarter turn, to draw.
const FINE: usize = 6;

/// The surface of a solid of revolution, to draw.
pub(crate) fn draw_revolution(outline: &[Stroke]) -> Triangles {
    let around = 8 * FINE;
    let mut profile: Vec<DVec2> = Vec::new();
    for stroke in outline {
        let steps = match stroke {
            Stroke::Line(..) => 1,
            Stroke::Arc(..) => FINE,
        };
        let first = usize::from(!profile.is_empty());
        profile.extend((first..=steps).map(|k| stroke.at(k as f64 / steps as f64).0));
    }
    let mut points = Vec::new();
    for place in &profile {
        for k in 0..around {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / around as f64);
            points.push(DVec3::new(place.x * cos, place.y, -place.x * sin));
        }
    }
    let index = |row: usize, k: usize| (row * around + k % around) as u32;
    let mut triangles = Vec::new();
    for row in 1..profile.len() {
        for k in 0..around {
            let [a, b] = [index(row - 1, k), index(row - 1, k + 1)];
            let [c, d] = [index(row, k), index(row, k + 1)];
            triangles.extend([[a, b, c], [c, b, d]]);
        }
    }
    for (row, is_top) in [(0, false), (profile.len() - 1, true)] {
        points.push(DVec3::Y * profile[row].y);
        let middle = points.len() as u32 - 1;
        triangles.extend((0..around).map(|k| {
            let [a, b] = [index(row, k), index(row, k + 1)];
            if is_top {
                [middle, a, b]
            } else {
                [middle, b, a]
            }
        }));
    }
    (points, triangles)
}

/// Points on the surface of a polyhedron with a radius around it; their convex hull is drawn.
pub(crate) fn draw_points(hull: &Polyhedron, radius: f64) -> Vec<DVec3> {
    let mut directions: Vec<Vec<DVec3>> = vec![Vec::new(); hull.points.len()];
    for edge in &hull.edges {
        let [m, n] = edge.faces.map(|f| hull.normals[f as usize]);
        let arc = (0..=FINE).map(|k| {
            let t = k as f64 / FINE as f64;
            (m * (1.0 - t) + n * t).normalize_or(m)
        });
        for end in edge.ends {
            directions[end as usize].extend(arc.clone());
        }
    }
    let mut points = Vec::new();
    for (corner, arcs) in hull.points.iter().zip(&directions) {
        let middle = arcs.iter().sum::<DVec3>().normalize_or(DVec3::Y);
        for direction in arcs {
            for k in 0..FINE {
                let t = k as f64 / FINE as f64;
                let between = (*direction * (1.0 - t) + middle * t).normalize_or(middle);
                points.push(*corner + between * radius);
            }
        }
        points.push(*corner + middle * radius);
    }
    points
}
