/** What the page knows, and who wants to know when it changes. */
import {
  COLUMN,
  COLUMNS,
  type Frame,
  type Hello,
  type Lesson,
  type Listener,
  type Matrix,
  type Message,
  type PlayState,
  type Settings,
  type Source,
  type StageMessage,
} from './types';

/** Rows of numbers that are kept; beyond it the calmer of two neighbours goes. */
const MOST_ROWS = 20_000;

/** The numbers of every step, in the order of time. */
export class Log {
  rows: Float64Array[] = [];

  add(table: Float64Array): void {
    for (let at = 0; at < table.length; at += COLUMNS) {
      const row = table.slice(at, at + COLUMNS);
      const last = this.rows.at(-1);
      if (last && row[COLUMN.step] <= last[COLUMN.step]) continue;
      this.rows.push(row);
    }
    if (this.rows.length > MOST_ROWS) {
      this.rows = this.rows.filter((row, k) => {
        const other = this.rows[k ^ 1];
        return !other || row[COLUMN.residual] > other[COLUMN.residual] || (k % 2 === 0 && row[COLUMN.residual] === other[COLUMN.residual]);
      });
    }
  }

  /** The row of a step, or the last one before it. */
  at(step: number): Float64Array | undefined {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle][COLUMN.step] <= step) low = middle + 1;
      else high = middle;
    }
    return this.rows[low - 1] ?? this.rows[0];
  }
}

export interface Lane {
  name: string;
  frame: Frame | undefined;
  log: Log;
}

/** Something that changed. */
export type Topic = 'hello' | 'stage' | 'frame' | 'state' | 'settings' | 'lesson' | 'matrix' | 'show' | 'selection' | 'theme';

/** What is pointed at or chosen. */
export interface Selection {
  kind: 'object' | 'contact' | 'joint';
  index: number;
  lane: number;
}

/** What is drawn over the objects. */
export interface Show {
  contacts: boolean;
  normals: boolean;
  impulses: boolean;
  cones: boolean;
  velocities: boolean;
  boxes: boolean;
  joints: boolean;
  /** What sleeps is dimmed. */
  sleep: boolean;
  xray: boolean;
  colour: 'material' | 'residual' | 'load' | 'mass' | 'speed' | 'island';
}

export class Model implements Listener {
  hello: Hello | undefined;
  stage: StageMessage | undefined;
  lanes: Lane[] = [];
  settings: Settings[] = [];
  state: PlayState = { type: 'state', playing: false, speed: 1, past: false };
  lesson: Lesson | undefined;
  matrix: Matrix | undefined;
  hovered: Selection | undefined;
  chosen: Selection | undefined;
  /** Contacts lit by the matrix. */
  lit: number[] = [];
  show: Show = {
    contacts: false,
    normals: false,
    impulses: false,
    cones: false,
    velocities: false,
    boxes: false,
    joints: false,
    sleep: false,
    xray: false,
    colour: 'material',
  };
  private readonly listeners: [Topic[], () => void][] = [];
  onTrouble: (text: string) => void = () => undefined;
  onClosed: (text: string) => void = () => undefined;

  constructor(readonly source: Source) {}

  on(topics: Topic[], listener: () => void): void {
    this.listeners.push([topics, listener]);
  }

  tell(topic: Topic): void {
    for (const [topics, listener] of this.listeners) if (topics.includes(topic)) listener();
  }

  message(message: Message): void {
    switch (message.type) {
      case 'hello':
        this.hello = message;
        return this.tell('hello');
      case 'stage':
        return this.newStage(message);
      case 'settings':
        this.settings = message.lanes;
        return this.tell('settings');
      case 'state':
        this.state = message;
        return this.tell('state');
      case 'lesson':
        this.lesson = message.lesson;
        return this.tell('lesson');
      case 'matrix':
        this.matrix = message.matrix;
        return this.tell('matrix');
      case 'trouble':
        return this.onTrouble(message.text);
    }
  }

  private newStage(message: StageMessage): void {
    const grown = this.stage && this.stage.about.name === message.about.name && this.stage.lanes.join() === message.lanes.join() && message.stage.objects.length > this.stage.stage.objects.length;
    this.stage = message;
    if (!grown) {
      const names = message.lanes.length > 0 ? message.lanes : [''];
      this.lanes = names.map((name) => ({ name, frame: undefined, log: new Log() }));
      this.hovered = undefined;
      this.chosen = undefined;
      this.lit = [];
      this.matrix = undefined;
      this.lesson = undefined;
    }
    this.tell('stage');
  }

  frame(lane: number, frame: Frame): void {
    const place = this.lanes[lane];
    if (!place) return;
    place.frame = frame;
    this.tell('frame');
  }

  numbers(lane: number, rows: Float64Array): void {
    this.lanes[lane]?.log.add(rows);
  }

  closed(reason: string): void {
    this.onClosed(reason);
  }

  /** Whether what is shown can be changed: it is simulated, not recorded. */
  isLive(): boolean {
    return this.source.live && !this.stage?.about.recorded;
  }

  /** The numbers of the step that is shown. */
  row(lane: number): Float64Array | undefined {
    const place = this.lanes[lane];
    return place?.frame && place.log.at(place.frame.step);
  }

  choose(selection: Selection | undefined): void {
    this.chosen = selection;
    this.tell('selection');
  }

  hover(selection: Selection | undefined): void {
    const same = selection?.kind === this.hovered?.kind && selection?.index === this.hovered?.index && selection?.lane === this.hovered?.lane;
    if (same) return;
    this.hovered = selection;
    this.tell('selection');
  }
}
