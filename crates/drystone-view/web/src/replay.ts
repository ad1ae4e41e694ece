/** A run inside the page: unpacks what `replay/pack.rs` packed, and plays it. */
import { readTies, type Ties } from './replay_ties';
import {
  COLUMNS,
  CONTACT,
  CONTACT_SIZE,
  type Command,
  type Frame,
  type Listener,
  type Settings,
  type Source,
  type StageMessage,
  type Vec3,
} from './types';

interface Header {
  stage: StageMessage['stage'];
  about: StageMessage['about'];
  colours: Vec3[];
  camera: StageMessage['camera'];
  settings: Settings;
  laws: string[];
  quantum: number;
  origin: Vec3;
  frames: number;
  rows: number;
  motion_bytes: number;
  contact_bytes: number;
  data: string;
}

const CONTACT_EVERY = 3;
const CONTACT_COLUMNS = 13;
const TURN_STEPS = 4096;
const SLIPS = 31;
const ANGLES = 32;
const LEAST_RESIDUAL = 1e-8;

export class Replay implements Source {
  readonly live = false;
  private readonly header: Header;
  private listener: Listener | undefined;
  private frames: Frame[] = [];
  private playing = true;
  private speed = 1;
  private time = 0;
  private shown = -1;

  constructor(text: string) {
    this.header = JSON.parse(text) as Header;
  }

  start(listener: Listener): void {
    this.listener = listener;
    const { stage, about, colours, camera, laws, settings } = this.header;
    listener.message({ type: 'hello', scenes: [], solvers: [], strategies: [], racers: [], laws });
    listener.message({ type: 'stage', stage, about, colours, camera, lanes: [] });
    listener.message({ type: 'settings', lanes: [settings] });
    this.unpack().then(
      () => this.run(),
      (error: unknown) => listener.closed(`This file could not be unpacked: ${String(error)}`),
    );
  }

  private async unpack(): Promise<void> {
    const { data, motion_bytes, contact_bytes, rows } = this.header;
    const packed = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const motion = new Reader(bytes.subarray(0, motion_bytes));
    const contacts = new Reader(bytes.subarray(motion_bytes, motion_bytes + contact_bytes));
    this.frames = new Unpacker(this.header, motion, contacts).frames();
    const columns = new DataView(bytes.buffer, motion_bytes + contact_bytes);
    const table = new Float64Array(rows * COLUMNS);
    for (let column = 0; column < COLUMNS; column += 1) {
      for (let row = 0; row < rows; row += 1) table[row * COLUMNS + column] = columns.getFloat32(4 * (column * rows + row), true);
    }
    this.listener?.numbers(0, table);
  }

  private run(): void {
    let last = performance.now();
    const turn = (now: number) => {
      requestAnimationFrame(turn);
      const elapsed = Math.min((now - last) / 1000, 0.1);
      last = now;
      if (this.playing) this.time += elapsed * this.speed;
      if (this.time >= this.end()) {
        this.time = this.end();
        if (this.playing) {
          this.playing = false;
          this.tell();
        }
      }
      this.showFrame();
    };
    this.tell();
    requestAnimationFrame(turn);
  }

  private end(): number {
    return this.frames.at(-1)?.time ?? 0;
  }

  private tell(): void {
    this.listener?.message({ type: 'state', playing: this.playing, speed: this.speed, past: false });
  }

