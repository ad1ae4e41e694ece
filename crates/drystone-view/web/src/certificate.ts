/** The certificate: which laws hold, where they hold least, and how the numbers went. */
import { el, fill } from './dom';
import { quantity, speed } from './format';
import { verdict } from './law';
import type { Model } from './model';
import { Plot, type Series } from './plots';
import { COLUMN } from './types';

const column = (name: string, colour: string, index: number): Series => ({ name, colour, value: (row) => row[index] });

export class CertificatePanel {
  readonly element = el('div', { class: 'sheet' });
  private readonly verdicts = el('div', { class: 'verdicts' });
  private readonly facts = el('dl', { class: 'facts' });
  private readonly lanes = el('div', { class: 'lane-choice', role: 'group', 'aria-label': 'Plots of' });
  private readonly plots: Plot[];
  private lane = 0;

  /** @param showWorst takes the camera to the worst contact of a lane. */
  constructor(
    private readonly model: Model,
    private readonly showWorst: (lane: number) => void,
  ) {
    const seek = (time: number) => model.source.send({ do: 'seek', time });
    const total: Series = { name: 'total', colour: '--ink', value: (row) => row[COLUMN.kinetic] + row[COLUMN.potential] };
    this.plots = [
      new Plot({
        title: 'Residual',
        unit: 'm/s',
        logarithmic: true,
        series: [column('residual', '--orange', COLUMN.residual)],
        limit: (row) => row[COLUMN.tolerance],
        seek,
      }),
      new Plot({ title: 'Deepest overlap', unit: 'm', series: [column('overlap', '--blue', COLUMN.penetration)], seek }),
      new Plot({
        title: 'Energy',
        unit: 'J',
        series: [column('kinetic', '--orange', COLUMN.kinetic), column('potential', '--blue', COLUMN.potential), total],
        seek,
      }),
      new Plot({ title: 'Iterations', unit: '', series: [column('iterations', '--teal', COLUMN.iterations)], seek }),
    ];
    this.element.append(this.verdicts, this.facts, this.lanes, ...this.plots.map((plot) => plot.element));
  }

  update(): void {
    const { model } = this;
    if (this.lane >= model.lanes.length) this.lane = 0;
    fill(this.verdicts, ...model.lanes.map((_, lane) => this.verdictOf(lane)));
    fill(this.lanes, ...(model.lanes.length > 1 ? model.lanes.map((_, lane) => this.laneButton(lane)) : []));
    const row = model.row(this.lane);
    const lane = model.lanes[this.lane];
    if (!row || !lane?.frame) return;
    const fact = (name: string, value: string) => el('div', {}, el('dt', {}, name), el('dd', {}, value));
    fill(
      this.facts,
      fact('residual', speed(row[COLUMN.residual])),
      fact('overlap', quantity(row[COLUMN.penetration], 'm')),
      fact('energy made', quantity(row[COLUMN.energyMade], 'J')),
      fact('contacts', String(row[COLUMN.contacts])),
      fact('iterations', String(row[COLUMN.iterations])),
      fact('step took', row[COLUMN.milliseconds] > 0 ? `${row[COLUMN.milliseconds].toFixed(1)} ms` : '–'),
    );
    for (const plot of this.plots) plot.draw(lane.log, lane.frame.time);
  }

  private verdictOf(lane: number): HTMLElement {
    const { state, text, detail } = verdict(this.model, lane);
    const { name } = this.model.lanes[lane];
    const worst = (this.model.row(lane)?.[COLUMN.worst] ?? -1) >= 0;
    return el(
      'div',
      { class: `verdict ${state}`, role: 'status' },
      el('strong', {}, name ? `${name}: ${text}` : text),
      el('small', {}, detail),
      worst ? el('button', { class: 'link', 'data-do': 'worst', onclick: () => this.showWorst(lane) }, 'Show the worst contact') : null,
    );
  }

  private laneButton(lane: number): HTMLElement {
    return el(
      'button',
      {
        'aria-pressed': String(lane === this.lane),
        onclick: () => {
          this.lane = lane;
          this.update();
        },
      },
      this.model.lanes[lane].name,
    );
  }
}
