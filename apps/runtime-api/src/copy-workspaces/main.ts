// `node copy-workspaces.js FROM TO`: copies every workspace and every pack of one store into another, each named as
// WORKSPACE_STORE is. docs/operate/backup.md. Credentials are the environment's.
import { SlipwayError } from '@slipway/errors';
import { openWorkspaceStore } from '@slipway/sandbox/adapters/kubernetes';
import { openPackStore } from '@slipway/sandbox/packs';
import { copyPacks } from './copy-packs.js';
import { copyWorkspaces } from './copy-workspaces.js';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort(new Error(`stopped by ${name}`)));

try {
  const [from, to, ...more] = process.argv.slice(2);
  if (from === undefined || to === undefined || more.length > 0)
    throw new Error('usage: node copy-workspaces.js FROM TO, each file:///folder or s3://bucket/prefix?region=…');
  if (from === to) throw new Error('Source and target are the same store.');
  const [source, target] = [await openWorkspaceStore(new URL(from)), await openWorkspaceStore(new URL(to))];
  const { copied, bytes, failed } = await copyWorkspaces(source, target, (line) => console.log(line), stop.signal);
  console.log(`${copied} workspaces, ${bytes} bytes${failed.length === 0 ? '' : `; not copied: ${failed.join(', ')}`}`);
  const packs = await copyPacks(
    await openPackStore(new URL(from)),
    await openPackStore(new URL(to)),
    (line) => console.log(line),
    stop.signal,
  );
  console.log(
    `${packs.copied} packs that were not there, ${packs.bytes} bytes${packs.failed.length === 0 ? '' : `; not copied: ${packs.failed.length}`}`,
  );
  process.exit(failed.length + packs.failed.length === 0 ? 0 : 1);
} catch (error) {
  console.error(error instanceof SlipwayError ? error.detail : error instanceof Error ? error.message : String(error));
  process.exit(1);
}
