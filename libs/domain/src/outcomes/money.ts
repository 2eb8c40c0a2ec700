/** Places of an amount in USD, as the ledger has them: its smallest part is 1e-10. */
const PLACES = 10;
/** Of a quotient, which is never charged. */
const QUOTIENT_PLACES = 6;

/** A decimal as whole parts of 1e-10 USD. @throws RangeError for what is no decimal. */
export function ticksOf(decimal: string): bigint {
  const [, sign, whole, part = ''] = /^(-?)(\d{1,20})(?:\.(\d{1,20}))?$/.exec(decimal) ?? [];
  if (whole === undefined) throw new RangeError('not a decimal');
  const ticks = BigInt(whole + part.slice(0, PLACES).padEnd(PLACES, '0'));
  return sign === '-' ? -ticks : ticks;
}

/** Without zeros at its end. */
export function decimalOf(ticks: bigint, places = PLACES): string {
  const digits = (ticks < 0n ? -ticks : ticks).toString().padStart(places + 1, '0');
  const part = digits.slice(-places).replace(/0+$/, '');
  return `${ticks < 0n ? '-' : ''}${digits.slice(0, -places)}${part === '' ? '' : `.${part}`}`;
}

/**
 * One of `parts` equal shares; the first has what does not divide. The shares come to `ticks` exactly. @param index
 * from 0.
 */
export function shareOf(ticks: bigint, parts: number, index: number): bigint {
  const each = ticks / BigInt(parts);
  return index === 0 ? ticks - each * BigInt(parts - 1) : each;
}

/** `cost / count` to a millionth of a dollar, rounded half up; `null` for none. */
export function perPiece(cost: string, count: number): string | null {
  if (count === 0) return null;
  const scaled = ticksOf(cost) / 10n ** BigInt(PLACES - QUOTIENT_PLACES - 1);
  const tenths = scaled / BigInt(count);
  return decimalOf((tenths + 5n) / 10n, QUOTIENT_PLACES);
}

/** Between 0 and 1; `null` where there is nothing to have a share of. */
export function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
