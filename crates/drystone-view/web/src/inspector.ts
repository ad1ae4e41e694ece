/** What is known about the object or the contact that is pointed at or chosen. */
import { Vector3 } from 'three';
import { loads } from './colouring';
import { el, fill } from './dom';
import { mass, quantity, speed, vector } from './format';
import { carried, isBroken, jointFacts } from './joints';
import type { Model, Selection } from './model';
import { CONTACT, CONTACT_SIZE, type Frame, islandOf, NO_ISLAND, sleeps } from './types';

/** Frames whose speeds and forces are remembered. */
const MOST_MOMENTS = 1200;
/** Objects beyond which only the chosen one is remembered. */
const MOST_OBJECTS = 600;

export class Inspector {
  readonly element = el('aside', { class: 'inspector', hidden: true, 'aria-live': 'polite' });
  private readonly name = el('strong', { class: 'name' });
  private readonly close = el('button', { class: 'link', 'aria-label': 'Let go', onclick: () => this.model.choose(undefined) }, '×');
  private readonly facts = el('dl', { class: 'facts' });
  private readonly canvas = el('canvas', { class: 'history' });
  /** Speed and load of every object, frame by frame. */
  private moments: { time: number; speed: Float32Array; load: Float32Array }[] = [];
  /** Two numbers of the contact or the joint that is chosen, since it was. */
  private touch: { what: string; moments: { time: number; values: [number, number] }[] } = { what: '', moments: [] };

  constructor(private readonly model: Model) {
    this.element.append(el('header', {}, this.name, this.close), this.facts, this.canvas);
    model.on(['stage'], () => {
      this.moments = [];
      this.update();
    });
    model.on(['frame'], () => {
      this.remember();
      this.update();
    });
    model.on(['selection'], () => this.update());
  }

  private remember(): void {
    const frame = this.model.lanes[0]?.frame;
    if (!frame || frame.objects > MOST_OBJECTS) return;
    const last = this.moments.at(-1);
    if (last && frame.time <= last.time) {
      if (frame.time < frame.headTime) return;
      if (frame.time < last.time) this.moments = [];
      else return;
    }
    const dt = this.model.settings[0]?.dt ?? 1 / 240;
    const speeds = Float32Array.from({ length: frame.objects }, (_, k) => Math.hypot(...frame.velocities.subarray(3 * k, 3 * k + 3)));
    this.moments.push({ time: frame.time, speed: speeds, load: Float32Array.from(loads(frame, dt).force) });
    if (this.moments.length > MOST_MOMENTS) this.moments = this.moments.filter((_, k) => k % 2 === 0);
  }

