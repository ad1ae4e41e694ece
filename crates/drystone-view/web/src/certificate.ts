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
  private readonly iterationPlot: Plot;
  /** Only where there are joints. */
  private readonly jointPlot: Plot;
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
    ];
    this.iterationPlot = new Plot({ title: 'Iterations', unit: '', series: [column('iterations', '--teal', COLUMN.iterations)], seek });
    this.plots.push(this.iterationPlot);
    this.jointPlot = new Plot({ title: 'Largest gap in a joint', unit: 'm', series: [column('gap', '--teal', COLUMN.jointError)], seek });
    this.element.append(this.verdicts, this.facts, this.lanes, ...this.plots.map((plot) => plot.element), this.jointPlot.element);
  }

  update(): void {
    const { model } = this;
    if (this.lane >= model.lanes.length) this.lane = 0;
    if (this.verdicts.children.length !== model.lanes.length) fill(this.verdicts, ...model.lanes.map((_, lane) => this.verdictPlace(lane)));
    model.lanes.forEach((_, lane) => this.tellVerdict(lane));
    const names = model.lanes.length > 1 ? model.lanes.map(({ name }) => name) : [];
    if ([...this.lanes.children].map((button) => button.textContent).join() !== names.join()) fill(this.lanes, ...names.map((_, lane) => this.laneButton(lane)));
    [...this.lanes.children].forEach((button, lane) => button.setAttribute('aria-pressed', String(lane === this.lane)));
    const row = model.row(this.lane);
    const lane = model.lanes[this.lane];
    if (!row || !lane?.frame) return;
    const joined = lane.frame.joints > 0;
    // A recording does not tell how a solver worked.
    const recorded = Boolean(model.stage?.about.recorded);
    this.iterationPlot.element.hidden = recorded;
    const fact = (name: string, value: string) => el('div', {}, el('dt', {}, name), el('dd', {}, value));
    fill(
      this.facts,
      fact('residual', speed(row[COLUMN.residual])),
      fact('overlap', quantity(row[COLUMN.penetration], 'm')),
      fact('energy made', quantity(row[COLUMN.energyMade], 'J')),
      fact('contacts', String(row[COLUMN.contacts])),
      recorded ? null : fact('iterations', String(row[COLUMN.iterations])),
      joined ? fact('joint gap', quantity(row[COLUMN.jointError], 'm')) : null,
      fact('step took', row[COLUMN.milliseconds] > 0 ? `${row[COLUMN.milliseconds].toFixed(1)} ms` : '–'),
    );
    for (const plot of this.plots) plot.draw(lane.log, lane.frame.time);
    this.jointPlot.element.hidden = !joined;
    if (joined) this.jointPlot.draw(lane.log, lane.frame.time);
  }

  /** What stays in place while its words change, so that its button can be pressed. */
  private verdictPlace(lane: number): HTMLElement {
    return el('div', { class: 'verdict' }, el('strong'), el('small'), el('button', { class: 'link', 'data-do': 'worst', onclick: () => this.showWorst(lane) }, 'Show the worst contact'));
  }

  private tellVerdict(lane: number): void {
    const { state, text, detail } = verdict(this.model, lane);
    const { name } = this.model.lanes[lane];
    const place = this.verdicts.children[lane];
    const [headline, small, button] = place.children as unknown as HTMLElement[];
    place.className = `verdict ${state}`;
    headline.textContent = name ? `${name}: ${text}` : text;
    small.textContent = detail;
    button.hidden = (this.model.row(lane)?.[COLUMN.worst] ?? -1) < 0;
  }

  private laneButton(lane: number): HTMLElement {
    return el(
      'button',
      {
        onclick: () => {
          this.lane = lane;
          this.update();
        },
      },
      this.model.lanes[lane].name,
    );
  }
}
