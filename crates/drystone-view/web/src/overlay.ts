/** What is drawn over the objects: contacts, impulses, cones, velocities, boxes. */
import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DoubleSide,
  DynamicDrawUsage,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshBasicMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';
import { INK } from './colour';
import { drawJoints } from './joints';
import type { Model } from './model';
import { CONTACT, CONTACT_SIZE, type Frame } from './types';
import type { WorldView } from './world_view';

const UP = new Vector3(0, 1, 0);

/** Friction within this share of the cone's surface counts as slipping. */
const SLIP_SHARE = 1 - 1e-4;

/** Lengths on the screen, CSS pixels. */
const PIXELS = { point: 3.6, arrow: 90, shaft: 1.3, head: 4, normal: 26, cone: 44 };

/** A velocity arrow is as long as the way of this time, s. */
const VELOCITY_TIME = 0.12;

/** What draws over the objects; lengths in m. */
export interface Pen {
  point(at: Vector3, radius: number, ink: Color): void;
  line(from: Vector3, to: Vector3, width: number, ink: Color): void;
  arrow(at: Vector3, direction: Vector3, length: number, pixel: number, ink: Color): void;
}

/** Instances that grow in number as they are needed. */
class Pool {
  mesh: InstancedMesh;
  private used = 0;

  constructor(
    private readonly view: WorldView,
    geometry: BufferGeometry,
    opacity = 1,
  ) {
    const material = new MeshBasicMaterial({ depthTest: false, transparent: true, opacity, toneMapped: false, side: opacity < 1 ? DoubleSide : 0, fog: false });
    if (opacity < 1) material.depthWrite = false;
    this.mesh = this.allocate(geometry, material, 64);
  }

  private allocate(geometry: BufferGeometry, material: MeshBasicMaterial, capacity: number): InstancedMesh {
    const mesh = new InstancedMesh(geometry, material, capacity);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.frustumCulled = false;
    mesh.renderOrder = 10;
    mesh.setColorAt(0, new Color());
    this.view.scene.add(mesh);
    return mesh;
  }

  begin(): void {
    this.used = 0;
  }

  add(matrix: Matrix4, colour: Color): void {
    if (this.used >= this.mesh.instanceMatrix.count) {
      const old = this.mesh;
      this.mesh = this.allocate(old.geometry, old.material as MeshBasicMaterial, 2 * this.used);
      this.mesh.instanceMatrix.array.set(old.instanceMatrix.array);
      if (old.instanceColor) this.mesh.instanceColor?.array.set(old.instanceColor.array);
      this.view.scene.remove(old);
      old.dispose();
    }
    this.mesh.setMatrixAt(this.used, matrix);
    this.mesh.setColorAt(this.used, colour);
    this.used += 1;
  }

  end(): void {
    this.mesh.count = this.used;
    this.mesh.visible = this.used > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as MeshBasicMaterial).dispose();
    this.mesh.dispose();
  }
}

