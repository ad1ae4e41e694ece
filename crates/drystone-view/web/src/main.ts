/** The page: builds everything and wires it up. */
import { Vector3 } from 'three';
import { CertificatePanel } from './certificate';
import { Connection } from './connection';
import { el, fill } from './dom';
import { Gallery } from './gallery';
import { icon } from './icons';
import { Inspector } from './inspector';
import { verdict } from './law';
import { LearnPanel } from './learn';
import { MatrixPanel } from './matrix';
import { Model } from './model';
import { Picking } from './picking';
import { exposeProbe } from './probe';
import { Replay } from './replay';
import { RacePanel, SettingsPanel } from './settings';
import { ShowPanel } from './show';
import style from './style.css';
import { Transport } from './transport';
import { COLUMN, CONTACT, CONTACT_SIZE, type Source } from './types';
import { Viewport } from './viewport';

interface Tab {
  name: string;
  label: string;
  element: HTMLElement;
  update?: () => void;
}

class Page {
  private readonly model: Model;
  private readonly viewport: Viewport;
  private readonly picking: Picking;
  private readonly transport: Transport;
  private readonly show: ShowPanel;
  private readonly gallery: Gallery;
  private readonly tabs: Tab[];
  private readonly badge = el('button', { class: 'badge unknown', title: 'The law badge: open the certificate', onclick: () => this.openTab('law') });
  private readonly title = el('div', { class: 'title' });
  private readonly thrower = el('button', { 'data-do': 'throw', title: 'Throw a ball where you click next (b, or shift and click)', onclick: () => this.aim() }, 'Throw');
  private readonly tabBar = el('nav', { class: 'tabs', role: 'tablist' });
  private readonly body = el('div', { class: 'panel-body' });
  private readonly toast = el('div', { class: 'toast', role: 'alert', hidden: true });
  private readonly help = el('dialog', { class: 'help', 'aria-label': 'Keys' });
  private readonly panel: HTMLElement;
  private tab = 'law';
  private dark = matchMedia('(prefers-color-scheme: dark)').matches;

  constructor(source: Source, token: string) {
    document.head.append(el('style', {}, style));
    this.model = new Model(source);
    const host = el('main', { class: 'view' });
    this.viewport = new Viewport(this.model, host);
    this.picking = new Picking(this.model, this.viewport);
    this.transport = new Transport(this.model);
    this.show = new ShowPanel(this.model);
    this.gallery = new Gallery(this.model, token);
    const certificate = new CertificatePanel(this.model, (lane) => this.showWorst(lane));
    const inspector = new Inspector(this.model);
    this.tabs = [
      { name: 'law', label: 'Laws', element: certificate.element, update: () => certificate.update() },
      { name: 'show', label: 'Show', element: this.show.element },
      ...(source.live ? this.liveTabs() : []),
      { name: 'learn', label: source.live ? 'Learn' : 'About', element: new LearnPanel(this.model).element },
    ];
    this.panel = el('section', { class: 'panel', 'aria-label': 'Panel' }, this.tabBar, this.body);
    host.append(inspector.element, this.show.legend, this.toast);
    const app = document.querySelector('#app') ?? document.body;
    app.append(this.header(source.live), host, this.panel, this.transport.element, this.gallery.element, this.help);
    this.buildHelp();
    this.listen();
    this.wear(this.dark);
    this.openTab('law');
    exposeProbe(this.model, this.viewport);
    source.start(this.model);
  }

  private liveTabs(): Tab[] {
    const matrix = new MatrixPanel(this.model);
    return [
      { name: 'settings', label: 'Settings', element: new SettingsPanel(this.model).element },
      { name: 'race', label: 'Race', element: new RacePanel(this.model).element },
      { name: 'matrix', label: 'Matrix', element: matrix.element, update: () => undefined },
    ];
  }

  private header(live: boolean): HTMLElement {
    const button = (name: string, label: string, face: string | Node, act: () => void) => el('button', { 'data-do': name, title: label, 'aria-label': label, onclick: act }, face);
    return el(
      'header',
      { class: 'bar' },
      el('span', { class: 'brand' }, 'drystone'),
      live ? button('gallery', 'All scenes (g)', 'Gallery', () => this.gallery.open()) : null,
      this.title,
      this.badge,
      live ? this.thrower : null,
      button('home', 'See what moves (f)', 'Fit', () => this.viewport.fit()),
      button('theme', 'Light or dark (d)', icon('theme'), () => this.wear(!this.dark)),
      button('help', 'Keys (?)', '?', () => this.help.showModal()),
      button('panel', 'Hide or show the panel (p)', icon('panel'), () => this.togglePanel()),
    );
  }

