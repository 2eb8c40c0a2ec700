import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';

/** rrweb's recorder as one script, where npm or the image has put it. */
const FILE = '@rrweb/record/dist/record.umd.min.cjs';

/** The recorder runs in a world of its own, which pages neither see nor bend. */
export const RECORDING_WORLD = 'slipway-recording';
/** What the script calls with each event, as JSON. */
export const RECORDING_BINDING = 'slipwayRecorded';

let source: Promise<string> | undefined;

/**
 * For each new document: records it, and emits events as they come, so that nothing is lost when the document goes.
 * Fields, and text that a user or the agent writes, are masked. It ends by itself once its events are not read any
 * more.
 * @throws SlipwayError `sandbox.tool-unavailable`.
 */
export async function recordingScript(): Promise<string> {
  const file = createRequire(import.meta.url)
    .resolve.paths(FILE)
    ?.map((folder) => path.join(folder, FILE))
    .find(existsSync);
  if (file === undefined)
    throw new SlipwayError('sandbox.tool-unavailable', 'The image of this sandbox has no recorder for its browser.');
  source ??= readFile(file, 'utf8');
  source.catch(() => {
    source = undefined;
  });
  return `(() => {
    if (globalThis !== globalThis.top || globalThis.slipwayRecording) return;
    globalThis.slipwayRecording = true;
    const exports = {}, module = { exports };
    ${await source}
    const { record } = module.exports;
    let stop;
    const emit = (event) => {
      try { ${RECORDING_BINDING}(JSON.stringify(event)); } catch { stop?.(); }
    };
    const masked = (text) => text.replace(/\\S/g, '*').slice(0, 100);
    stop = record({
      emit,
      maskAllInputs: true,
      maskInputFn: (text) => (text === '' ? '' : '***'),
      maskTextSelector: '[contenteditable], [contenteditable] *',
      maskTextFn: masked,
      recordCanvas: false,
      collectFonts: false,
      inlineImages: false,
      sampling: { mousemove: 100, scroll: 200, media: 1000 },
    });
  })();`;
}
