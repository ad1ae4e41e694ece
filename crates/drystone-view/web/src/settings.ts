/** Settings that take effect at once, and the race of solvers. */
import { el, fill } from './dom';
import { powerOfTen } from './format';
import type { Model } from './model';
import type { Settings, Vec3 } from './types';

const STEPS = [1 / 60, 1 / 120, 1 / 240, 1 / 480, 1 / 1000, 1 / 2000];
const MOST_RACERS = 4;

export class SettingsPanel {
  readonly element = el('div', { class: 'sheet' });

  constructor(private readonly model: Model) {
    model.on(['settings', 'hello', 'stage'], () => this.build());
  }

  private set(change: Partial<Settings>): void {
    this.model.source.send({ do: 'set', change });
  }

  private build(): void {
    const { hello, stage } = this.model;
    const settings = this.model.settings[0];
    if (!settings || !hello || !stage) return;
    if (stage.about.recorded) {
      fill(this.element, recordedHint(stage.about.recorded, 'Settings'));
      return;
    }
    // Not under the fingers of someone who is typing.
    if (this.element.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement && document.activeElement.type === 'number') return;
    const racing = stage.lanes.length > 0;
    fill(
      this.element,
      this.gravity(settings.gravity, stage.stage.dimension),
      this.slider('friction', 'Friction μ', settings.friction, [0, 1.5, 0.01], 'of all surfaces'),
      this.slider('restitution', 'Restitution e', settings.restitution, [0, 1, 0.01], 'of all surfaces'),
      this.choice(
        'dt',
        'Time step',
        nearest(settings.dt),
        [...new Set([...STEPS, settings.dt])].sort((a, b) => b - a).map((dt) => [String(dt), `1/${Math.round(1 / dt)} s`]),
        (value) => this.set({ dt: Number(value) }),
      ),
      hello.strategies.length > 1 && !racing
        ? this.choice(
            'strategy',
            'Strategy',
            settings.strategy,
            hello.strategies.map((name) => [name, name]),
            (strategy) => this.set({ strategy }),
          )
        : null,
      settings.substeps === null ? null : this.number('substeps', 'Substeps', settings.substeps, 1, (substeps) => this.set({ substeps })),
      this.number('threads', 'Threads', settings.threads, 1, (threads) => this.set({ threads })),
      racing
        ? el('p', { class: 'hint' }, 'Solvers and strategies are those of the race.')
        : !settings.uses_solver
        ? el('p', { class: 'hint' }, `The strategy ${settings.strategy} has a solver of its own.`)
        : this.choice(
            'solver',
            'Solver',
            settings.solver,
            hello.solvers.map((name) => [name, name]),
            (solver) => this.set({ solver }),
          ),
      this.number('iterations', 'Most iterations', settings.iterations, 1, (iterations) => this.set({ iterations })),
      this.choice(
        'tolerance',
        'Tolerance',
        String(settings.tolerance),
        [...new Set([1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, settings.tolerance])].sort((a, b) => b - a).map((t) => [String(t), `${powerOfTen(t, 1)} m/s`]),
        (value) => this.set({ tolerance: Number(value) }),
      ),
    );
  }

  private row(name: string, label: string, control: HTMLElement, value?: HTMLElement): HTMLElement {
    control.id = `set-${name}`;
    return el('div', { class: 'setting' }, el('label', { for: control.id }, label, value ?? null), control);
  }

  private slider(name: 'friction' | 'restitution', label: string, value: number, [min, max, step]: Vec3, hint: string): HTMLElement {
    const shown = el('output', {}, value.toFixed(2));
    const input = el('input', {
      type: 'range',
      min: String(min),
      max: String(max),
      step: String(step),
      title: hint,
      oninput: (event) => {
        const chosen = Number((event.target as HTMLInputElement).value);
        shown.textContent = chosen.toFixed(2);
        this.set({ [name]: chosen });
      },
    });
    input.value = String(value);
    return this.row(name, label, input, shown);
  }

