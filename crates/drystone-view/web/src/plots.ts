/** Lines over time, on a canvas. */
import { el } from './dom';
import { plain, power, quantity } from './format';
import type { Log } from './model';
import { COLUMN } from './types';

export interface Series {
  name: string;
  /** A CSS variable. */
  colour: string;
  value(row: Float64Array): number;
}

export interface PlotOptions {
  title: string;
  unit: string;
  /** By powers of ten. */
  logarithmic?: boolean;
  series: Series[];
  /** A level that should not be passed. */
  limit?(row: Float64Array): number;
  seek(time: number): void;
}

const PAD = { left: 52, right: 8, top: 6, bottom: 16 };

export class Plot {
  readonly element: HTMLElement;
  private readonly canvas = el('canvas');
  private readonly value = el('span', { class: 'plot-value' });
  private span: [number, number] = [0, 1];

  constructor(private readonly options: PlotOptions) {
    const keys = options.series.length > 1 ? options.series.map((series) => el('span', { class: 'key', style: `--c: var(${series.colour})` }, series.name)) : [];
    this.element = el('figure', { class: 'plot' }, el('figcaption', {}, el('span', {}, options.title), ...keys, this.value), this.canvas);
    this.canvas.addEventListener('pointerdown', (event) => this.scrub(event));
    this.canvas.addEventListener('pointermove', (event) => event.buttons === 1 && this.scrub(event));
  }

  private scrub(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - PAD.left) / (box.width - PAD.left - PAD.right);
    this.options.seek(this.span[0] + Math.min(Math.max(share, 0), 1) * (this.span[1] - this.span[0]));
  }

  /** Draws a log, with a mark at the time that is shown. */
  draw(log: Log, time: number): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0) return;
    const ratio = Math.min(devicePixelRatio, 2);
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    const context = this.canvas.getContext('2d');
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(this.element);
    const rows = log.rows;
    if (rows.length === 0) return;
    this.span = [rows[0][COLUMN.time], Math.max(rows.at(-1)?.[COLUMN.time] ?? 1, rows[0][COLUMN.time] + 0.05)];
    const range = this.range(rows);
    const x = (t: number) => PAD.left + ((t - this.span[0]) / (this.span[1] - this.span[0])) * (width - PAD.left - PAD.right);
    const scaled = (v: number) => (this.options.logarithmic ? Math.log10(Math.max(v, 1e-300)) : v);
    const y = (v: number) => PAD.top + (1 - (scaled(v) - range[0]) / (range[1] - range[0])) * (height - PAD.top - PAD.bottom);
    this.axes(context, style, width, height, range);
    context.save();
    context.beginPath();
    context.rect(PAD.left, PAD.top - 1, width - PAD.left - PAD.right, height - PAD.top - PAD.bottom + 2);
    context.clip();
    const { limit } = this.options;
    if (limit) {
      context.setLineDash([4, 3]);
      this.line(context, rows, x, (row) => y(limit(row)), style.getPropertyValue('--ink-soft'), 1);
      context.setLineDash([]);
    }
    for (const series of this.options.series) this.line(context, rows, x, (row) => y(series.value(row)), style.getPropertyValue(series.colour), 1.5);
    context.strokeStyle = style.getPropertyValue('--ink-soft');
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x(time), PAD.top);
    context.lineTo(x(time), height - PAD.bottom);
    context.stroke();
    context.restore();
    const now = rows.findLast((row) => row[COLUMN.time] <= time + 1e-9);
    const shown = now && this.options.series.map((series) => series.value(now)).at(-1);
    this.value.textContent = shown === undefined || Number.isNaN(shown) ? '' : this.worded(shown);
  }

  private worded(value: number): string {
    return this.options.unit ? quantity(value, this.options.unit) : plain(value);
  }

  /** Least and greatest value, or their logarithms. */
  private range(rows: Float64Array[]): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    const take = (value: number) => {
      if (!Number.isFinite(value) || (this.options.logarithmic && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const row of rows) {
      for (const series of this.options.series) take(series.value(row));
      if (this.options.limit) take(this.options.limit(row));
    }
    if (low > high) return this.options.logarithmic ? [-6, 0] : [0, 1];
    if (this.options.logarithmic) {
      const top = Math.ceil(Math.log10(high));
      // What is smaller than a billionth of the largest is as good as nothing.
      return [Math.max(Math.floor(Math.log10(low)), top - 9), Math.max(top, Math.floor(Math.log10(low)) + 1)];
    }
    if (low > 0 && low < 0.6 * high) low = 0;
    const room = high > low ? 0.05 * (high - low) : Math.max(Math.abs(high), 1e-12) * 0.5;
    return [low === 0 ? 0 : low - room, high + room];
  }

  private axes(context: CanvasRenderingContext2D, style: CSSStyleDeclaration, width: number, height: number, range: [number, number]): void {
    context.strokeStyle = style.getPropertyValue('--line');
    context.fillStyle = style.getPropertyValue('--ink-soft');
    context.font = '10px system-ui, sans-serif';
    context.lineWidth = 1;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const tick of this.ticks(range)) {
      const y = PAD.top + (1 - (tick - range[0]) / (range[1] - range[0])) * (height - PAD.top - PAD.bottom);
      context.beginPath();
      context.moveTo(PAD.left, Math.round(y) + 0.5);
      context.lineTo(width - PAD.right, Math.round(y) + 0.5);
      context.stroke();
      context.fillText(this.options.logarithmic ? power(tick) : this.worded(tick), PAD.left - 5, y);
    }
    context.textBaseline = 'bottom';
    context.textAlign = 'left';
    context.fillText(`${plain(this.span[0])} s`, PAD.left, height);
    context.textAlign = 'right';
    context.fillText(`${plain(this.span[1])} s`, width - PAD.right, height);
  }

  private ticks([low, high]: [number, number]): number[] {
    if (this.options.logarithmic) {
      const step = Math.max(1, Math.ceil((high - low) / 3));
      return steps(Math.ceil(low), high, step);
    }
    const rough = (high - low) / 2.5;
    const base = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((f) => f * base).find((s) => s >= rough * 0.8) ?? base;
    return steps(Math.ceil(low / step) * step, high, step);
  }

  private line(context: CanvasRenderingContext2D, rows: Float64Array[], x: (t: number) => number, y: (row: Float64Array) => number, colour: string, width: number): void {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = 'round';
    context.beginPath();
    // One column of pixels shows the least and the greatest of its rows.
    let column = -1;
    let [low, high, open] = [0, 0, false];
    const flush = () => {
      if (!open) return;
      context.lineTo(column + 0.5, high);
      if (low !== high) context.lineTo(column + 0.5, low);
    };
    for (const row of rows) {
      const value = y(row);
      if (!Number.isFinite(value)) continue;
      const at = Math.floor(x(row[COLUMN.time]));
      if (at !== column) {
        flush();
        [column, low, high, open] = [at, value, value, true];
      }
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    flush();
    context.stroke();
  }
}

function steps(from: number, to: number, step: number): number[] {
  const values: number[] = [];
  for (let value = from; value <= to + 1e-9 * step; value += step) values.push(Math.abs(value) < 1e-9 * step ? 0 : value);
  return values;
}
