// `helm test`: runtime-api gives out a sandbox and takes it back. A blank warm one, in a session and an organization
// that nobody else has.
import { randomUUID } from 'node:crypto';

const session = randomUUID();
/** Milliseconds. A cluster without a warm sandbox makes one meanwhile. */
const DEADLINE_MS = 240_000;
const headers = { 'x-api-key': process.env.RUNTIME_API_KEY, 'content-type': 'application/json' };
const ask = (path, body) =>
  fetch(`${process.env.RUNTIME_API_URL}${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(60_000) });

const started = performance.now();
let last = 'nothing';
let runtime;
for (;;) {
  const response = await ask('/start', { session_id: session }).catch((error) => ({ ok: false, status: 0, text: async () => error.message }));
  const text = await response.text();
  if (response.ok) {
    runtime = JSON.parse(text).runtime_id;
    break;
  }
  last = `${response.status} ${text.slice(0, 500)}`;
  // Full, or the cluster is making one: asked again. Anything else will not get better.
  if ((response.status !== 0 && response.status < 500 && response.status !== 429 && response.status !== 409) || performance.now() - started > DEADLINE_MS) {
    console.log(`No sandbox after ${Math.round((performance.now() - started) / 1000)} s: ${last}`);
    process.exit(1);
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000));
}
console.log(`A sandbox after ${Math.round(performance.now() - started)} ms.`);
// A pause that keeps: without it, work of paused conversations would be lost.
const KEPT_WITHIN_MS = 60_000;
const paused = await ask('/pause', { runtime_id: runtime });
let workspace = paused.ok ? (await paused.json()).workspace : { state: `pause failed with ${paused.status}` };
const pausedAt = performance.now();
while (workspace?.state !== 'kept' && performance.now() - pausedAt < KEPT_WITHIN_MS) {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const response = await fetch(`${process.env.RUNTIME_API_URL}/sessions/${session}`, { headers, signal: AbortSignal.timeout(10_000) }).catch(() => null);
  if (response?.ok) workspace = (await response.json()).workspace;
}
const isKept = workspace?.state === 'kept';
console.log(isKept ? `Its workspace was saved after ${Math.round(performance.now() - pausedAt)} ms.` : `Its workspace was not saved (${workspace?.state ?? 'unknown'}): ${workspace?.detail ?? 'no reason was given'} Look at sandboxes.workspaceStore.`);
const stopped = await ask('/stop', { runtime_id: runtime });
console.log(stopped.ok ? 'Released.' : `It was not released: ${stopped.status} ${(await stopped.text()).slice(0, 500)}`);
process.exit(stopped.ok && isKept ? 0 : 1);
