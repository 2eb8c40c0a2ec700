import type { Board, Panel, Unit } from '../model.ts';
import { COLOURS, type Curve, chart, escapeText } from './chart.ts';

/** What Prometheus said to a panel. */
export interface Answer {
  readonly panel: Panel;
  /** Of a number: its value now; `null`: none. */
  readonly value: number | null;
  readonly curves: readonly Curve[];
}

interface Picture {
  readonly board: Board;
  readonly answers: ReadonlyMap<Panel, Answer>;
  readonly range: { readonly from: number; readonly to: number; readonly step: number };
}

/**
 * A dashboard as a page of its own, with what was answered. Not Grafana: the same panels, queries and thresholds, drawn
 * by us.
 */
export function picturePage({ board, answers, range }: Picture): string {
  const rows = board.rows.map(({ title, panels }) => {
    const cells = panels.map((panel) => cellOf(answers.get(panel) ?? { panel, value: null, curves: [] }, range));
    return `<h2>${escapeText(title)}</h2><div class="row">${cells.join('')}</div>`;
  });
  return `<!doctype html><meta charset="utf-8"><title>${escapeText(board.title)}</title><style>${STYLE}</style><main><h1>Slipway / ${escapeText(board.title)}</h1>${rows.join('')}</main>`;
}

function cellOf({ panel, value, curves }: Answer, range: Picture['range']): string {
  const title = `<h3>${escapeText(panel.title)}</h3>`;
  if (panel.kind === 'number')
    return `<section class="number ${levelOf(panel, value)}">${title}<p>${value === null ? 'no data' : escapeText(panel.unit === 'number' ? String(Math.round(value)) : write(panel.unit, value))}</p></section>`;
  if (curves.length === 0) return `<section class="lines">${title}<p class="none">no data</p></section>`;
  const legend = curves.slice(0, COLOURS.length).map(({ name, points }, index) => {
    const last = points.findLast(([, each]) => Number.isFinite(each))?.[1];
    return `<li><i style="background:${COLOURS[index]}"></i>${escapeText(name)} <b>${last === undefined ? '' : escapeText(write(panel.unit, last))}</b></li>`;
  });
  if (curves.length > COLOURS.length) legend.push(`<li>and ${curves.length - COLOURS.length} more</li>`);
  return `<section class="lines">${title}${chart(curves, range, { write: (each) => write(panel.unit, each), base: panel.unit === 'bytes' ? 1024 : 10 }, panel.thresholds?.critical)}<ul>${legend.join('')}</ul></section>`;
}

function levelOf({ thresholds }: Panel, value: number | null): string {
  if (thresholds === undefined || value === null) return '';
  if (value >= thresholds.critical) return 'critical';
  return thresholds.warning !== undefined && value >= thresholds.warning ? 'warning' : 'good';
}

/** A value as a reader of a chart wants it: three digits and its unit. */
function write(unit: Unit, value: number): string {
  if (unit === 'share') return `${digits(value * 100)} %`;
  if (unit === 'usd') return `$${value === 0 ? '0' : value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;
  if (unit === 'seconds')
    return value === 0
      ? '0 s'
      : value < 1
        ? `${digits(value * 1000)} ms`
        : value < 120
          ? `${digits(value)} s`
          : `${digits(value / 60)} min`;
  if (unit === 'bytes') return scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
  if (unit === 'number') return scaled(value, 1000, ['', 'k', 'M']);
  return `${digits(value)} /s`;
}

function scaled(value: number, by: number, units: readonly string[]): string {
  let left = value;
  let index = 0;
  while (Math.abs(left) >= by && index < units.length - 1) {
    left /= by;
    index += 1;
  }
  return `${digits(left)} ${units[index] ?? ''}`.trim();
}

const digits = (value: number): string => String(Number(value.toPrecision(3)));

const STYLE = `
:root { color-scheme: light; font: 14px/1.4 system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif; color: #1c2430; background: #f3f5f8 }
body { margin: 0 } main { padding: 20px 24px 28px; width: 1392px }
h1 { font-size: 20px; margin: 0 0 6px } h2 { font-size: 13px; margin: 18px 0 8px; color: #55606f; font-weight: 600 } h3 { font-size: 13px; margin: 0 0 6px; font-weight: 600 }
.row { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px } section { background: #fff; border: 1px solid #d9dee6; border-radius: 6px; padding: 10px 12px; min-width: 0 }
.lines { grid-column: span 2 } .number p { font-size: 28px; margin: 4px 0 0; font-weight: 600; font-variant-numeric: tabular-nums }
.good p { color: #0f7a57 } .warning p { color: #a85a00 } .critical p { color: #b3261e }
.none { color: #6b7480; height: 120px; display: grid; place-items: center; margin: 0 }
svg { width: 100%; display: block } .grid { stroke: #e6e9ee } .axis { font-size: 11px; fill: #5c6673 } .critical { stroke: #b3261e; stroke-dasharray: 5 4 }
ul { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 6px 0 0; padding: 0; font-size: 12px; color: #3d4754 } b { font-variant-numeric: tabular-nums }
li i { display: inline-block; width: 12px; height: 3px; margin-right: 6px; vertical-align: middle }
`;
