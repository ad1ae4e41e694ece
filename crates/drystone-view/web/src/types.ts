/** What the program sends and what a page may ask for; the counterpart of `live/simulation.rs`. */

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];

export type Form =
  | { ball: { radius: number } }
  | { box: { half: Vec3 } }
  | { capsule: { half_length: number; radius: number } }
  | { cylinder: { half_height: number; radius: number } }
  | { cone: { half_height: number; radius: number } }
  | { half_space: { normal: Vec3 } }
  | { outline: { points: Vec3[]; closed: boolean } }
  | { mesh: { points: Vec3[]; triangles: Vec3[] } };

export interface Part {
  position: Vec3;
  rotation: Quat;
  form: Form;
}

export interface StageObject {
  name: string;
  fixed: boolean;
  parts: Part[];
}

export interface Stage {
  dimension: 2 | 3;
  objects: StageObject[];
  /** Surfaces that hang on objects, which are then not drawn themselves. */
  skins?: Skin[];
  joints?: StageJoint[];
}

export interface JointEnd {
  object: number;
  /** In the object's axes, m. */
  position: Vec3;
  rotation: Quat;
}

/** What does not change of a joint. */
export interface StageJoint {
  name: string;
  form: 'fixed' | 'ball' | 'hinge' | 'slider' | 'universal' | 'distance' | 'spring' | 'gear' | 'axes' | 'gone';
  ends: [JointEnd, JointEnd];
}

export interface Skin {
  name: string;
  objects: number[];
  triangles: Vec3[];
  segments: [number, number][];
  /** m. */
  thickness: number;
  two_sided: boolean;
}

export interface About {
  name: string;
  look: string;
  expect: string | null;
  note: string | null;
  seconds: number;
  /** What is played where this is a recording, which can't be changed. */
  recorded?: string | null;
  /** What is missing of a recording. */
  damage?: string | null;
  /** kg; null for what nothing moves. */
  masses: (number | null)[];
}

export interface StageMessage {
  type: 'stage';
  stage: Stage;
  about: About;
  colours: Vec3[];
  camera: { eye: Vec3; target: Vec3; field_of_view: number };
  /** Names of solvers side by side; empty where there is no race. */
  lanes: string[];
}

export interface Settings {
  gravity: Vec3;
  friction: number;
  restitution: number;
  dt: number;
  /** Small steps in a step; null where the strategy makes none. */
  substeps: number | null;
  solver: string;
  /** Whether the strategy uses the solver. */
  uses_solver: boolean;
  iterations: number;
  tolerance: number;
  strategy: string;
  threads: number;
  /** How near bodies are always found, m. */
  margin: number;
}

export interface Card {
  name: string;
  look: string;
  dimension: 2 | 3;
  lesson: number;
}

export interface Hello {
  type: 'hello';
  scenes: Card[];
  solvers: string[];
  strategies: string[];
  /** What can run side by side. */
  racers: string[];
  laws: string[];
}

export interface PlayState {
  type: 'state';
  playing: boolean;
  speed: number;
  past: boolean;
}

export interface Lesson {
  number: number;
  title: string;
  text: string;
  equation: string;
  quantity: string;
  expected: number | null;
  measured: number | null;
  before: string | null;
  after: string | null;
}

export interface Matrix {
  contacts: number[];
  blocks: [number, number, number][];
  left_out: number;
  solver: string;
  curve: [number, number][];
}

export type Message =
  | Hello
  | StageMessage
  | PlayState
  | { type: 'settings'; lanes: Settings[] }
  | { type: 'lesson'; lesson: Lesson }
  | { type: 'matrix'; matrix: Matrix }
  | { type: 'trouble'; text: string };

export type Command =
  | { do: 'open'; scene: string }
  | { do: 'play'; on: boolean }
  | { do: 'step' }
  | { do: 'back' }
  | { do: 'speed'; factor: number }
  | { do: 'restart' }
  | { do: 'seek'; time: number }
  | { do: 'set'; change: Partial<Settings> }
  | { do: 'grab'; grip: { object: number; point: Vec3; target: Vec3 } }
  | { do: 'release' }
  | { do: 'throw'; throw: { position: Vec3; velocity: Vec3; radius: number } }
  | { do: 'race'; racers: string[] }
  | { do: 'matrix' };

/** Where everything is at one time. */
export interface Frame {
  step: number;
  time: number;
  /** Time of the newest frame, s. */
  headTime: number;
  origin: Vec3;
  objects: number;
  contacts: number;
  /** Relative to the origin, m. */
  positions: Float32Array;
  rotations: Float32Array;
  velocities: Float32Array;
  spins: Float32Array;
  /** Two objects a contact. */
  pairs: Uint32Array;
  /** CONTACT_SIZE numbers a contact; see the offsets below. */
  contactData: Float32Array;
  /** For each object twice its island and 1 more if it sleeps; see `islandOf` and `sleeps`. */
  states: Uint32Array;
  joints: number;
  /** JOINT_SIZE numbers a joint; see the offsets below. */
  jointData: Float32Array;
}

/** The island of what belongs to none. */
export const NO_ISLAND = 0x7fffffff;

export function islandOf(frame: Frame, object: number): number {
  return (frame.states[object] ?? 2 * NO_ISLAND) >>> 1;
}

export function sleeps(frame: Frame, object: number): boolean {
  return ((frame.states[object] ?? 0) & 1) === 1;
}

/** Offsets into the numbers of a joint. */
export const JOINT = { force: 0, torque: 3, error: 6, turn: 7, broken: 8 };
export const JOINT_SIZE = 9;

/** Offsets into the numbers of a contact. */
export const CONTACT = { position: 0, normal: 3, impulse: 6, separation: 9, friction: 10, residual: 11 };
export const CONTACT_SIZE = 12;

/** Columns of a row of numbers. */
export const COLUMN = {
  step: 0,
  time: 1,
  residual: 2,
  tolerance: 3,
  penetration: 4,
  energyMade: 5,
  kinetic: 6,
  potential: 7,
  iterations: 8,
  contacts: 9,
  law: 10,
  lawError: 11,
  worst: 12,
  milliseconds: 13,
  jointError: 14,
} as const;
export const COLUMNS = 15;

/** What drives a page: the program, or a file that replays. */
export interface Source {
  readonly live: boolean;
  send(command: Command): void;
  start(listener: Listener): void;
}

export interface Listener {
  message(message: Message): void;
  frame(lane: number, frame: Frame): void;
  numbers(lane: number, rows: Float64Array): void;
  closed(reason: string): void;
}
