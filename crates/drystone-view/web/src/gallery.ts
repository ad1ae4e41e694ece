/** All scenes, one click away. */
import { el, fill } from './dom';
import type { Model } from './model';
import type { Card } from './types';

export class Gallery {
  readonly element = el('dialog', { class: 'gallery', 'aria-label': 'Gallery' });
  private readonly search = el('input', { type: 'search', placeholder: 'Search scenes', 'aria-label': 'Search scenes', oninput: () => this.build() });
  private readonly cards = el('div', { class: 'cards' });

  constructor(
    private readonly model: Model,
    private readonly token: string,
  ) {
    const close = el('button', { class: 'link', 'aria-label': 'Close', onclick: () => this.element.close() }, '×');
    this.element.append(el('header', {}, el('h2', {}, 'Gallery'), this.search, close), this.cards);
    this.element.addEventListener('click', (event) => event.target === this.element && this.element.close());
    model.on(['hello'], () => this.build());
  }

  open(): void {
    this.build();
    this.element.showModal();
    this.search.focus();
  }

  private build(): void {
    const words = this.search.value.toLowerCase();
    const scenes = (this.model.hello?.scenes ?? []).filter((card) => `${card.name} ${card.look}`.toLowerCase().includes(words));
    fill(this.cards, ...scenes.map((card) => this.card(card)));
  }

  private card(card: Card): HTMLElement {
    return el(
      'button',
      {
        class: 'card',
        'data-scene': card.name,
        onclick: () => {
          this.element.close();
          this.model.source.send({ do: 'open', scene: card.name });
        },
      },
      el('img', { src: `/thumbnail/${encodeURIComponent(card.name)}?token=${this.token}`, alt: '', loading: 'lazy', width: '320', height: '180' }),
      el('strong', {}, card.name),
      el('span', {}, card.look),
      el('small', {}, [`${card.dimension}D`, card.lesson ? `lesson ${card.lesson}` : ''].filter(Boolean).join(' · ')),
    );
  }
}
