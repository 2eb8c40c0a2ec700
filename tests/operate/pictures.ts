// Pictures of the dashboards for docs/operate/dashboards.md: `node tests/operate/pictures.ts [MINUTES] [FOLDER]`.
// Starts the whole stack, lets agents work in it, and draws what a real Prometheus answers to each panel. Needs
// Chromium, and Go for Prometheus.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ROOT } from '../../deploy/local/settings.ts';
import { BOARDS } from '../../tools/dashboards/files.ts';
import type { Line, Panel } from '../../tools/dashboards/model.ts';
import { COLOURS, type Curve } from '../../tools/dashboards/picture/chart.ts';
import { type Answer, picturePage } from '../../tools/dashboards/picture/page.ts';
import { promql } from '../../tools/dashboards/promql.ts';
import { labelsOf } from '../../tools/dashboards/query.ts';
import { findChromium, launchChromium } from '../e2e/browser.ts';
import { openGoProgram } from './go-program.ts';
import { Prometheus, type SampleRange } from './prometheus.ts';
import { WatchedStack } from './watched-stack.ts';

const minutes = Number(process.argv[2] ?? 3);
const folder = path.resolve(process.argv[3] ?? path.join(ROOT, 'docs/images/dashboards'));
const step = 3;
/** Those that have something to show after a few minutes on one machine. */
const drawn = ['overview', 'success', 'start-flow', 'pools', 'models', 'error-budget'];

const found = await openGoProgram('prometheus');
if (typeof found === 'string') throw new Error(found);
const chromium = findChromium();
if (chromium === null) throw new Error('There is no Chromium on the PATH.');
await mkdir(folder, { recursive: true });
const stack = await WatchedStack.start({ LLM_MODEL: 'claude-sonnet-5' });
const prometheus = await Prometheus.start(
  found.program,
  new Map([...stack.metrics].map(([app, address]) => [`slipway-${app}`, address])),
);
try {
  const from = Date.now() / 1000;
  await agentsWork(from + minutes * 60);
  const range = { from, to: Date.now() / 1000, step };
  const browser = await launchChromium(chromium);
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1 });
    for (const board of BOARDS.filter(({ name }) => drawn.includes(name))) {
      const panels = board.rows.flatMap(({ panels: inRow }) => inRow);
      const answers = new Map(
        await Promise.all(panels.map(async (panel) => [panel, await answerOf(panel, range)] as const)),
      );
      await page.setContent(picturePage({ board, answers, range }));
      await page.screenshot({ path: path.join(folder, `${board.name}.png`), fullPage: true });
      console.log(`drew ${board.name}`);
    }
  } finally {
    await browser.close();
  }
} finally {
  await prometheus.stop();
  await stack.close();
}

/** Conversations of all kinds, one after another. */
async function agentsWork(until: number): Promise<void> {
  for (let round = 0; Date.now() / 1000 < until; round += 1) {
    const work = [stack.work(`round ${round}`)];
    if (round % 3 === 1) work.push(stack.work(`beside ${round}`));
    if (round % 5 === 4) work.push(stack.fail(`${round}`));
    await Promise.all(work);
    if (round % 4 === 0) await stack.knock();
    await wait(4_000);
  }
}

async function answerOf(panel: Panel, range: { from: number; to: number; step: number }): Promise<Answer> {
  if (panel.kind === 'number') {
    const [sample] = await prometheus.query(askedOf(panel.lines[0] as Line, '1m'));
    return { panel, value: sample === undefined || !Number.isFinite(sample.value) ? null : sample.value, curves: [] };
  }
  const curves = await Promise.all(
    panel.lines.map(async (line) =>
      (await prometheus.range(askedOf(line, '30s'), range.from, range.to, range.step)).map((one) => curveOf(line, one)),
    ),
  );
  const finite = curves.flat().filter(({ points }) => points.some(([, value]) => Number.isFinite(value)));
  // Where there are more than are drawn, those that reach highest.
  const shown = finite.length > COLOURS.length ? finite.toSorted((one, other) => peakOf(other) - peakOf(one)) : finite;
  return { panel, value: null, curves: shown };
}

function peakOf({ points }: Curve): number {
  return Math.max(...points.map(([, value]) => value).filter(Number.isFinite));
}

function curveOf({ query, name }: Line, { metric, values }: SampleRange): Curve {
  return {
    name:
      [...labelsOf(query).map((label) => (metric[label] ?? '').replace(/^slipway-/, '')), name ?? '']
        .filter((part) => part !== '')
        .join(' ') || 'all',
    points: values,
  };
}

function askedOf({ query }: Line, window: string): string {
  return promql(query, window).replaceAll('$__range', `${minutes}m`);
}
