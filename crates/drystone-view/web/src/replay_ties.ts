/** Islands, sleep and joints of a replay: unpacks what `replay/ties.rs` packed. */
import type { Reader } from './replay';
import { JOINT, JOINT_SIZE, NO_ISLAND } from './types';

/** Lowest bits of numbers that were left out. */
const DROPPED_BITS = 11;

export interface Ties {
  codes: number[];
  rows: number[][];
  /** As in a frame. */
  states: Uint32Array;
  joints: Float32Array;
}

export function readTies(from: Reader, last: Ties): Ties {
  const objects = from.unsigned();
  const codes = Array.from({ length: objects }, (_, k) => from.signed() + (last.codes[k] ?? 0));
  const states = Uint32Array.from(codes, (code) => (code < 2 ? 2 * NO_ISLAND + code : code - 2));
  const count = from.unsigned();
  const rows = Array.from({ length: count }, () => new Array<number>(JOINT_SIZE).fill(0));
  for (let column = 0; column < JOINT_SIZE; column += 1) {
    rows.forEach((row, k) => (row[column] = from.signed() + (last.rows[k]?.[column] ?? 0)));
  }
  const joints = new Float32Array(JOINT_SIZE * count);
  rows.forEach((row, k) => row.forEach((code, column) => (joints[JOINT_SIZE * k + column] = column === JOINT.broken ? code : number(code))));
  return { codes, rows, states, joints };
}

const bits = new DataView(new ArrayBuffer(4));

/** The number of the upper bits of an f32, with a sign. */
function number(code: number): number {
  bits.setUint32(0, Math.abs(code) << DROPPED_BITS);
  return Math.sign(code) * bits.getFloat32(0);
}
