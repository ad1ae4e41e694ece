/** Forms of 2D stages: fills with darker outlines, in one geometry with colours at its corners. */
import { BufferAttribute, BufferGeometry } from 'three';
import type { Drawable } from './solids';
import type { Form, Vec3 } from './types';

type Vec2 = [number, number];

/** Outlines are this share of the fill's light. */
const OUTLINE_SHADE = 0.28;

/** Corners of a full circle. */
const CIRCLE = 56;

/** A form whose outline is `line` m wide. */
export function flat(form: Form, line: number): Drawable {
  const key = `${JSON.stringify(form)} ${line.toPrecision(3)}`;
  const drawable = (make: () => BufferGeometry, round = false): Drawable => ({ key, make, scale: [1, 1, 1], round });
  if ('ball' in form) {
    const { radius } = form.ball;
    return drawable(() => disk(radius, line), true);
  }
  if ('box' in form) {
    const [x, y] = form.box.half;
    const corners: Vec2[] = [
      [-x, -y],
      [x, -y],
      [x, y],
      [-x, y],
    ];
    return drawable(() => filled(corners, line));
  }
  if ('capsule' in form) {
    const { half_length, radius } = form.capsule;
    return drawable(() => filled(capsule(half_length, radius), line), true);
  }
  if ('half_space' in form) return { ...drawable(() => new BufferGeometry()), key: 'ground', ground: form.half_space.normal };
  if ('outline' in form) {
    const points = form.outline.points.map(([x, y]): Vec2 => [x, y]);
    return drawable(() => (form.outline.closed ? filled(points, line) : polyline(points, 2 * line)));
  }
  if ('mesh' in form) {
    const points = form.mesh.points.map(([x, y]): Vec2 => [x, y]);
    const sheet = new Sheet();
    for (const triangle of form.mesh.triangles) sheet.triangle(triangle.map((k) => points[k]) as [Vec2, Vec2, Vec2], 1);
    return drawable(() => sheet.geometry());
  }
  const { half_height, radius } = 'cylinder' in form ? form.cylinder : form.cone;
  const top = 'cylinder' in form ? radius : 0;
  const corners: Vec2[] = [
    [-radius, -half_height],
    [radius, -half_height],
    [top, half_height],
    [-top, half_height],
  ];
  return drawable(() => filled(corners, line), true);
}

/** Triangles with a shade at each corner. */
class Sheet {
  private readonly positions: number[] = [];
  private readonly shades: number[] = [];

  triangle(corners: [Vec2, Vec2, Vec2], shade: number): void {
    for (const [x, y] of corners) {
      this.positions.push(x, y, 0);
      this.shades.push(shade, shade, shade);
    }
  }

  /** The band between two closed lines with equally many corners. */
  band(outer: Vec2[], inner: Vec2[], shade: number): void {
    outer.forEach((corner, k) => {
      const next = (k + 1) % outer.length;
      this.triangle([corner, outer[next], inner[next]], shade);
      this.triangle([corner, inner[next], inner[k]], shade);
    });
  }

  fan(corners: Vec2[]): void {
    for (let k = 1; k + 1 < corners.length; k += 1) this.triangle([corners[0], corners[k], corners[k + 1]], 1);
  }

  geometry(): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(this.positions), 3));
    geometry.setAttribute('color', new BufferAttribute(new Float32Array(this.shades), 3));
    return geometry;
  }
}

function filled(corners: Vec2[], line: number): BufferGeometry {
  const sheet = new Sheet();
  const inner = inset(corners, line);
  sheet.fan(inner);
  sheet.band(corners, inner, OUTLINE_SHADE);
  return sheet.geometry();
}

function disk(radius: number, line: number): BufferGeometry {
  const circle = (r: number) => arc(r, 0, 2 * Math.PI, CIRCLE);
  const width = Math.min(line, 0.5 * radius);
  const sheet = new Sheet();
  sheet.fan(circle(radius - width));
  sheet.band(circle(radius), circle(radius - width), OUTLINE_SHADE);
  // A spoke, so that turning is seen.
  const thin = 0.4 * width;
  const end = radius - width;
  sheet.triangle([[0, -thin], [end, -thin], [end, thin]], OUTLINE_SHADE * 1.6);
  sheet.triangle([[0, -thin], [end, thin], [0, thin]], OUTLINE_SHADE * 1.6);
  return sheet.geometry();
}

