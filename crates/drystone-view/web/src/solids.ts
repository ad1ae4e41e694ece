/** Forms of 3D stages as geometry. Forms of one kind share a geometry where scaling allows it. */
import {
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  ConeGeometry,
  CylinderGeometry,
  PlaneGeometry,
  SphereGeometry,
} from 'three';
import type { Form, Vec3 } from './types';

/** A form as a shared geometry and its scale. */
export interface Drawable {
  /** Same key, same geometry. */
  key: string;
  /** @param detail 1 for the finest, less where there are many. */
  make(detail: number): BufferGeometry;
  scale: Vec3;
  round: boolean;
  /** A half-space: drawn apart as ground. */
  ground?: Vec3;
}

const ONE: Vec3 = [1, 1, 1];

/** Edges of boxes are cut by this share of the shortest edge, so that light shows them. */
const CHAMFER = 0.035;

/** Instances of one form up to which it is drawn as finely as can be seen. */
const FEW = 600;

/** How finely forms are drawn of which there are so many. */
export function detailOf(instances: number): number {
  return Math.min(1, Math.max(0.3, Math.sqrt(FEW / instances)));
}

/** Facets around a round form. */
function around(finest: number, detail: number): number {
  return Math.max(8, Math.round(finest * detail));
}

export function solid(form: Form): Drawable {
  if ('ball' in form) {
    const { radius } = form.ball;
    return { key: 'ball', make: (detail) => new SphereGeometry(1, around(32, detail), around(20, detail)), scale: [radius, radius, radius], round: true };
  }
  if ('box' in form) {
    const { half } = form.box;
    return { key: `box ${half.map((edge) => edge.toPrecision(4)).join()}`, make: () => chamferedBox(half), scale: ONE, round: false };
  }
  if ('capsule' in form) {
    const { half_length, radius } = form.capsule;
    return {
      key: `capsule ${half_length} ${radius}`,
      make: (detail) => new CapsuleGeometry(radius, 2 * half_length, Math.max(3, Math.round(10 * detail)), around(24, detail)),
      scale: ONE,
      round: true,
    };
  }
  if ('cylinder' in form) {
    const { half_height, radius } = form.cylinder;
    return { key: 'cylinder', make: (detail) => new CylinderGeometry(1, 1, 2, around(40, detail)), scale: [radius, half_height, radius], round: true };
  }
  if ('cone' in form) {
    const { half_height, radius } = form.cone;
    return { key: 'cone', make: (detail) => new ConeGeometry(1, 2, around(40, detail)), scale: [radius, half_height, radius], round: true };
  }
  if ('half_space' in form) {
    return { key: 'ground', make: () => new PlaneGeometry(1, 1), scale: ONE, round: false, ground: form.half_space.normal };
  }
  if ('mesh' in form) {
    const { points, triangles } = form.mesh;
    return { key: `mesh ${JSON.stringify(form.mesh)}`, make: () => facets(points, triangles), scale: ONE, round: false };
  }
  const { points } = form.outline;
  return { key: `outline ${JSON.stringify(points)}`, make: () => facets(points, fan(points.length)), scale: ONE, round: false };
}

function fan(count: number): Vec3[] {
  return Array.from({ length: Math.max(count - 2, 0) }, (_, k): Vec3 => [0, k + 1, k + 2]);
}

/** Triangles that do not share corners, so that each is flat. */
export function facets(points: Vec3[], triangles: Vec3[]): BufferGeometry {
  const corners = triangles.flatMap((triangle) => triangle.flatMap((k) => points[k] ?? [0, 0, 0]));
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(corners), 3));
  geometry.computeVertexNormals();
  return geometry;
}

/**
 * A box with cut edges. Each corner of the box becomes three points, one on each of its faces;
 * 6 faces, 12 edges and 8 corners are the hull of these 24.
 */
function chamferedBox(half: Vec3): BufferGeometry {
  const cut = CHAMFER * 2 * Math.min(...half);
  const corner = (signs: Vec3, face: number): Vec3 =>
    signs.map((sign, axis) => sign * (half[axis] - (axis === face ? 0 : cut))) as Vec3;
  const points: Vec3[] = [];
  const triangles: Vec3[] = [];
  // Turned so that it faces outwards: a convex solid around the origin.
  const polygon = (corners: Vec3[]) => {
    const [a, b, c] = corners;
    const u = b.map((x, k) => x - a[k]);
    const v = c.map((x, k) => x - a[k]);
    const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const outward = normal.reduce((sum, x, k) => sum + x * (a[k] + b[k] + c[k]), 0);
    const ordered = outward < 0 ? [...corners].reverse() : corners;
    const first = points.length;
    points.push(...ordered);
    triangles.push(...fan(corners.length).map((t) => t.map((k) => k + first) as Vec3));
  };
  const signs = [-1, 1];
  for (let axis = 0; axis < 3; axis += 1) {
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    const at = (s: number, su: number, sv: number): Vec3 => {
      const result: Vec3 = [0, 0, 0];
      [result[axis], result[u], result[v]] = [s, su, sv];
      return result;
    };
    for (const s of signs) {
      polygon([at(s, -1, -1), at(s, 1, -1), at(s, 1, 1), at(s, -1, 1)].map((c) => corner(c, axis)));
    }
    // The edges along this axis lie between the faces of the other two.
    for (const su of signs) {
      for (const sv of signs) {
        const [low, high] = [at(-1, su, sv), at(1, su, sv)];
        polygon([corner(low, u), corner(high, u), corner(high, v), corner(low, v)]);
      }
    }
  }
  for (const x of signs) for (const y of signs) for (const z of signs) polygon([0, 1, 2].map((axis) => corner([x, y, z], axis)));
  return facets(points, triangles);
}
