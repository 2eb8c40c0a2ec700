// Brings the dashboards, monitors and objectives of this folder to Datadog: what is there is changed, what is not is
// made, nothing is deleted.
//   DD_API_KEY=… DD_APP_KEY=… node apply.mjs [--dry-run]
// Needs Node 20 and an application key that may write dashboards, monitors and SLOs. For an operator's own machine or
// pipeline: no cluster needs these keys. DD_SITE is the site of your account [datadoghq.com]; DD_API_URL takes the
// place of the whole address. RUNBOOK_BASE_URL comes before the addresses of runbooks.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const { DD_API_KEY, DD_APP_KEY, DD_SITE = 'datadoghq.com', DD_API_URL = `https://api.${DD_SITE}`, RUNBOOK_BASE_URL = '' } = process.env;
const dryRun = process.argv.includes('--dry-run');
/** Longest that one request may take. Milliseconds. */
const TIMEOUT_MS = 30_000;
/** Requests that are made again when Datadog says that there were too many, or cannot answer. */
const ATTEMPTS = 5;

if (!DD_API_KEY || !DD_APP_KEY) fail('DD_API_KEY and DD_APP_KEY are needed.');

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}

async function call(method, address, body) {
  for (let attempt = 1; ; attempt += 1) {
    let answer;
    try {
      answer = await fetch(new URL(address, DD_API_URL), {
        method,
        headers: { 'content-type': 'application/json', 'dd-api-key': DD_API_KEY, 'dd-application-key': DD_APP_KEY },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        redirect: 'error',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      // A POST may have been carried out: made again, there could be two.
      if (method === 'POST' || attempt === ATTEMPTS) fail(`${method} ${address}: ${error.cause?.message ?? error.message}`);
      continue;
    }
    if (answer.ok) return answer.json();
    const again = answer.status === 429 || (answer.status >= 500 && method !== 'POST');
    if (!again || attempt === ATTEMPTS) fail(`${method} ${address}: ${answer.status} ${(await answer.text()).slice(0, 1000)}`);
    await answer.body?.cancel();
    const seconds = Number(answer.headers.get('x-ratelimit-reset') ?? attempt);
    await new Promise((resolve) => setTimeout(resolve, Math.min(Number.isFinite(seconds) ? seconds : attempt, 60) * 1000));
  }
}

/** Files of one kind, by name. */
async function files(kind) {
  const folder = path.join(import.meta.dirname, kind);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(names.map(async (name) => [name.slice(0, -'.json'.length), await readFile(path.join(folder, name), 'utf8')]));
}

/** The one that carries the mark. Two of them: somebody has copied one, and a guess could overwrite their work. */
function only(found, mark) {
  if (found.length > 1) fail(`${found.length} in Datadog have ${mark}: take it away from the copies.`);
  return found[0];
}

async function put(what, name, base, id, body) {
  if (!dryRun) {
    const made = await (id === undefined ? call('POST', base, body) : call('PUT', `${base}/${encodeURIComponent(id)}`, body));
    id = made.id ?? made.data?.[0]?.id;
  }
  console.log(`${dryRun ? 'would have ' : ''}${id === undefined && dryRun ? 'made' : 'brought'} ${what} ${name}`);
  return id;
}

const ids = new Map();
for (const [name, text] of await files('slos')) {
  const mark = `slipway:${name}`;
  const { data } = await call('GET', `/api/v1/slo?tags_query=${encodeURIComponent(mark)}`);
  const there = only(data.filter(({ tags }) => tags?.includes(mark)), mark);
  ids.set(name, (await put('objective', name, '/api/v1/slo', there?.id, JSON.parse(text))) ?? `id-of-${name}`);
}

/** With the ids that Datadog gave, and where runbooks are. */
const filled = (text) =>
  JSON.parse(text.replace(/\{\{slo:([a-z-]+)\}\}/g, (_, name) => ids.get(name) ?? fail(`There is no objective ${name}.`)).replaceAll('docs/operate/', `${RUNBOOK_BASE_URL}docs/operate/`));

for (const [name, text] of await files('monitors')) {
  const mark = `slipway:${name.toLowerCase()}`;
  const found = await call('GET', `/api/v1/monitor?monitor_tags=${encodeURIComponent(mark)}`);
  const there = only(found.filter(({ tags }) => tags?.includes(mark)), mark);
  await put('monitor', name, '/api/v1/monitor', there?.id, filled(text));
}

// Dashboards take no tags of ours: the mark is the end of their description.
const { dashboards } = await call('GET', '/api/v1/dashboard');
for (const [name, text] of await files('dashboards')) {
  const mark = `slipway:${name}`;
  const there = only(dashboards.filter(({ description }) => description?.split(' ').at(-1) === mark), mark);
  await put('dashboard', name, '/api/v1/dashboard', there?.id, filled(text));
}
