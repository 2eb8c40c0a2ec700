import https from 'node:https';
import { inCluster } from '@slipway/sandbox/adapters/kubernetes';
import { bucket } from './bucket.js';
import { missingOfNodes, type Node, type WantedTemplate } from './nodes.js';
import { answers, authority, issuer, postgres, proxy, redis } from './reach.js';

/** Longest wait for one answer of the API server. Milliseconds. */
const API_TIMEOUT_MS = 15_000;
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Everything that is wrong, as sentences, all checks beside each other. `tell` receives each check's name and whether
 * it passed. Never throws.
 */
export async function preflight(env: Variables, tell: (line: string) => void): Promise<string[]> {
  const checks: [name: string, check: Promise<readonly string[]>][] = [];
  const add = (name: string, variable: string, check: (value: string) => Promise<string | null>): void => {
    const value = env[variable];
    if (value === undefined || value === '') return;
    checks.push([name, check(value).then((wrong) => (wrong === null ? [] : [wrong]))]);
  };
  add('private CA', 'NODE_EXTRA_CA_CERTS', authority);
  add('proxy for http', 'HTTP_PROXY', (url) => proxy('proxy.http', url));
  add('proxy for https', 'HTTPS_PROXY', (url) => proxy('proxy.https', url));
  add('Postgres', 'DATABASE_OWNER_URL', postgres);
  add('Redis', 'REDIS_URL', redis);
  add('identity provider', 'OIDC_ISSUER_URL', issuer);
  if (env['HTTPS_PROXY'] === undefined && env['HTTP_PROXY'] === undefined)
    add('model', 'LLM_BASE_URL', (url) => answers('llm.baseUrl', url));
  add('bucket', 'WORKSPACE_STORE', (url) => bucket(url, env['AWS_ACCESS_KEY_ID']));
  if (env['NODE_CHECKS'] === 'true')
    checks.push(['nodes', nodes(env).catch((error: Error) => [`The nodes cannot be read: ${error.message}`])]);
  const found = await Promise.all(
    checks.map(async ([name, check]) => {
      const wrong = await check;
      tell(`${wrong.length === 0 ? 'ok      ' : 'MISSING '} ${name}`);
      return wrong;
    }),
  );
  return found.flat();
}

async function nodes(env: Variables): Promise<string[]> {
  const access = inCluster(env['KUBERNETES_SERVICE_HOST'] ?? '', env['KUBERNETES_SERVICE_PORT'] ?? '443');
  const { tls, authorization } = await access.credentials();
  const read = async <T>(path: string): Promise<readonly T[]> =>
    new Promise((resolve, reject) => {
      const headers = authorization === null ? {} : { authorization };
      const request = https.get(
        new URL(path, access.server),
        { ...tls, headers, signal: AbortSignal.timeout(API_TIMEOUT_MS) },
        (response) => {
          response.setEncoding('utf8');
          let text = '';
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('error', reject);
          response.on('end', () => {
            if (response.statusCode === 200) resolve((JSON.parse(text) as { items: T[] }).items);
            else reject(new Error(`${path} was answered with ${response.statusCode ?? 0}`));
          });
        },
      );
      request.on('error', reject);
    });
  const [all, classes] = await Promise.all([
    read<Node>('/api/v1/nodes'),
    read<{ metadata: { name: string } }>('/apis/node.k8s.io/v1/runtimeclasses'),
  ]);
  const templates = JSON.parse(env['SANDBOX_TEMPLATES'] ?? '[]') as WantedTemplate[];
  return missingOfNodes(
    templates,
    all,
    classes.map(({ metadata }) => metadata.name),
  );
}
