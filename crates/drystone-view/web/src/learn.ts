/** About the scene, and the learning path. */
import { el, fill } from './dom';
import { plain } from './format';
import type { Model } from './model';

export class LearnPanel {
  readonly element = el('div', { class: 'sheet' });
  private key = '';
  private readonly now = el('b', { class: 'now' });

  constructor(private readonly model: Model) {
    model.on(['stage', 'lesson', 'hello'], () => this.build());
  }

  private build(): void {
    const { stage, lesson, hello } = this.model;
    if (!stage) return;
    const { about } = stage;
    const measured = lesson?.measured;
    this.now.textContent = measured == null ? '–' : plain(Number(measured.toPrecision(4)));
    // Built anew only where there is something new to press.
    const key = [about.name, lesson?.number, hello?.scenes.length].join();
    if (key === this.key) return;
    this.key = key;
    const open = (scene: string, text: string) => el('button', { onclick: () => this.model.source.send({ do: 'open', scene }) }, text);
    const first = hello?.scenes.find((card) => card.lesson === 1);
    const path = lesson
      ? [
          el('p', { class: 'eyebrow' }, `Lesson ${lesson.number}`),
          el('h2', {}, lesson.title),
          el('p', {}, lesson.text),
          el('p', { class: 'equation' }, lesson.equation),
          el(
            'dl',
            { class: 'compare' },
            el('dt', {}, lesson.quantity),
            el('dd', {}, el('span', {}, 'expected'), lesson.expected === null ? '–' : plain(Number(lesson.expected.toPrecision(4)))),
            el('dd', { class: 'measured' }, el('span', {}, 'measured now'), this.now),
          ),
          el('div', { class: 'row' }, lesson.before ? open(lesson.before, '← before') : null, lesson.after ? open(lesson.after, 'next →') : null),
        ]
      : [el('h2', {}, about.name), el('p', {}, about.look)];
    fill(
      this.element,
      ...path,
      about.expect ? el('p', {}, el('b', {}, 'Expected: '), about.expect) : null,
      about.recorded ? el('p', { class: 'hint' }, about.recorded) : null,
      about.damage ? el('p', { class: 'hint' }, about.damage) : null,
      about.note ? el('p', { class: 'hint' }, about.note) : null,
      !lesson && this.model.source.live && first ? el('p', {}, open(first.name, 'Begin the learning path')) : null,
    );
  }
}
