import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Next makes keys for its draft mode and for server actions at each build and writes them beside the pages. Slipway's
 * pages have neither, and whoever has the image has its keys; here they are made of the build's id, so that two builds
 * of the same sources are the same.
 *
 * @param {string} folder `.next` of the standalone build.
 * @throws Error when the keys are not where this version of Next is known to write them.
 */
export function fixKeys(folder) {
  const read = (file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const id = readFileSync(path.join(folder, 'BUILD_ID'), 'utf8');
  const preview = read('server/preview-props.json');
  const given = {
    previewModeId: preview.previewModeId,
    previewModeSigningKey: preview.previewModeSigningKey,
    previewModeEncryptionKey: preview.previewModeEncryptionKey,
    encryptionKey: read('server/server-reference-manifest.json').encryptionKey,
  };
  const made = Object.entries(given).map(([name, key]) => {
    if (typeof key !== 'string' || key.length < 32)
      throw new Error(`Next wrote no ${name} where it was looked for: see ${import.meta.filename}.`);
    const digest = createHash('sha256').update(`${id} ${name}`).digest();
    return [key, name === 'encryptionKey' ? digest.toString('base64') : digest.toString('hex').slice(0, key.length)];
  });
  for (const file of globSync('**/*.{js,json}', { cwd: folder })) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const fixed = made.reduce((now, [from, to]) => now.replaceAll(from, to), text);
    if (fixed !== text) writeFileSync(path.join(folder, file), fixed);
  }
}