export class Overlay implements Pen {
  private readonly points: Pool;
  private readonly shafts: Pool;
  private readonly heads: Pool;
  private readonly cones: Pool;
  private readonly boxes = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: INK.box, fog: false }));
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();
  /** The impulse whose arrow has full length, N·s; follows the largest slowly. */
  private reference = 0;
  /** Force (N) and torque (N·m) of joints whose arrows have full length. */
  private readonly jointReference: [number, number] = [0, 0];

  constructor(
    private readonly model: Model,
    private readonly view: WorldView,
    private readonly lane: number,
  ) {
    this.points = new Pool(view, new SphereGeometry(1, 12, 8));
    this.shafts = new Pool(view, new CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0));
    this.heads = new Pool(view, new ConeGeometry(1, 1, 12).translate(0, 0.5, 0));
    this.cones = new Pool(view, new ConeGeometry(1, 1, 28, 1, true).rotateX(Math.PI).translate(0, 0.5, 0), 0.22);
    this.boxes.renderOrder = 9;
    this.boxes.frustumCulled = false;
    view.scene.add(this.boxes);
  }

  /** Draws what a frame holds; `pixel` is the size of a pixel in m. */
  follow(frame: Frame, pixel: number): void {
    const pools = [this.points, this.shafts, this.heads, this.cones];
    for (const pool of pools) pool.begin();
    this.drawContacts(frame, pixel);
    drawJoints(this.model, this.view, { frame, lane: this.lane, pixel, reference: this.jointReference }, this);
    if (this.model.show.velocities) this.drawVelocities(frame, pixel);
    this.drawBoxes(frame);
    for (const pool of pools) pool.end();
  }

  private drawContacts(frame: Frame, pixel: number): void {
    const { show, chosen, hovered, lit } = this.model;
    const reference = this.follows(frame);
    const dot = Math.min(PIXELS.point * pixel, 0.4 * this.view.grain);
    const [at, normal, along, across] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
    const special = new Set(lit);
    for (const selection of [chosen, hovered]) if (selection?.kind === 'contact' && selection.lane === this.lane) special.add(selection.index);
    for (let k = 0; k < frame.contacts; k += 1) {
      const data = frame.contactData;
      const base = CONTACT_SIZE * k;
      this.place(frame, k, at);
      normal.fromArray(data, base + CONTACT.normal);
      across.fromArray(data, base + CONTACT.impulse);
      const pressing = across.dot(normal);
      along.copy(normal).multiplyScalar(pressing);
      across.sub(along);
      const friction = data[base + CONTACT.friction];
      const isOpen = pressing <= 1e-9 * reference;
      const slips = across.length() >= SLIP_SHARE * friction * pressing && friction > 0;
      const ink = isOpen ? INK.open : slips ? INK.slip : INK.stick;
      if (special.has(k)) this.point(at, Math.max(2.2 * dot, 5 * pixel), INK.lit);
      if (show.contacts || special.has(k)) this.point(at, (isOpen ? 0.7 : 1) * dot, ink);
      if (show.normals) this.arrow(at, normal, PIXELS.normal * pixel, pixel, INK.open);
      if (show.cones && !isOpen) this.cone(at, normal, friction, pixel, ink);
      if (show.impulses && !isOpen && reference > 0) {
        const size = (PIXELS.arrow * pixel) / reference;
        this.arrow(at, along, size * along.length(), pixel, INK.normal);
        this.arrow(at, across, size * across.length(), pixel, ink);
      }
    }
  }

  /** The largest impulse of the frame, falling slowly so that arrows do not jump. */
  private follows(frame: Frame): number {
    let largest = 0;
    for (let k = 0; k < frame.contacts; k += 1) {
      const at = CONTACT_SIZE * k + CONTACT.impulse;
      largest = Math.max(largest, Math.hypot(frame.contactData[at], frame.contactData[at + 1], frame.contactData[at + 2]));
    }
    this.reference = Math.max(largest, 0.95 * this.reference);
    return this.reference;
  }

  /** Where a contact is, in view coordinates. */
  place(frame: Frame, contact: number, target: Vector3): Vector3 {
    const at = CONTACT_SIZE * contact + CONTACT.position;
    const shift = (k: number) => frame.contactData[at + k] + (frame.origin[k] - this.view.origin[k]);
    return target.set(shift(0), shift(1), shift(2));
  }

  private drawVelocities(frame: Frame, pixel: number): void {
    const [at, velocity, rotation] = [new Vector3(), new Vector3(), new Quaternion()];
    const objects = this.model.stage?.stage.objects ?? [];
    for (let k = 0; k < frame.objects; k += 1) {
      if (objects[k]?.fixed || !this.view.pose(k, at, rotation)) continue;
      velocity.fromArray(frame.velocities, 3 * k);
      this.arrow(at, velocity, VELOCITY_TIME * velocity.length(), pixel, INK.velocity);
    }
  }

  point(at: Vector3, radius: number, ink: Color): void {
    this.points.add(this.matrix.compose(at, this.turn.identity(), new Vector3(radius, radius, radius)), ink);
  }

  line(from: Vector3, to: Vector3, width: number, ink: Color): void {
    const along = to.clone().sub(from);
    const length = along.length();
    if (!(length > 0)) return;
    this.turn.setFromUnitVectors(UP, along.divideScalar(length));
    this.shafts.add(this.matrix.compose(from, this.turn, new Vector3(width, length, width)), ink);
  }

  arrow(at: Vector3, direction: Vector3, length: number, pixel: number, ink: Color): void {
    if (!(length > 1.5 * pixel)) return;
    const unit = direction.clone().normalize();
    this.turn.setFromUnitVectors(UP, unit);
    const head = Math.min(2.6 * PIXELS.head * pixel, 0.6 * length);
    const shaft = PIXELS.shaft * pixel;
    this.shafts.add(this.matrix.compose(at, this.turn, new Vector3(shaft, length - head, shaft)), ink);
    const tip = at.clone().addScaledVector(unit, length - head);
    const width = Math.min(PIXELS.head * pixel, 0.4 * length);
    this.heads.add(this.matrix.compose(tip, this.turn, new Vector3(width, head, width)), ink);
  }

  private cone(at: Vector3, normal: Vector3, friction: number, pixel: number, ink: Color): void {
    const height = PIXELS.cone * pixel;
    const width = Math.min(friction, 3) * height;
    this.turn.setFromUnitVectors(UP, normal);
    this.cones.add(this.matrix.compose(at, this.turn, new Vector3(width, height, this.view.flat ? 0.001 * width : width)), ink);
  }

  /** The boxes that the broad phase compares: grown by how far a body can move in a step, and by half of the margin. */
  private drawBoxes(frame: Frame): void {
    this.boxes.visible = this.model.show.boxes;
    if (!this.boxes.visible) return;
    const lines: number[] = [];
    for (const [object, box] of this.shapeBoxes()) {
      box.expandByScalar(this.reach(frame, object, box));
      pushEdges(lines, box.min, box.max);
    }
    this.boxes.geometry.dispose();
    this.boxes.geometry = new BufferGeometry();
    this.boxes.geometry.setAttribute('position', new BufferAttribute(new Float32Array(lines), 3));
  }

  /** The boxes around all shapes. */
  private shapeBoxes(): Map<number, Box3> {
    const boxes = new Map<number, Box3>();
    const [own, matrix] = [new Box3(), new Matrix4()];
    for (const { mesh, instances } of this.view.batches) {
      if (!mesh.geometry.boundingBox) mesh.geometry.computeBoundingBox();
      instances.forEach(({ object }, k) => {
        mesh.getMatrixAt(k, matrix);
        own.copy(mesh.geometry.boundingBox ?? own).applyMatrix4(matrix);
        const box = boxes.get(object);
        if (box) box.union(own);
        else boxes.set(object, own.clone());
      });
    }
    return boxes;
  }

  /** Edges of the box around an object, and of its box in the broad phase, m. */
  boxesOf(frame: Frame, object: number): { shape: number[]; box: number[] } | undefined {
    const box = this.shapeBoxes().get(object);
    if (!box) return undefined;
    const shape = box.getSize(new Vector3()).toArray();
    return { shape, box: box.expandByScalar(this.reach(frame, object, box)).getSize(new Vector3()).toArray() };
  }

  /** How far a point of a body can move in a step, and half of the margin, m. */
  private reach(frame: Frame, object: number, box: Box3): number {
    const settings = this.model.settings[this.lane];
    if (!settings) return 0;
    const size = (array: Float32Array) => Math.hypot(...array.subarray(3 * object, 3 * object + 3));
    const radius = 0.5 * box.getSize(new Vector3()).length();
    const fall = this.model.stage?.stage.objects[object]?.fixed ? 0 : Math.hypot(...settings.gravity) * settings.dt;
    return settings.dt * (size(frame.velocities) + size(frame.spins) * radius + fall) + 0.5 * settings.margin;
  }

  dispose(): void {
    for (const pool of [this.points, this.shafts, this.heads, this.cones]) pool.dispose();
    this.boxes.geometry.dispose();
  }
}

/** The twelve edges of a box. */
function pushEdges(lines: number[], low: Vector3, high: Vector3): void {
  const corner = (k: number) => [k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z];
  for (let a = 0; a < 8; a += 1) for (const bit of [1, 2, 4]) if (!(a & bit)) lines.push(...corner(a), ...corner(a | bit));
}
