/** Numbers that a person can read, with their units. */

const PREFIXES: [number, string][] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
  [1e-3, 'm'],
  [1e-6, 'µ'],
  [1e-9, 'n'],
];

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Such as 10⁻⁵. */
export function power(exponent: number): string {
  const digits = [...String(Math.abs(Math.round(exponent)))].map((digit) => SUPERSCRIPTS[Number(digit)]);
  return `10${exponent < 0 ? '⁻' : ''}${digits.join('')}`;
}

/** Such as 2.5·10⁻⁵. */
export function powerOfTen(value: number, digits: number): string {
  const [mantissa, exponent] = value.toExponential(digits).split('e');
  return Number(mantissa) === 1 ? power(Number(exponent)) : `${Number(mantissa)}·${power(Number(exponent))}`;
}

/** Three figures. */
export function plain(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return powerOfTen(value, 1);
  return String(Number(value.toPrecision(3)));
}

/** Three figures with a prefix of the unit, such as 1.23 mm. */
export function quantity(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size < 1e-12) return `0 ${unit}`;
  const [factor, prefix] = PREFIXES.find(([least]) => size >= least * 0.9995) ?? [1e-9, 'n'];
  return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
}

/** Speeds are small here: mm/s and µm/s rather than powers of ten. */
export function speed(value: number): string {
  return quantity(value, 'm/s');
}

/** A mass in kg, with tonnes left alone. */
export function mass(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return 'fixed';
  return value >= 1e-3 && value < 1e6 ? `${Number(value.toPrecision(4))} kg` : `${plain(value)} kg`;
}

export function seconds(value: number): string {
  return `${value.toFixed(value < 100 ? 2 : 1)} s`;
}

export function vector(x: number, y: number, z: number, flat: boolean): string {
  const parts = flat ? [x, y] : [x, y, z];
  return `(${parts.map((part) => (Math.abs(part) < 5e-4 ? '0' : part.toFixed(3))).join(', ')})`;
}