  private listen(): void {
    const { model } = this;
    model.on(['stage'], () => {
      const about = model.stage?.about;
      const kind = about?.recorded ? el('em', { class: 'recording', title: about.recorded }, 'recording') : null;
      fill(this.title, el('strong', {}, about?.name ?? ''), kind, el('span', {}, about?.look ?? ''));
      this.thrower.disabled = !model.isLive();
      document.title = `${about?.name ?? 'Drystone'} · Drystone`;
      this.toast.hidden = true;
      if (about?.damage) this.say(about.damage, true);
    });
    let waiting = false;
    const update = () => {
      waiting = false;
      const { state, text } = verdict(model, 0);
      this.badge.className = `badge ${state}`;
      this.badge.textContent = text;
      this.tabs.find((tab) => tab.name === this.tab)?.update?.();
    };
    model.on(['frame', 'stage', 'settings', 'hello'], () => {
      // Plots follow at most ten times a second: frames come first.
      if (!waiting) setTimeout(update, 100);
      waiting = true;
    });
    model.onTrouble = (text) => this.say(text);
    model.onClosed = (text) => this.say(text, true);
    document.addEventListener('keydown', (event) => this.key(event));
  }

  private say(text: string, stay = false): void {
    this.toast.textContent = text;
    this.toast.hidden = false;
    if (!stay) setTimeout(() => (this.toast.hidden = true), 6000);
  }

  private openTab(name: string): void {
    this.tab = name;
    const tab = this.tabs.find((one) => one.name === name) ?? this.tabs[0];
    fill(
      this.tabBar,
      ...this.tabs.map(({ name: own, label }) => el('button', { role: 'tab', 'data-tab': own, 'aria-selected': String(own === tab.name), onclick: () => this.openTab(own) }, label)),
    );
    fill(this.body, tab.element);
    document.body.classList.remove('no-panel');
    tab.update?.();
  }

  private togglePanel(): void {
    document.body.classList.toggle('no-panel');
  }

  private wear(dark: boolean): void {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    this.viewport.wear(dark);
    this.model.tell('theme');
    this.tabs.find((tab) => tab.name === this.tab)?.update?.();
  }

  private aim(): void {
    this.picking.throwing = true;
    this.viewport.canvas.classList.add('aiming');
    const done = () => {
      this.picking.throwing = false;
      this.viewport.canvas.classList.remove('aiming');
    };
    this.viewport.canvas.addEventListener('pointerup', done, { once: true });
  }

  /** Chooses the worst contact of a lane and takes the camera there. */
  private showWorst(lane: number): void {
    const frame = this.model.lanes[lane]?.frame;
    const index = this.model.row(lane)?.[COLUMN.worst] ?? -1;
    if (!frame || index < 0 || index >= frame.contacts) return;
    // The scene has gone on since this frame: back to it.
    this.model.source.send({ do: 'seek', time: frame.time });
    const { origin } = this.viewport;
    const at = CONTACT_SIZE * index + CONTACT.position;
    const point = new Vector3(...frame.origin.map((c, k) => frame.contactData[at + k] + c - origin[k]));
    this.model.show.contacts = true;
    this.model.tell('show');
    this.model.choose({ kind: 'contact', index, lane });
    this.viewport.flyTo(point, 0.12 * this.viewport.radius);
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const typing = target.matches('input:not([type=checkbox]):not([type=range]), select, textarea');
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    const { source } = this.model;
    const number = Number(event.key);
    if (event.key === ' ') {
      if (target instanceof HTMLButtonElement) target.blur();
      this.transport.toggle();
    } else if (event.key === '.') source.send({ do: 'step' });
    else if (event.key === ',') source.send({ do: 'back' });
    else if (event.key === 'r') source.send({ do: 'restart' });
    else if (event.key === 'f') this.viewport.fit();
    else if (event.key === 'h') this.viewport.goHome();
    else if (event.key === 'd') this.wear(!this.dark);
    else if (event.key === 'p') this.togglePanel();
    else if (event.key === '?') this.help.showModal();
    else if (event.key === 'Escape') this.model.choose(undefined);
    else if (event.key === 'g' && source.live) this.gallery.open();
    else if (event.key === 'b' && this.model.isLive()) this.throwAhead();
    else if (number >= 1 && number <= this.tabs.length) this.openTab(this.tabs[number - 1].name);
    else if (!this.show.key(event.key)) return;
    event.preventDefault();
  }

  private throwAhead(): void {
    const pane = this.viewport.pane(0);
    this.picking.throwBall(pane.left + pane.width / 2, pane.top + pane.height / 2);
  }

  private buildHelp(): void {
    const keys: [string, string][] = [
      ['space', 'play or pause'],
      ['. and ,', 'a step on or back'],
      ['r', 'restart'],
      ['f', 'see what moves, as it is now'],
      ['h', 'see the scene as at the start'],
      ['c n i k v j x s z', 'contacts, normals, impulses, cones, velocities, joints, boxes, sleep, see through'],
      ['1 to 6', 'tabs of the panel'],
      ['d', 'light or dark'],
      ['p', 'hide the panel'],
      ['esc', 'let go of what is chosen'],
    ];
    if (this.model.source.live) keys.push(['g', 'gallery'], ['b', 'throw a ball'], ['drag an object', 'pull it'], ['shift and click', 'throw a ball there']);
    const rows = keys.flatMap(([key, text]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, text)]);
    this.help.append(el('h2', {}, 'Keys'), el('dl', {}, ...rows), el('button', { onclick: () => this.help.close() }, 'Close'));
  }
}

const data = document.querySelector('#replay')?.textContent?.trim();
const token = location.hash.slice(1);
new Page(data ? new Replay(data) : new Connection(token), token);
