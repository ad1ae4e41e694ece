/** In words: whether the laws of contact hold in the step that is shown. */
import { speed } from './format';
import type { Model } from './model';
import { COLUMN } from './types';

export interface Verdict {
  state: 'holds' | 'fails' | 'unknown';
  text: string;
  detail: string;
}

export function verdict(model: Model, lane: number): Verdict {
  const row = model.row(lane);
  const residual = row?.[COLUMN.residual];
  if (!row || residual === undefined || Number.isNaN(residual)) return { state: 'unknown', text: 'Not judged yet', detail: 'no step has been made' };
  const detail = `residual ${speed(residual)}, tolerance ${speed(row[COLUMN.tolerance])}`;
  if (residual <= row[COLUMN.tolerance]) return { state: 'holds', text: 'All laws hold', detail };
  const law = model.hello?.laws[row[COLUMN.law] - 1];
  const text = law ? `${law[0].toUpperCase()}${law.slice(1)} by ${speed(row[COLUMN.lawError])}` : `Residual ${speed(residual)}`;
  return { state: 'fails', text, detail };
}
