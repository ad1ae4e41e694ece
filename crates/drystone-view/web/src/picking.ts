/** The mouse: pointing, choosing, pulling and throwing. */
import { Plane, Quaternion, Vector3 } from 'three';
import { anchor, isBroken } from './joints';
import type { Model, Selection } from './model';
import { CONTACT, CONTACT_SIZE, type Vec3 } from './types';
import type { Viewport } from './viewport';

/** Contacts can be chosen from this near, CSS pixels. */
const CONTACT_REACH = 11;

/** A press that moved less is a click, CSS pixels. */
const CLICK_REACH = 4;

interface Pull {
  object: number;
  /** Where it is held, in the object's axes. */
  point: Vec3;
  /** The hand moves in this plane. */
  plane: Plane;
}

export class Picking {
  private pressed: { x: number; y: number } | undefined;
  private pull: Pull | undefined;
  /** The next click throws a ball. */
  throwing = false;

  constructor(
    private readonly model: Model,
    private readonly viewport: Viewport,
  ) {
    const canvas = viewport.canvas;
    canvas.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', () => this.letGo());
    canvas.addEventListener('pointerleave', () => model.hover(undefined));
  }

  private at(event: PointerEvent): { x: number; y: number } {
    const box = this.viewport.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private down(event: PointerEvent): void {
    const { x, y } = this.at(event);
    this.pressed = { x, y };
    if (event.button !== 0 || !this.model.isLive()) return;
    if (this.throwing || event.shiftKey) {
      this.throwBall(x, y);
      this.stopCamera(event);
      return;
    }
    const hit = this.viewport.pick(x, y);
    if (!hit || this.model.stage?.stage.objects[hit.object]?.fixed !== false) return;
    const [position, rotation] = [new Vector3(), new Quaternion()];
    if (!this.viewport.views[hit.lane].pose(hit.object, position, rotation)) return;
    const local = hit.point.clone().sub(position).applyQuaternion(rotation.invert());
    const toCamera = this.viewport.camera.getWorldDirection(new Vector3());
    this.pull = { object: hit.object, point: local.toArray() as Vec3, plane: new Plane().setFromNormalAndCoplanarPoint(toCamera, hit.point) };
    this.stopCamera(event);
  }

  private stopCamera(event: PointerEvent): void {
    event.stopImmediatePropagation();
    this.viewport.canvas.setPointerCapture(event.pointerId);
    this.viewport.canvas.focus();
  }

  private move(event: PointerEvent): void {
    const { x, y } = this.at(event);
    if (this.pull) {
      if (this.pressed && Math.hypot(x - this.pressed.x, y - this.pressed.y) < CLICK_REACH) return;
      this.pressed = undefined;
      const ray = this.viewport.ray(x, y);
      const target = ray?.caster.ray.intersectPlane(this.pull.plane, new Vector3());
      if (!target) return;
      const { object, point } = this.pull;
      this.model.source.send({ do: 'grab', grip: { object, point, target: this.world(target) } });
      return;
    }
    if (event.buttons === 0) this.model.hover(this.under(x, y));
  }

  private up(event: PointerEvent): void {
    const { x, y } = this.at(event);
    const clicked = this.pressed && Math.hypot(x - this.pressed.x, y - this.pressed.y) < CLICK_REACH;
    this.letGo();
    if (clicked && !event.shiftKey && event.button === 0) this.model.choose(this.under(x, y));
  }

  private letGo(): void {
    if (this.pull && !this.pressed) this.model.source.send({ do: 'release' });
    this.pull = undefined;
    this.pressed = undefined;
  }

  /** View coordinates in world coordinates. */
  private world(point: Vector3): Vec3 {
    const { origin } = this.viewport;
    return [point.x + origin[0], point.y + origin[1], point.z + origin[2]];
  }

  /** What is under a pixel: contacts first where they are drawn. */
  under(x: number, y: number): Selection | undefined {
    return this.contactUnder(x, y) ?? this.jointUnder(x, y) ?? this.objectUnder(x, y);
  }

  private objectUnder(x: number, y: number): Selection | undefined {
    const hit = this.viewport.pick(x, y);
    return hit && { kind: 'object', index: hit.object, lane: hit.lane };
  }

  private contactUnder(x: number, y: number): Selection | undefined {
    const { show } = this.model;
    const ray = this.viewport.ray(x, y);
    const frame = ray && this.model.lanes[ray.lane]?.frame;
    if (!ray || !frame || !(show.contacts || show.impulses || show.normals || show.cones)) return undefined;
    let best: { index: number; distance: number } | undefined;
    const point = new Vector3();
    for (let k = 0; k < frame.contacts; k += 1) {
      point.fromArray(frame.contactData, CONTACT_SIZE * k + CONTACT.position);
      point.add(new Vector3(...frame.origin.map((c, axis) => c - this.viewport.origin[axis])));
      const pixel = this.viewport.project(point, ray.lane);
      const distance = Math.hypot(pixel.x - x, pixel.y - y);
      if (pixel.seen && distance < Math.min(CONTACT_REACH, best?.distance ?? Infinity)) best = { index: k, distance };
    }
    return best && { kind: 'contact', index: best.index, lane: ray.lane };
  }

  private jointUnder(x: number, y: number): Selection | undefined {
    const ray = this.viewport.ray(x, y);
    const frame = ray && this.model.lanes[ray.lane]?.frame;
    if (!ray || !frame || !this.model.show.joints) return undefined;
    let best: { index: number; distance: number } | undefined;
    (this.model.stage?.stage.joints ?? []).forEach((joint, index) => {
      const place = isBroken(frame, index) ? undefined : anchor(this.viewport.views[ray.lane], joint.ends[1]);
      const pixel = place && this.viewport.project(place.point, ray.lane);
      const distance = pixel?.seen ? Math.hypot(pixel.x - x, pixel.y - y) : Infinity;
      if (distance < Math.min(CONTACT_REACH, best?.distance ?? Infinity)) best = { index, distance };
    });
    return best && { kind: 'joint', index: best.index, lane: ray.lane };
  }

  /** Throws a ball from the camera through a pixel; in 2D from the left edge of the picture. */
  throwBall(x: number, y: number): void {
    const ray = this.viewport.ray(x, y);
    if (!ray) return;
    const { radius } = this.viewport;
    const hit = this.viewport.pick(x, y);
    const view = this.viewport.views[ray.lane];
    let from: Vector3;
    let to: Vector3;
    if (view.flat) {
      to = ray.caster.ray.origin.clone().setZ(0);
      const pane = this.viewport.pane(ray.lane);
      const left = this.viewport.ray(pane.left + 0.03 * pane.width, pane.top + 0.45 * pane.height);
      from = left ? left.caster.ray.origin.clone().setZ(0) : to.clone().setX(to.x - radius);
    } else {
      const { origin, direction } = ray.caster.ray;
      to = hit?.point ?? origin.clone().addScaledVector(direction, 3 * radius);
      from = origin.clone().addScaledVector(direction, 0.35 * origin.distanceTo(to));
    }
    // Fast enough to arrive in a third of a second, whatever the size of the scene.
    const velocity = to.clone().sub(from).multiplyScalar(3);
    velocity.y += 9.81 / 6;
    this.model.source.send({
      do: 'throw',
      throw: { position: this.world(from), velocity: velocity.toArray() as Vec3, radius: 0.06 * radius },
    });
  }
}