function arc(radius: number, from: number, to: number, count: number): Vec2[] {
  return Array.from({ length: count }, (_, k): Vec2 => {
    const angle = from + ((to - from) * k) / count;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
}

function capsule(halfLength: number, radius: number): Vec2[] {
  const cap = (from: number, shift: number) => {
    const points = arc(radius, from, from + Math.PI, 20);
    points.push([radius * Math.cos(from + Math.PI), radius * Math.sin(from + Math.PI)]);
    return points.map(([x, y]): Vec2 => [x, y + shift]);
  };
  return [...cap(0, halfLength), ...cap(Math.PI, -halfLength)];
}

/** A convex polygon with its sides moved inwards; its own middle where it is too thin for that. */
function inset(corners: Vec2[], width: number): Vec2[] {
  const count = corners.length;
  const middle: Vec2 = [0, 1].map((axis) => corners.reduce((sum, c) => sum + c[axis], 0) / count) as Vec2;
  const toMiddle = Math.min(...corners.map((_, k) => sideDistance(corners, k, middle)));
  const shift = Math.min(width, 0.6 * Math.max(toMiddle, 0));
  return corners.map((corner, k) => {
    const before = direction(corners[(k + count - 1) % count], corner);
    const after = direction(corner, corners[(k + 1) % count]);
    // Inwards is to the left of a counter-clockwise outline.
    const bisector: Vec2 = [-(before[1] + after[1]), before[0] + after[0]];
    const length = Math.hypot(...bisector);
    if (length < 1e-9) return corner;
    const cosine = Math.max((-before[1] * bisector[0] + before[0] * bisector[1]) / length, 0.25);
    return [corner[0] + (bisector[0] / length) * (shift / cosine), corner[1] + (bisector[1] / length) * (shift / cosine)];
  });
}

function direction(from: Vec2, to: Vec2): Vec2 {
  const [x, y] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(x, y) || 1;
  return [x / length, y / length];
}

function sideDistance(corners: Vec2[], k: number, point: Vec2): number {
  const from = corners[k];
  const [x, y] = direction(from, corners[(k + 1) % corners.length]);
  return x * (point[1] - from[1]) - y * (point[0] - from[0]);
}

function polyline(points: Vec2[], width: number): BufferGeometry {
  const sheet = new Sheet();
  for (let k = 0; k + 1 < points.length; k += 1) {
    const [x, y] = direction(points[k], points[k + 1]);
    const side: Vec2 = [(-y * width) / 2, (x * width) / 2];
    const corner = (p: Vec2, sign: number): Vec2 => [p[0] + sign * side[0], p[1] + sign * side[1]];
    const [a, b] = [points[k], points[k + 1]];
    sheet.triangle([corner(a, -1), corner(b, -1), corner(b, 1)], OUTLINE_SHADE);
    sheet.triangle([corner(a, -1), corner(b, 1), corner(a, 1)], OUTLINE_SHADE);
  }
  return sheet.geometry();
}

/** The solid side of a line through the origin with normal +y, hatched below its surface. */
export function flatGround(extent: number, line: number): BufferGeometry {
  const sheet = new Sheet();
  const band = (top: number, bottom: number, shade: number) => {
    sheet.triangle([[-extent, bottom], [extent, bottom], [extent, top]], shade);
    sheet.triangle([[-extent, bottom], [extent, top], [-extent, top]], shade);
  };
  band(0, -extent, 1);
  const step = 7 * line;
  const depth = 2.2 * step;
  const count = Math.min(Math.ceil(extent / step), 2000);
  for (let k = -count; k <= count; k += 1) {
    const x = k * step;
    const thin = 0.3 * line;
    sheet.triangle([[x - depth - thin, -depth], [x - depth + thin, -depth], [x + thin, 0]], 0.78);
    sheet.triangle([[x - depth - thin, -depth], [x + thin, 0], [x - thin, 0]], 0.78);
  }
  band(0, -line, 0.4);
  return sheet.geometry();
}

export function flatGroundAngle(normal: Vec3): number {
  return Math.atan2(-normal[0], normal[1]);
}
