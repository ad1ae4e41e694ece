/** The matrix A = J M⁻¹ Jᵀ of the newest step, and the way of the solver to its answer. */
import { el, fill } from './dom';
import { plain, speed } from './format';
import type { Model } from './model';
import { recordedHint } from './settings';

export class MatrixPanel {
  readonly element = el('div', { class: 'sheet' });
  private readonly canvas = el('canvas', { class: 'matrix', 'aria-label': 'Blocks of the matrix; darker is larger' });
  private readonly curve = el('canvas', { class: 'curve', 'aria-label': 'Residual over iterations' });
  private readonly words = el('p', { class: 'hint' });
  private readonly told = el('p', { class: 'told' });

  constructor(private readonly model: Model) {
    const ask = el('button', { class: 'primary', 'data-do': 'matrix', onclick: () => this.ask() }, 'Matrix of the newest step');
    const why = el('div');
    model.on(['stage'], () => {
      const recorded = model.stage?.about.recorded;
      ask.disabled = Boolean(recorded);
      fill(why, recorded ? recordedHint(recorded, 'The matrix') : null);
    });
    this.element.append(why, el('p', { class: 'hint' }, 'A = J M⁻¹ Jᵀ says how an impulse at one contact changes the velocity at another: one row and one column of blocks a contact. Point at a block to see its two contacts.'), ask, this.canvas, this.told, this.words, this.curve);
    this.canvas.addEventListener('pointermove', (event) => this.point(event));
    this.canvas.addEventListener('pointerleave', () => this.light([]));
    model.on(['matrix', 'stage', 'theme'], () => this.draw());
  }

  ask(): void {
    this.model.source.send({ do: 'play', on: false });
    this.model.source.send({ do: 'matrix' });
  }

  private light(contacts: number[]): void {
    this.model.lit = contacts;
    this.model.tell('selection');
  }

  private point(event: PointerEvent): void {
    const { matrix } = this.model;
    const side = matrix?.contacts.length ?? 0;
    if (!matrix || side === 0) return;
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * side);
    const row = Math.floor(((event.clientY - box.top) / box.height) * side);
    const block = matrix.blocks.find(([r, c]) => r === row && c === column);
    this.light([...new Set([matrix.contacts[row], matrix.contacts[column]])].filter((k) => k !== undefined));
    this.told.textContent = `contacts ${matrix.contacts[row]} and ${matrix.contacts[column]}: ${block ? `${plain(block[2])} 1/kg` : 'no influence'}`;
  }

  draw(): void {
    const { matrix } = this.model;
    const side = matrix?.contacts.length ?? 0;
    const any = matrix && side > 0;
    this.canvas.hidden = !any;
    this.curve.hidden = !any || matrix.curve.length < 2;
    this.told.textContent = '';
    fill(this.words, !matrix ? '' : any ? `${side} contacts, ${matrix.blocks.length + matrix.left_out} blocks${matrix.left_out ? `, ${matrix.left_out} not drawn` : ''}. Below: ${matrix.solver} on this step, from nothing.` : 'The last step had no contacts.');
    if (!any) return;
    this.drawBlocks(matrix.blocks, side);
    this.drawCurve(matrix.curve);
  }

  private drawBlocks(blocks: [number, number, number][], side: number): void {
    const width = Math.max(this.canvas.clientWidth, 200) * Math.min(devicePixelRatio, 2);
    [this.canvas.width, this.canvas.height] = [width, width];
    const context = this.canvas.getContext('2d');
    if (!context) return;
    const style = getComputedStyle(this.element);
    context.fillStyle = style.getPropertyValue('--sunk');
    context.fillRect(0, 0, width, width);
    const cell = width / side;
    const gap = cell > 6 ? 1 : 0;
    const sizes = blocks.map(([, , size]) => size).filter((size) => size > 0);
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
    const decades = Math.min(Math.max(Math.log10(most / least), 1), 6);
    context.fillStyle = style.getPropertyValue('--blue');
    for (const [row, column, size] of blocks) {
      if (size <= 0) continue;
      context.globalAlpha = 0.15 + 0.85 * Math.max(0, 1 + Math.log10(size / most) / decades);
      context.fillRect(column * cell, row * cell, Math.max(cell - gap, 1), Math.max(cell - gap, 1));
    }
    context.globalAlpha = 1;
  }

  private drawCurve(curve: [number, number][]): void {
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [Math.max(this.curve.clientWidth, 200), 130];
    [this.curve.width, this.curve.height] = [width * ratio, height * ratio];
    const context = this.curve.getContext('2d');
    if (!context || curve.length < 2) return;
    const style = getComputedStyle(this.element);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const values = curve.map(([, residual]) => Math.log10(Math.max(residual, 1e-16)));
    const [low, high] = [Math.min(...values) - 0.2, Math.max(...values) + 0.2];
    const last = Math.max(curve.at(-1)?.[0] ?? 1, 1);
    context.strokeStyle = style.getPropertyValue('--orange');
    context.lineWidth = 1.6;
    context.beginPath();
    curve.forEach(([iteration], k) => context.lineTo(6 + (iteration / last) * (width - 12), 8 + (1 - (values[k] - low) / (high - low)) * (height - 30)));
    context.stroke();
    context.fillStyle = style.getPropertyValue('--ink-soft');
    context.font = '11px system-ui, sans-serif';
    context.fillText(`residual ${speed(curve[0][1])}`, 6, 12);
    context.textAlign = 'right';
    context.fillText(`${speed(curve.at(-1)?.[1] ?? 0)} after ${last} iterations`, width - 6, height - 4);
  }
}
