import { z } from 'zod';

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Cores: `2`, `0.5`, `500m`. */
export const CpuQuantity = z
  .string()
  .regex(/^(\d+(\.\d{1,3})?|\d+m)$/, 'is no amount of processor time, such as 2 or 500m');
/** Bytes: `512Mi`, `2Gi`. */
export const ByteQuantity = z
  .string()
  .regex(/^\d+(\.\d{1,3})?(k|M|G|T|Ki|Mi|Gi|Ti)?$/, 'is no amount of bytes, such as 512Mi or 2Gi');

/** `500m` and 4 make `2000m`. @param factor a power of two, so that nothing is rounded. */
export function times(quantity: string, factor: number): string {
  const { number, unit } = split(quantity);
  return `${number * factor}${unit}`;
}

/** Cores or bytes, for comparing two of the same kind. */
export function amountOf(quantity: string): number {
  const { number, unit } = split(quantity);
  return unit === 'm' ? number / 1_000 : number * (UNITS[unit] ?? Number.NaN);
}

function split(quantity: string): { number: number; unit: string } {
  const unit = /[a-zA-Z]*$/.exec(quantity)?.[0] ?? '';
  return { number: Number(quantity.slice(0, quantity.length - unit.length)), unit };
}
