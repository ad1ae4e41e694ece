/** What is drawn over the objects, and how they are coloured. */
import { INK, SCALE_CSS } from './colour';
import { legend } from './colouring';
import { el, fill } from './dom';
import type { Model, Show } from './model';

type Flag = Exclude<keyof Show, 'colour'>;

const FLAGS: [Flag, string, string][] = [
  ['contacts', 'Contact points', 'c'],
  ['normals', 'Normals', 'n'],
  ['impulses', 'Impulses', 'i'],
  ['cones', 'Friction cones', 'k'],
  ['velocities', 'Velocities', 'v'],
  ['joints', 'Joints and their forces', 'j'],
  ['boxes', 'Boxes of the broad phase', 'x'],
  ['sleep', 'Dim what sleeps', 's'],
  ['xray', 'See through objects', 'z'],
];

const COLOURS: [Show['colour'], string][] = [
  ['material', 'as they are'],
  ['residual', 'by residual'],
  ['load', 'by load carried'],
  ['mass', 'by mass'],
  ['speed', 'by speed'],
  ['island', 'by island'],
];

export class ShowPanel {
  readonly element = el('div', { class: 'sheet' });
  /** Stands on the picture where a scale is in use. */
  readonly legend = el('div', { class: 'legend', hidden: true });

  constructor(private readonly model: Model) {
    model.on(['show'], () => this.build());
    model.on(['frame', 'show'], () => requestAnimationFrame(() => this.drawLegend()));
    this.build();
  }

  /** Switches something on or off by its key. */
  key(key: string): boolean {
    const flag = FLAGS.find(([, , own]) => own === key)?.[0];
    if (!flag) return false;
    this.model.show[flag] = !this.model.show[flag];
    this.model.tell('show');
    return true;
  }

  private build(): void {
    const { show } = this.model;
    const flags = FLAGS.map(([flag, label, key]) => {
      const box = el('input', {
        type: 'checkbox',
        'data-show': flag,
        onchange: () => {
          show[flag] = !show[flag];
          this.model.tell('show');
        },
      });
      box.checked = show[flag];
      return el('label', { class: 'check' }, box, label, el('kbd', {}, key));
    });
    const select = el(
      'select',
      {
        id: 'show-colour',
        onchange: (event) => {
          show.colour = (event.target as HTMLSelectElement).value as Show['colour'];
          this.model.tell('show');
        },
      },
      ...COLOURS.map(([key, text]) => el('option', { value: key, selected: key === show.colour }, text)),
    );
    const swatch = (ink: keyof typeof INK, text: string) => el('li', {}, el('i', { style: `background:#${INK[ink].getHexString()}` }), text);
    fill(
      this.element,
      el('div', { class: 'checks one' }, ...flags),
      el('div', { class: 'setting' }, el('label', { for: 'show-colour' }, 'Objects'), select),
      el(
        'ul',
        { class: 'swatches' },
        swatch('normal', 'normal impulse'),
        swatch('stick', 'friction of a contact that sticks'),
        swatch('slip', 'friction of a contact that slips'),
        swatch('open', 'near, but nothing presses'),
        swatch('velocity', 'velocity, as far as it goes in 0.12 s'),
        swatch('joint', 'joint, its axes and its force'),
        swatch('torque', 'torque of a joint'),
      ),
    );
  }

  private drawLegend(): void {
    const { colour } = this.model.show;
    const shown = colour !== 'material' && legend;
    this.legend.hidden = !shown;
    if (!shown) return;
    const bar = colour === 'island' ? null : el('div', { class: 'legend-bar', style: `background:${SCALE_CSS}` });
    fill(this.legend, el('span', {}, shown.title), bar, el('div', { class: 'legend-ends' }, el('span', {}, shown.low), el('span', {}, shown.high)));
  }
}
