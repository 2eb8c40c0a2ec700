/** The ledger's smallest place, 1e-10 USD. */
const PLACES = 10;
const DECIMAL = /^(-?)(\d{1,20})(?:\.(\d{1,20}))?$/;

/** Exact sum of decimals, without zeros at its end. What is no decimal counts 0. */
export function sumUsd(amounts: Iterable<string>): string {
  let ticks = 0n;
  for (const amount of amounts) {
    const [, sign, whole, part] = DECIMAL.exec(amount) ?? [];
    if (whole === undefined) continue;
    const each = BigInt(whole + (part ?? '').slice(0, PLACES).padEnd(PLACES, '0'));
    ticks += sign === '-' ? -each : each;
  }
  const digits = (ticks < 0n ? -ticks : ticks).toString().padStart(PLACES + 1, '0');
  const part = digits.slice(-PLACES).replace(/0+$/, '');
  return `${ticks < 0n ? '-' : ''}${digits.slice(0, -PLACES)}${part === '' ? '' : `.${part}`}`;
}

/** A number of US dollars as a decimal of ten places. */
export function usdOf(amount: number): string {
  return sumUsd([Number.isFinite(amount) ? Math.max(0, amount).toFixed(PLACES) : '0']);
}