  update(): void {
    const selection = this.model.chosen ?? this.model.hovered;
    const frame = selection && this.model.lanes[selection.lane]?.frame;
    this.element.hidden = !selection || !frame;
    if (!selection || !frame) return;
    const [title, facts] = this.told(selection, frame);
    this.name.textContent = title;
    this.close.hidden = !this.model.chosen;
    fill(this.facts, ...facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
    if (selection.kind === 'object') {
      const of = (name: 'speed' | 'load') => this.moments.map((moment) => ({ time: moment.time, value: moment[name][selection.index] ?? 0 }));
      this.drawHistory(frame.time, [
        { name: 'load', unit: 'N', colour: '--blue', points: of('load') },
        { name: 'speed', unit: 'm/s', colour: '--orange', points: of('speed') },
      ]);
    } else if (selection.kind === 'joint') {
      if (!isBroken(frame, selection.index)) this.note(`joint ${selection.lane} ${selection.index}`, frame.time, carried(frame, selection.index));
      const of = (k: 0 | 1) => this.touch.moments.map(({ time, values }) => ({ time, value: values[k] }));
      this.drawHistory(frame.time, [
        { name: 'force', unit: 'N', colour: '--blue', points: of(0) },
        { name: 'gap', unit: 'm', colour: '--orange', points: of(1) },
      ]);
    } else {
      this.rememberTouch(selection, frame);
      const of = (k: 0 | 1) => this.touch.moments.map(({ time, values }) => ({ time, value: values[k] }));
      this.drawHistory(frame.time, [
        { name: 'normal force of the pair', unit: 'N', colour: '--teal', points: of(0) },
        { name: 'friction', unit: 'N', colour: '--orange', points: of(1) },
      ]);
    }
  }

  private told(selection: Selection, frame: Frame): [string, [string, string][]] {
    if (selection.kind === 'object') return this.object(selection, frame);
    return selection.kind === 'joint' ? jointFacts(this.model, frame, selection.index) : this.contact(selection, frame);
  }

  /** Keeps two numbers of what is chosen. */
  private note(what: string, time: number, values: [number, number]): void {
    if (this.touch.what !== what) this.touch = { what, moments: [] };
    if ((this.touch.moments.at(-1)?.time ?? -1) >= time) return;
    this.touch.moments.push({ time, values });
    if (this.touch.moments.length > MOST_MOMENTS) this.touch.moments = this.touch.moments.filter((_, k) => k % 2 === 0);
  }

  /** Adds up the forces of all contacts between the two objects of a contact. */
  private rememberTouch({ index, lane }: Selection, frame: Frame): void {
    if (index >= frame.contacts) return;
    const [a, b] = [frame.pairs[2 * index], frame.pairs[2 * index + 1]];
    const dt = this.model.settings[lane]?.dt ?? 1 / 240;
    const values: [number, number] = [0, 0];
    for (let k = 0; k < frame.contacts; k += 1) {
      if (frame.pairs[2 * k] !== a || frame.pairs[2 * k + 1] !== b) continue;
      const data = frame.contactData.subarray(CONTACT_SIZE * k, CONTACT_SIZE * (k + 1));
      const normal = new Vector3().fromArray(data, CONTACT.normal);
      const impulse = new Vector3().fromArray(data, CONTACT.impulse);
      const pressing = impulse.dot(normal);
      values[0] += pressing / dt;
      values[1] += impulse.addScaledVector(normal, -pressing).length() / dt;
    }
    this.note(`contact ${lane} ${a} ${b}`, frame.time, values);
  }

  private object({ index, lane }: Selection, frame: Frame): [string, [string, string][]] {
    const { stage } = this.model;
    const object = stage?.stage.objects[index];
    const flat = stage?.stage.dimension === 2;
    if (!object || index >= frame.objects) return ['–', []];
    const triple = (array: Float32Array) => [...array.subarray(3 * index, 3 * index + 3)] as [number, number, number];
    const dt = this.model.settings[lane]?.dt ?? 1 / 240;
    const { residual, force } = loads(frame, dt);
    const [x, y, z] = triple(frame.positions).map((c, k) => c + frame.origin[k]);
    const turning = Math.hypot(...triple(frame.spins));
    return [
      object.name,
      [
        ['mass', mass(stage?.about.masses[index])],
        ['position / m', vector(x, y, z, flat)],
        ['speed', speed(Math.hypot(...triple(frame.velocities)))],
        ['spin', quantity(turning, 'rad/s')],
        ['load', quantity(force[index], 'N')],
        ['residual', speed(residual[index])],
        ...this.company(index, frame),
      ],
    ];
  }

  /** The island of an object, and whether it sleeps. */
  private company(index: number, frame: Frame): [string, string][] {
    const island = islandOf(frame, index);
    if (island === NO_ISLAND) return [];
    let size = 0;
    for (let k = 0; k < frame.objects; k += 1) if (islandOf(frame, k) === island) size += 1;
    return [['island', `${size === 1 ? 'alone' : `of ${size}`}${sleeps(frame, index) ? ', asleep' : ''}`]];
  }

  private contact({ index, lane }: Selection, frame: Frame): [string, [string, string][]] {
    const objects = this.model.stage?.stage.objects ?? [];
    if (index >= frame.contacts) return ['This contact has ended', []];
    const data = frame.contactData.subarray(CONTACT_SIZE * index, CONTACT_SIZE * (index + 1));
    const normal = new Vector3().fromArray(data, CONTACT.normal);
    const impulse = new Vector3().fromArray(data, CONTACT.impulse);
    const pressing = impulse.dot(normal);
    const across = impulse.clone().addScaledVector(normal, -pressing).length();
    const dt = this.model.settings[lane]?.dt ?? 1 / 240;
    const friction = data[CONTACT.friction];
    const slips = across >= (1 - 1e-4) * friction * pressing;
    const name = (k: number) => objects[frame.pairs[2 * index + k]]?.name ?? '–';
    return [
      `${name(1)} on ${name(0)}`,
      [
        ['normal impulse', quantity(pressing, 'N·s')],
        ['normal force', quantity(pressing / dt, 'N')],
        ['friction force', quantity(across / dt, 'N')],
        ['friction used', pressing > 0 && friction > 0 ? `${Math.round((100 * across) / (friction * pressing))} % of μ = ${Number(friction.toPrecision(3))}` : `μ = ${Number(friction.toPrecision(3))}`],
        ['state', pressing <= 0 ? 'does not press' : slips ? 'slips' : 'sticks'],
        ['separation', quantity(data[CONTACT.separation], 'm')],
        ['residual', speed(data[CONTACT.residual])],
      ],
    ];
  }

  /** Two lines over time, each scaled to its own largest value. */
  private drawHistory(now: number, lines: { name: string; unit: string; colour: string; points: { time: number; value: number }[] }[]): void {
    const [width, height] = [this.canvas.clientWidth || 220, 64];
    const ratio = Math.min(devicePixelRatio, 2);
    [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
    const context = this.canvas.getContext('2d');
    const times = lines[0].points.map(({ time }) => time);
    if (!context || times.length < 2) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(this.element);
    const span = times[times.length - 1] - times[0] || 1;
    const x = (time: number) => ((time - times[0]) / span) * width;
    context.font = '10px system-ui, sans-serif';
    context.lineWidth = 1.4;
    lines.forEach(({ name, unit, colour, points }, row) => {
      const most = Math.max(...points.map(({ value }) => value), 1e-9);
      context.strokeStyle = style.getPropertyValue(colour);
      context.fillStyle = style.getPropertyValue(colour);
      context.beginPath();
      for (const { time, value } of points) context.lineTo(x(time), height - 2 - (value / most) * (height - 26));
      context.stroke();
      context.fillText(`${name}, up to ${quantity(most, unit)}`, 2, 9 + 11 * row);
    });
    context.fillStyle = style.getPropertyValue('--ink-soft');
    context.fillRect(x(now), 0, 1, height);
  }
}
