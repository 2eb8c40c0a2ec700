/** One line of a picture. */
export interface Curve {
  readonly name: string;
  /** Time in seconds, value; ascending. */
  readonly points: readonly (readonly [number, number])[];
}

const WIDTH = 640;
const HEIGHT = 190;
const [LEFT, RIGHT, TOP, BOTTOM] = [58, 12, 8, 22] as const;
/** Distinguishable with colour blindness, too. */
export const COLOURS = ['#2f6fde', '#e07b00', '#159570', '#c2408f', '#8a6d00', '#6c55c9', '#00839b', '#b3403a'];
/** A pause in the values longer than this many steps is a gap in the line. */
const GAP_STEPS = 3;

/** A time series as SVG: at most as many curves as there are colours. */
export function chart(
  curves: readonly Curve[],
  range: { from: number; to: number; step: number },
  unit: { readonly write: (value: number) => string; readonly base: number },
  critical?: number,
): string {
  const shown = curves.slice(0, COLOURS.length);
  const values = shown.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  const largest = Math.max(0, ...values);
  const top = nice(
    critical !== undefined && critical <= largest * 3 ? Math.max(largest, critical * 1.05) : largest,
    unit.base,
  );
  const x = (time: number): number => LEFT + ((time - range.from) / (range.to - range.from)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = y(share * top).toFixed(1);
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/><text class="axis" x="${LEFT - 6}" y="${Number(at) + 4}" text-anchor="end">${escapeText(unit.write(share * top))}</text>`;
  });
  const times = [0, 0.25, 0.5, 0.75, 1].map((share, index) => {
    const time = range.from + share * (range.to - range.from);
    const anchor = index === 0 ? 'start' : index === 4 ? 'end' : 'middle';
    return `<text class="axis" x="${x(time).toFixed(1)}" y="${HEIGHT - 6}" text-anchor="${anchor}">${new Date(time * 1000).toISOString().slice(11, 19)}</text>`;
  });
  const drawn = shown.map(
    ({ points }, index) =>
      `<path d="${pathOf(points, range.step, x, y)}" fill="none" stroke="${COLOURS[index]}" stroke-width="1.8"/>`,
  );
  const line =
    critical !== undefined && critical <= top
      ? `<line class="critical" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(critical).toFixed(1)}" y2="${y(critical).toFixed(1)}"/>`
      : '';
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${[...grid, ...times, ...drawn, line].join('')}</svg>`;
}

function pathOf(
  points: Curve['points'],
  step: number,
  x: (time: number) => number,
  y: (value: number) => number,
): string {
  let before = Number.NEGATIVE_INFINITY;
  const parts: string[] = [];
  for (const [time, value] of points) {
    if (!Number.isFinite(value)) continue;
    parts.push(`${time - before > GAP_STEPS * step ? 'M' : 'L'}${x(time).toFixed(1)} ${y(value).toFixed(1)}`);
    before = time;
  }
  return parts.join('');
}

/** The next round number: of bytes a power of two. */
function nice(value: number, base: number): number {
  if (value <= 0) return 1;
  if (base === 1024) return 2 ** Math.ceil(Math.log2(value));
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 4, 5, 8, 10].find((factor) => factor * power >= value * 0.999) ?? 10);
}

export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