  private indexAt(time: number): number {
    let [low, high] = [0, this.frames.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.frames[middle].time <= time + 1e-9) low = middle + 1;
      else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  private showFrame(): void {
    const index = this.indexAt(this.time);
    if (index === this.shown || !this.frames[index]) return;
    this.shown = index;
    this.listener?.frame(0, this.frames[index]);
  }

  private jump(index: number): void {
    this.playing = false;
    this.time = this.frames[Math.min(Math.max(index, 0), this.frames.length - 1)]?.time ?? 0;
  }

  send(command: Command): void {
    switch (command.do) {
      case 'play':
        if (command.on && this.time >= this.end()) this.time = 0;
        this.playing = command.on;
        break;
      case 'step':
        this.jump(this.indexAt(this.time) + 1);
        break;
      case 'back':
        this.jump(this.indexAt(this.time) - 1);
        break;
      case 'speed':
        this.speed = command.factor;
        break;
      case 'restart':
        this.time = 0;
        this.playing = true;
        break;
      case 'seek':
        this.playing = false;
        this.time = Math.min(Math.max(command.time, 0), this.end());
        break;
      default:
        return;
    }
    this.tell();
  }
}

/** Varints, as in `replay/pack.rs`. */
export class Reader {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  unsigned(): number {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = this.bytes[this.at];
      this.at += 1;
      if (byte === undefined) throw new Error('the data ends too early');
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }

  signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

interface ContactSet {
  pairs: Uint32Array;
  data: Float32Array;
}

class Unpacker {
  private last = new Float64Array(0);
  private before = new Float64Array(0);
  private turns = new Float64Array(0);
  private rows: Float64Array[] = [];
  private contacts: ContactSet = { pairs: new Uint32Array(0), data: new Float32Array(0) };
  private ties: Ties = { codes: [], rows: [], states: new Uint32Array(0), joints: new Float32Array(0) };

  constructor(
    private readonly header: Header,
    private readonly motion: Reader,
    private readonly touch: Reader,
  ) {}

  frames(): Frame[] {
    const frames: Frame[] = [];
    let time = 0;
    for (let k = 0; k < this.header.frames; k += 1) {
      const objects = this.motion.unsigned();
      time += this.motion.unsigned() * 1e-6;
      this.move(objects);
      if (k % CONTACT_EVERY === 0) {
        this.readContacts();
        this.ties = readTies(this.touch, this.ties);
      }
      frames.push(this.frame(objects, time, frames.at(-1)));
    }
    const headTime = time;
    for (const frame of frames) frame.headTime = headTime;
    return frames;
  }

  private move(objects: number): void {
    this.last = grown(this.last, 3 * objects);
    this.before = grown(this.before, 3 * objects);
    this.turns = grown(this.turns, 4 * objects);
    const now = new Float64Array(3 * objects);
    for (let axis = 0; axis < 3; axis += 1) {
      for (let k = axis; k < 3 * objects; k += 3) now[k] = 2 * this.last[k] - this.before[k] + this.motion.signed();
    }
    for (let axis = 0; axis < 4; axis += 1) {
      for (let k = axis; k < 4 * objects; k += 4) this.turns[k] += this.motion.signed();
    }
    [this.before, this.last] = [this.last, now];
  }

  private frame(objects: number, time: number, previous: Frame | undefined): Frame {
    const positions = Float32Array.from(this.last, (steps) => steps * this.header.quantum);
    const rotations = new Float32Array(4 * objects);
    for (let k = 0; k < 4 * objects; k += 4) {
      const length = Math.hypot(this.turns[k], this.turns[k + 1], this.turns[k + 2], this.turns[k + 3]) || TURN_STEPS;
      for (let axis = 0; axis < 4; axis += 1) rotations[k + axis] = this.turns[k + axis] / length;
    }
    const dt = time - (previous?.time ?? time);
    const velocities = positions.map((x, k) => (dt > 0 && previous && k < previous.positions.length ? (x - previous.positions[k]) / dt : 0));
    return {
      step: Math.round(time / this.header.settings.dt),
      time,
      headTime: time,
      origin: this.header.origin,
      objects,
      contacts: this.contacts.pairs.length / 2,
      positions,
      rotations,
      velocities,
      spins: spins(rotations, previous?.rotations, dt),
      pairs: this.contacts.pairs,
      contactData: this.contacts.data,
      states: this.ties.states,
      joints: this.ties.rows.length,
      jointData: this.ties.joints,
    };
  }

