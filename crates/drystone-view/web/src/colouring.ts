/** Objects in the colour of what they are made of, or of what is known about them. */
import type { Color } from 'three';
import { group, INK, scale } from './colour';
import { mass, quantity, speed } from './format';
import type { Model } from './model';
import { CONTACT, CONTACT_SIZE, type Frame, islandOf, NO_ISLAND, sleeps } from './types';
import type { WorldView } from './world_view';

/** Residuals from 1 µm/s to 1 m/s, by their logarithm. */
const RESIDUALS = [1e-6, 1];

/** What stands at the ends of a scale. */
export interface Legend {
  title: string;
  low: string;
  high: string;
}

export let legend: Legend | undefined;

/** Paints all objects of a lane. */
export function paint(model: Model, view: WorldView, lane: number): void {
  const frame = model.lanes[lane]?.frame;
  if (!frame || !model.stage) return;
  const byIsland = model.show.colour === 'island';
  const dims = model.show.sleep || byIsland;
  // Their own colours change only with what is pointed at, and with what falls asleep.
  const key = [model.show.colour, selectionKey(model.chosen), selectionKey(model.hovered), dims ? sleepers(frame) : ''].join();
  if (model.show.colour === 'material' && view.painted === key) return;
  view.painted = key;
  view.stripes.value = model.show.colour === 'material' ? 1 : 0;
  const shares = model.show.colour === 'material' || byIsland ? undefined : measure(model, frame, lane);
  if (!shares) legend = byIsland ? { title: 'Islands: what hangs together; pale where it sleeps', low: '', high: '' } : undefined;
  const { objects } = model.stage.stage;
  view.paint((object, colour) => {
    const island = byIsland ? islandOf(frame, object) : NO_ISLAND;
    if (shares && !objects[object].fixed) scale(shares[object], colour);
    else if (island !== NO_ISLAND) colour.copy(group(island));
    else view.own(object, colour);
    if (dims && sleeps(frame, object)) colour.lerp(INK.asleep, 0.72);
    highlight(model, lane, object, colour);
  });
}

/** Which objects sleep, as a text that differs where that differs. */
function sleepers(frame: Frame): string {
  let text = '';
  for (let k = 0; k < frame.objects; k += 1) if (sleeps(frame, k)) text += `${k} `;
  return text;
}

function selectionKey(selection: Model['chosen']): string {
  return selection?.kind === 'object' ? `${selection.lane} ${selection.index}` : '';
}

function highlight(model: Model, lane: number, object: number, colour: Color): void {
  const is = (selection: typeof model.chosen) => selection?.kind === 'object' && selection.lane === lane && selection.index === object;
  if (is(model.chosen)) colour.lerp(INK.lit, 0.65);
  else if (is(model.hovered)) colour.lerp(INK.lit, 0.35);
}

/** Largest residual and sum of forces at each object. */
export function loads(frame: Frame, dt: number): { residual: Float64Array; force: Float64Array } {
  const residual = new Float64Array(frame.objects);
  const force = new Float64Array(frame.objects);
  for (let k = 0; k < frame.contacts; k += 1) {
    const at = CONTACT_SIZE * k;
    const data = frame.contactData;
    const impulse = Math.hypot(data[at + CONTACT.impulse], data[at + CONTACT.impulse + 1], data[at + CONTACT.impulse + 2]);
    for (const object of [frame.pairs[2 * k], frame.pairs[2 * k + 1]]) {
      residual[object] = Math.max(residual[object], data[at + CONTACT.residual]);
      force[object] += impulse / dt;
    }
  }
  return { residual, force };
}

/** A share from 0 to 1 for every object, and the legend that goes with it. */
function measure(model: Model, frame: Frame, lane: number): Float64Array {
  const dt = model.settings[lane]?.dt ?? 1 / 240;
  const objects = model.stage?.stage.objects ?? [];
  const moving = (k: number) => !objects[k]?.fixed;
  const values = new Float64Array(frame.objects);
  const mode = model.show.colour;
  if (mode === 'residual') values.set(loads(frame, dt).residual);
  if (mode === 'load') values.set(loads(frame, dt).force);
  if (mode === 'mass') values.forEach((_, k) => (values[k] = model.stage?.about.masses[k] ?? 0));
  if (mode === 'speed') values.forEach((_, k) => (values[k] = Math.hypot(...frame.velocities.subarray(3 * k, 3 * k + 3))));
  const shown = [...values].filter((_, k) => moving(k));
  const [least, most] = [Math.min(...shown), Math.max(...shown)];
  if (mode === 'residual') {
    legend = { title: 'Residual: how far from the laws', low: speed(RESIDUALS[0]), high: speed(RESIDUALS[1]) };
    return values.map((value) => Math.log(Math.max(value, RESIDUALS[0]) / RESIDUALS[0]) / Math.log(RESIDUALS[1] / RESIDUALS[0]));
  }
  if (mode === 'mass') {
    legend = { title: 'Mass', low: mass(least), high: mass(most) };
    return values.map((value) => (most > least ? Math.log(value / least) / Math.log(most / least) : 0.5));
  }
  const unit = mode === 'load' ? 'N' : 'm/s';
  legend = { title: mode === 'load' ? 'Load: sum of contact forces' : 'Speed', low: `0 ${unit}`, high: quantity(most, unit) };
  return values.map((value) => (most > 0 ? Math.sqrt(value / most) : 0));
}
