/** Reads the binary messages of `live/wire.rs`: little-endian, like every machine a browser runs on. */
import { COLUMNS, CONTACT_SIZE, type Frame, type Listener } from './types';

const FRAME = 1;
const NUMBERS = 2;

/** Hands a binary message to whom it is for. */
export function receive(buffer: ArrayBuffer, listener: Listener): void {
  const view = new DataView(buffer);
  const kind = view.getUint32(0, true);
  const lane = view.getUint32(4, true);
  if (kind === FRAME) listener.frame(lane, readFrame(buffer, view));
  if (kind === NUMBERS) {
    const rows = view.getUint32(8, true);
    listener.numbers(lane, new Float64Array(buffer, 16, rows * COLUMNS));
  }
}

function readFrame(buffer: ArrayBuffer, view: DataView): Frame {
  const number = (k: number) => view.getFloat64(8 + 8 * k, true);
  const objects = view.getUint32(56, true);
  const contacts = view.getUint32(60, true);
  let at = 64;
  const singles = (count: number) => {
    const array = new Float32Array(buffer, at, count);
    at += 4 * count;
    return array;
  };
  const positions = singles(3 * objects);
  const rotations = singles(4 * objects);
  const velocities = singles(3 * objects);
  const spins = singles(3 * objects);
  const pairs = new Uint32Array(buffer, at, 2 * contacts);
  at += 8 * contacts;
  return {
    step: number(0),
    time: number(1),
    headTime: number(2),
    origin: [number(3), number(4), number(5)],
    objects,
    contacts,
    positions,
    rotations,
    velocities,
    spins,
    pairs,
    contactData: singles(CONTACT_SIZE * contacts),
  };
}