  private readContacts(): void {
    const count = this.touch.unsigned();
    const rows = Array.from({ length: count }, () => new Float64Array(CONTACT_COLUMNS));
    for (let column = 0; column < CONTACT_COLUMNS; column += 1) {
      rows.forEach((row, k) => {
        const last = this.rows[k];
        const same = last && (column < 2 || (last[0] === row[0] && last[1] === row[1]));
        row[column] = this.touch.signed() + (same ? last[column] : 0);
      });
    }
    this.rows = rows;
    const data = new Float32Array(CONTACT_SIZE * count);
    const pairs = new Uint32Array(2 * count);
    rows.forEach((row, k) => {
      [pairs[2 * k], pairs[2 * k + 1]] = [row[0], row[1]];
      this.contact(row, data.subarray(CONTACT_SIZE * k, CONTACT_SIZE * (k + 1)));
    });
    this.contacts = { pairs, data };
  }

  private contact(row: Float64Array, data: Float32Array): void {
    const [, b, x, y, z, n1, n2, impulse, used, angle, friction, separation, residual] = row;
    [x, y, z].forEach((c, axis) => (data[CONTACT.position + axis] = (c + (this.last[3 * b + axis] ?? 0)) * this.header.quantum));
    const normal = fromOctahedron(n1 / 127, n2 / 127);
    data.set(normal, CONTACT.normal);
    const mu = friction / 1000;
    const pressing = impulse > 0 ? 2 ** ((impulse - 128) / 4) : 0;
    const across = mu * pressing * (used >= SLIPS ? 1 : used / (SLIPS - 1));
    const [first, second] = tangents(normal);
    const turn = (angle / ANGLES) * 2 * Math.PI;
    normal.forEach((n, axis) => {
      data[CONTACT.impulse + axis] = pressing * n + across * (Math.cos(turn) * first[axis] + Math.sin(turn) * second[axis]);
    });
    data[CONTACT.separation] = separation * 1e-5;
    data[CONTACT.friction] = mu;
    data[CONTACT.residual] = residual > 0 ? LEAST_RESIDUAL * 2 ** ((residual - 1) / 2) : 0;
  }
}

function grown(array: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  if (array.length === length) return array;
  const result = new Float64Array(length);
  result.set(array.subarray(0, length));
  return result;
}

function fromOctahedron(p: number, q: number): Vec3 {
  const z = 1 - Math.abs(p) - Math.abs(q);
  const fold = Math.max(-z, 0);
  const x = p < 0 ? p + fold : p - fold;
  const y = q < 0 ? q + fold : q - fold;
  const length = Math.hypot(x, y, z) || 1;
  return [x / length, y / length, z / length];
}

function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function tangents(normal: Vec3): [Vec3, Vec3] {
  const [x, y, z] = normal.map(Math.abs);
  const axis: Vec3 = x <= y && x <= z ? [1, 0, 0] : y <= z ? [0, 1, 0] : [0, 0, 1];
  const first = cross(normal, axis);
  const length = Math.hypot(...first) || 1;
  const unit = first.map((c) => c / length) as Vec3;
  return [unit, cross(normal, unit)];
}

/** Angular velocities from two frames: twice the vector part of the turn between them, over time. */
function spins(now: Float32Array, before: Float32Array | undefined, dt: number): Float32Array {
  const result = new Float32Array((3 * now.length) / 4);
  if (!before || dt <= 0) return result;
  for (let k = 0; 4 * k < Math.min(now.length, before.length); k += 1) {
    const [ax, ay, az, aw] = now.subarray(4 * k, 4 * k + 4);
    const [bx, by, bz, bw] = before.subarray(4 * k, 4 * k + 4);
    const w = aw * bw + ax * bx + ay * by + az * bz;
    const sign = (w < 0 ? -2 : 2) / dt;
    result[3 * k] = sign * (-aw * bx + ax * bw - ay * bz + az * by);
    result[3 * k + 1] = sign * (-aw * by + ax * bz + ay * bw - az * bx);
    result[3 * k + 2] = sign * (-aw * bz - ax * by + ay * bx + az * bw);
  }
  return result;
}
