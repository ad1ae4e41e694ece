/** What tests of the page ask: numbers that stand for what is seen. */
import { Vector3 } from 'three';
import type { Model } from './model';
import { anchor, carried, isBroken } from './joints';
import { CONTACT, CONTACT_SIZE, islandOf, sleeps } from './types';
import type { Viewport } from './viewport';

export function exposeProbe(model: Model, viewport: Viewport): void {
  const page = (point: Vector3, lane: number) => {
    const box = viewport.canvas.getBoundingClientRect();
    const pixel = viewport.project(point, lane);
    return { x: box.left + pixel.x, y: box.top + pixel.y, seen: pixel.seen };
  };
  const probe = {
    scene: () => model.stage?.about.name,
    lanes: () => model.lanes.length,
    time: (lane = 0) => model.lanes[lane]?.frame?.time ?? -1,
    step: (lane = 0) => model.lanes[lane]?.frame?.step ?? -1,
    rows: (lane = 0) => model.lanes[lane]?.log.rows.length ?? 0,
    playing: () => model.state.playing,
    settings: () => model.settings[0],
    strategies: () => model.settings.map(({ strategy }) => strategy),
    drawn: () => viewport.drawn,
    contacts: () => model.lanes[0]?.frame?.contacts ?? 0,
    lit: () => model.lit,
    objects: () => model.stage?.stage.objects.map((object) => object.name) ?? [],
    /** Where the middle of an object is on the page, px. */
    pixel: (object: number, lane = 0) => {
      const middle = viewport.middle(object, lane);
      return middle && page(middle, lane);
    },
    contactPixel: (contact: number) => {
      const frame = model.lanes[0]?.frame;
      if (!frame) return undefined;
      const at = CONTACT_SIZE * contact + CONTACT.position;
      return page(new Vector3(...frame.origin.map((c, k) => frame.contactData[at + k] + c - viewport.origin[k])), 0);
    },
    /** Calls and triangles of the last picture. */
    drawing: () => viewport.drawing(),
    /** Edges of the box around an object, and of its box in the broad phase, m. */
    boxes: (object: number) => viewport.boxes(object),
    /** Where a joint is on the page (px), its force (N) and its gap (m). */
    joint: (index: number) => {
      const frame = model.lanes[0]?.frame;
      const joint = model.stage?.stage.joints?.[index];
      const place = joint && anchor(viewport.views[0], joint.ends[1]);
      if (!frame || !place) return undefined;
      const [force, gap] = carried(frame, index);
      return { ...page(place.point, 0), force, gap, broken: isBroken(frame, index) };
    },
    joints: () => model.lanes[0]?.frame?.joints ?? 0,
    island: (object: number) => {
      const frame = model.lanes[0]?.frame;
      return frame && islandOf(frame, object);
    },
    /** The first object that sleeps, -1 for none. */
    firstSleeper: () => {
      const frame = model.lanes[0]?.frame;
      return frame ? Array.from({ length: frame.objects }, (_, k) => k).findIndex((k) => sleeps(frame, k)) : -1;
    },
    sleepers: () => {
      const frame = model.lanes[0]?.frame;
      return frame ? Array.from({ length: frame.objects }, (_, k) => sleeps(frame, k)).filter(Boolean).length : 0;
    },
    /** Time that the page takes to place all objects of a frame, without drawing them, ms. */
    cost: () => {
      const frame = model.lanes[0]?.frame;
      const start = performance.now();
      for (let k = 0; frame && k < 20; k += 1) viewport.views[0]?.follow(frame);
      return (performance.now() - start) / 20;
    },
    /** World position of an object, m. */
    position: (object: number, lane = 0) => {
      const frame = model.lanes[lane]?.frame;
      return frame && [0, 1, 2].map((k) => frame.positions[3 * object + k] + frame.origin[k]);
    },
  };
  (window as unknown as { drystone: typeof probe }).drystone = probe;
}
