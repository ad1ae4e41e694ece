/** Play, pause, step, speed and scrub. */
import { el, fill } from './dom';
import { icon } from './icons';
import { seconds } from './format';
import type { Model } from './model';

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];

export class Transport {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly slider = el('input', { type: 'range', min: '0', max: '1', step: 'any', class: 'scrub', 'aria-label': 'Time' });
  private readonly clock = el('output', { class: 'clock' });
  private scrubbing = false;
  /** Whether the button offers to pause. */
  private offersPause = false;

  constructor(private readonly model: Model) {
    const { source } = model;
    const button = (name: string, label: string, picture: Parameters<typeof icon>[0], act: () => void) => el('button', { 'data-do': name, title: label, 'aria-label': label, onclick: act }, icon(picture));
    this.play = button('play', 'Play or pause (space)', 'play', () => this.toggle());
    const speed = el(
      'select',
      { class: 'speed', 'aria-label': 'Speed', onchange: (event) => source.send({ do: 'speed', factor: Number((event.target as HTMLSelectElement).value) }) },
      ...SPEEDS.map((factor) => el('option', { value: String(factor), selected: factor === 1 }, `×${factor}`)),
    );
    this.slider.addEventListener('input', () => {
      this.scrubbing = true;
      source.send({ do: 'seek', time: Number(this.slider.value) });
    });
    this.slider.addEventListener('change', () => (this.scrubbing = false));
    this.element = el(
      'footer',
      { class: 'transport' },
      button('restart', 'Restart (r)', 'restart', () => source.send({ do: 'restart' })),
      button('back', 'Step back (,)', 'back', () => source.send({ do: 'back' })),
      this.play,
      button('step', 'Step (.)', 'step', () => source.send({ do: 'step' })),
      this.slider,
      this.clock,
      speed,
    );
    model.on(['frame', 'state'], () => this.update());
  }

  toggle(): void {
    this.model.source.send({ do: 'play', on: !this.model.state.playing });
  }

  private update(): void {
    const { playing } = this.model.state;
    // Only where it changes: a click is lost if what it began on is gone when the button comes up.
    if (playing !== this.offersPause) fill(this.play, icon(playing ? 'pause' : 'play'));
    this.offersPause = playing;
    const frame = this.model.lanes[0]?.frame;
    if (!frame) return;
    this.slider.max = String(Math.max(frame.headTime, 1e-3));
    if (!this.scrubbing) this.slider.value = String(frame.time);
    this.slider.style.setProperty('--share', String(frame.time / Math.max(frame.headTime, 1e-3)));
    fill(this.clock, seconds(frame.time), el('span', {}, ` · step ${frame.step}`));
  }
}
