/** Joints: where they are, how they are drawn, and their numbers. */
import { Quaternion, Vector3 } from 'three';
import { INK } from './colour';
import { quantity } from './format';
import type { Model } from './model';
import type { Pen } from './overlay';
import { type Frame, JOINT, JOINT_SIZE, type JointEnd, type StageJoint } from './types';
import type { WorldView } from './world_view';

/** Lengths on the screen, CSS pixels. */
const PIXELS = { point: 4.6, axis: 26, line: 1.2, arrow: 80 };

/** Axes of its frame along or about which a joint lets move. */
const FREE_AXES: Partial<Record<StageJoint['form'], Vector3[]>> = {
  hinge: [new Vector3(1, 0, 0)],
  slider: [new Vector3(1, 0, 0)],
  universal: [new Vector3(1, 0, 0), new Vector3(0, 1, 0)],
  gear: [new Vector3(1, 0, 0)],
  axes: [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)],
};

/** A frame of a joint in view coordinates. */
export interface Anchor {
  point: Vector3;
  turn: Quaternion;
}

/** Where a frame of a joint is; nothing where its object is not there. */
export function anchor(view: WorldView, end: JointEnd): Anchor | undefined {
  const [position, rotation] = [new Vector3(), new Quaternion()];
  if (!view.pose(end.object, position, rotation)) return undefined;
  const point = new Vector3(...end.position).applyQuaternion(rotation).add(position);
  return { point, turn: rotation.multiply(new Quaternion(...end.rotation)) };
}

export interface Moment {
  frame: Frame;
  lane: number;
  /** Size of a pixel, m. */
  pixel: number;
  /** Force (N) and torque (N·m) whose arrows have full length; they fall slowly. */
  reference: [number, number];
}

/** Draws all joints that are not broken, where they are asked for, and the chosen one. */
export function drawJoints(model: Model, view: WorldView, moment: Moment, pen: Pen): void {
  const joints = view.message.stage.joints ?? [];
  const { frame, lane, pixel, reference } = moment;
  for (const [k, at] of [JOINT.force, JOINT.torque].entries()) {
    let largest = 0;
    for (let j = 0; j < frame.joints; j += 1) largest = Math.max(largest, Math.hypot(...frame.jointData.subarray(JOINT_SIZE * j + at, JOINT_SIZE * j + at + 3)));
    reference[k] = Math.max(largest, 0.95 * reference[k]);
  }
  joints.forEach((joint, index) => {
    const is = (selection: Model['chosen']) => selection?.kind === 'joint' && selection.lane === lane && selection.index === index;
    const chosen = is(model.chosen) || is(model.hovered);
    if (!(model.show.joints || chosen) || isBroken(frame, index)) return;
    const [a, b] = joint.ends.map((end) => anchor(view, end));
    if (!a || !b) return;
    // Not much larger than what they tie, but large enough to be seen.
    const dot = Math.min(PIXELS.point * pixel, Math.max(0.6 * view.grain, 2.6 * pixel));
    if (chosen) pen.point(b.point, Math.max(1.8 * dot, 5 * pixel), INK.lit);
    pen.point(a.point, 0.6 * dot, INK.joint);
    pen.point(b.point, dot, INK.joint);
    drawFrame(joint, a, b, view.flat, pixel, pen);
    const data = frame.jointData.subarray(JOINT_SIZE * index, JOINT_SIZE * (index + 1));
    for (const [k, at] of [JOINT.force, JOINT.torque].entries()) {
      const carried = new Vector3().fromArray(data, at);
      const length = reference[k] > 0 ? (PIXELS.arrow * pixel * carried.length()) / reference[k] : 0;
      pen.arrow(b.point, carried, length, pixel, k === 0 ? INK.joint : INK.torque);
    }
  });
}

function drawFrame(joint: StageJoint, a: Anchor, b: Anchor, flat: boolean, pixel: number, pen: Pen): void {
  const width = PIXELS.line * pixel;
  if (a.point.distanceTo(b.point) > 2 * pixel) pen.line(a.point, b.point, width, INK.joint);
  for (const axis of FREE_AXES[joint.form] ?? []) {
    const along = axis.clone().applyQuaternion(a.turn).multiplyScalar(PIXELS.axis * pixel);
    // In the plane what turns does so about the axis that leaves it.
    if (flat && joint.form !== 'slider') continue;
    pen.line(a.point.clone().sub(along), a.point.clone().add(along), width, INK.joint);
  }
}

export function isBroken(frame: Frame, joint: number): boolean {
  return joint >= frame.joints || frame.jointData[JOINT_SIZE * joint + JOINT.broken] > 0;
}

/** Force (N) and gap (m) of a joint. */
export function carried(frame: Frame, joint: number): [number, number] {
  const data = frame.jointData.subarray(JOINT_SIZE * joint, JOINT_SIZE * (joint + 1));
  return [Math.hypot(data[JOINT.force], data[JOINT.force + 1], data[JOINT.force + 2]), data[JOINT.error]];
}

/** Name and numbers of a joint. */
export function jointFacts(model: Model, frame: Frame, index: number): [string, [string, string][]] {
  const joint = model.stage?.stage.joints?.[index];
  if (!joint) return ['–', []];
  const name = (end: JointEnd) => model.stage?.stage.objects[end.object]?.name ?? '–';
  const between: [string, string] = ['ties', `${name(joint.ends[1])} to ${name(joint.ends[0])}`];
  const form: [string, string] = ['kind', joint.form];
  if (isBroken(frame, index)) return [joint.name || 'A joint that is gone', [form, between, ['state', 'broken']]];
  const data = frame.jointData.subarray(JOINT_SIZE * index, JOINT_SIZE * (index + 1));
  const size = (at: number) => Math.hypot(data[at], data[at + 1], data[at + 2]);
  return [
    joint.name,
    [
      form,
      between,
      ['force', quantity(size(JOINT.force), 'N')],
      ['torque', quantity(size(JOINT.torque), 'N·m')],
      ['gap', quantity(data[JOINT.error], 'm')],
      ['turned by', quantity(data[JOINT.turn], 'rad')],
      ['state', 'holds'],
    ],
  ];
}
