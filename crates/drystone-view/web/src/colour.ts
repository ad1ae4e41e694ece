/** Colours that also read with any common colour blindness: lightness rises along every scale. */
import { Color } from 'three';

export const INK = {
  stick: new Color('#26699a'),
  slip: new Color('#d9571f'),
  open: new Color('#8f8a82'),
  normal: new Color('#1e8576'),
  velocity: new Color('#8c4670'),
  box: new Color('#6b6f76'),
  lit: new Color('#f2b01e'),
  joint: new Color('#4b3f8f'),
  torque: new Color('#a3781c'),
  asleep: new Color('#b9b6b0'),
};

/** Dark blue over grey to yellow: the steps of cividis. */
const SCALE = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838'].map((code) => new Color(code));

/** A colour of the scale from 0 to 1. */
export function scale(share: number, target: Color): Color {
  const at = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const k = Math.min(Math.floor(at), SCALE.length - 2);
  return target.lerpColors(SCALE[k], SCALE[k + 1], at - k);
}

export const SCALE_CSS = `linear-gradient(90deg, ${['#00224e', '#3b496c', '#707173', '#a59c74', '#fee838'].join(', ')})`;

/** Colours of groups, told apart by lightness as well as by hue. */
const GROUPS = ['#26699a', '#e6a537', '#1e8576', '#cf5226', '#80b6d6', '#8c465c', '#bfb48f', '#4d4f8f', '#d99fb0', '#5d7f3a'].map((code) => new Color(code));

export function group(index: number): Color {
  return GROUPS[index % GROUPS.length];
}
