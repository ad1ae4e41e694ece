/** Reads the binary messages of `live/wire.rs`: little-endian, like every machine a browser runs on. */
import { COLUMNS, CONTACT_SIZE, type Frame, JOINT_SIZE, type Listener } from './types';

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
  const joints = view.getUint32(64, true);
  let at = 72;
  const singles = (count: number) => {
    const array = new Float32Array(buffer, at, count);
    at += 4 * count;
    return array;
  };
  const positions = singles(3 * objects);
  const rotations = singles(4 * objects);
  const velocities = singles(3 * objects);
  const spins = singles(3 * objects);
  const wholes = (count: number) => {
    const array = new Uint32Array(buffer, at, count);
    at += 4 * count;
    return array;
  };
  const pairs = wholes(2 * contacts);
  const contactData = singles(CONTACT_SIZE * contacts);
  const states = wholes(objects);
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
    contactData,
    states,
    joints,
    jointData: singles(JOINT_SIZE * joints),
  };
}