  private choice(name: string, label: string, value: string, options: [string, string][], change: (value: string) => void): HTMLElement {
    const select = el('select', { onchange: (event) => change((event.target as HTMLSelectElement).value) }, ...options.map(([key, text]) => el('option', { value: key, selected: key === value }, text)));
    return this.row(name, label, select);
  }

  private number(name: string, label: string, value: number, min: number, change: (value: number) => void): HTMLElement {
    const input = el('input', {
      type: 'number',
      min: String(min),
      step: '1',
      onchange: (event) => {
        const chosen = Math.round(Number((event.target as HTMLInputElement).value));
        if (chosen >= min) change(chosen);
      },
    });
    input.value = String(value);
    return this.row(name, label, input);
  }

  private gravity(gravity: Vec3, dimension: 2 | 3): HTMLElement {
    const inputs = gravity.slice(0, dimension).map((value, axis) => {
      const input = el('input', {
        type: 'number',
        step: '0.1',
        'aria-label': `gravity along ${'xyz'[axis]}`,
        onchange: () => this.set({ gravity: read() }),
      });
      input.value = String(Number(value.toFixed(3)));
      return input;
    });
    const read = (): Vec3 => [0, 1, 2].map((axis) => Number(inputs[axis]?.value ?? 0)) as Vec3;
    const preset = (name: string, y: number) => el('button', { onclick: () => this.set({ gravity: [0, y, 0] }) }, name);
    return el(
      'div',
      { class: 'setting' },
      el('label', {}, 'Gravity / (m/s²)'),
      el('div', { class: 'triple' }, ...inputs),
      el('div', { class: 'row' }, preset('Earth', -9.81), preset('Moon', -1.62), preset('none', 0), preset('up', 9.81)),
    );
  }
}

/** Why something needs a simulation. */
export function recordedHint(recorded: string, what: string): HTMLElement {
  return el('p', { class: 'hint', 'data-recorded': '' }, `${what} would need a simulation; this is a recording (${recorded}). Open its scene in the gallery to run it anew.`);
}

function nearest(dt: number): string {
  return String(STEPS.find((step) => Math.abs(step - dt) < 1e-9) ?? dt);
}

/** Two to four solvers side by side. */
export class RacePanel {
  readonly element = el('div', { class: 'sheet' });
  private chosen = new Set(['pgs', 'newton']);

  constructor(private readonly model: Model) {
    model.on(['hello', 'stage'], () => this.build());
  }

  private build(): void {
    const { hello, stage } = this.model;
    if (!hello || !stage) return;
    if (stage.about.recorded) {
      fill(this.element, recordedHint(stage.about.recorded, 'A race'));
      return;
    }
    const boxes = hello.racers.map((name) => {
      const box = el('input', {
        type: 'checkbox',
        onchange: (event) => {
          if ((event.target as HTMLInputElement).checked) this.chosen.add(name);
          else this.chosen.delete(name);
          this.build();
        },
      });
      box.checked = this.chosen.has(name);
      box.disabled = !box.checked && this.chosen.size >= MOST_RACERS;
      return el('label', { class: 'check' }, box, name);
    });
    const start = el('button', { class: 'primary', 'data-do': 'race', onclick: () => this.model.source.send({ do: 'race', racers: [...this.chosen] }) }, stage.lanes.length > 0 ? 'Race again' : 'Start the race');
    start.disabled = this.chosen.size < 2;
    const end = stage.lanes.length > 0 ? el('button', { 'data-do': 'end-race', onclick: () => this.model.source.send({ do: 'race', racers: [] }) }, 'End the race') : null;
    fill(
      this.element,
      el('p', { class: 'hint' }, `Two to ${MOST_RACERS} solvers or strategies, the same scene, in step, seen by one camera. Each is judged by the same certificate.`),
      el('div', { class: 'checks' }, ...boxes),
      el('div', { class: 'row' }, start, end),
    );
  }
}
