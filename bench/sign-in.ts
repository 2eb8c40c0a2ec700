// What app-server takes for one sign-in, from the click to the session, without what the issuer takes of it; sixteen
// people at once, and one after the other.
import { migrateQueue } from '@slipway/queue/migrate';
import { createTestDatabase } from '@slipway/testing';
import { Agent, request } from 'undici';
import { percentile, timeEach } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startScript, startService } from './measure/service-process.ts';

const SECRET = 'bench-secret-bench-secret-bench-secret';
const ALONE = Number(process.env['SIGN_INS'] ?? quick(1_000, 20));
const AT_ONCE = 16;
/** Who sign in, in turn: what one user's sign-ins wait for each other is not what is measured. */
const PEOPLE = quick(100, 10);

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase({
    extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') },
  });
  const issuer = await startScript('./signing-issuer.ts');
  const app = await startService('app-server', {
    NODE_ENV: 'production',
    // Of another host than it is asked under: on one of this machine's names it would send the browser to the public
    // one first.
    PUBLIC_URL: 'http://slipway.example',
    DATABASE_URL: database.urls.app,
    OIDC_ISSUER_URL: `${issuer.url}/realms/slipway`,
    OIDC_CLIENT_SECRET: 'secret',
    SESSION_SECRET: SECRET,
    ENCRYPTION_KEY: SECRET,
    INGEST_SECRET: SECRET,
    LLM_GATEWAY_URL: 'http://127.0.0.1:9',
    LLM_GATEWAY_MASTER_KEY: SECRET,
    // Every sign-in of this bench comes from one address.
    RATE_ANONYMOUS_PER_MINUTE: '100000000',
  });
  const agent = new Agent({ connections: AT_ONCE });
  const spentByIssuer = async (): Promise<number> =>
    ((await (await request(issuer.url, { dispatcher: agent })).body.json()) as { spentMs: number }).spentMs;
  const get = async (url: string, cookie?: string): Promise<{ location: string; cookies: string[] }> => {
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      headers: cookie === undefined ? {} : { cookie },
    });
    await body.dump();
    if (statusCode !== 302) throw new Error(`${url} answered ${statusCode}: ${app.output()}`);
    const cookies = headers['set-cookie'];
    return {
      location: String(headers['location']),
      cookies: typeof cookies === 'string' ? [cookies] : (cookies ?? []),
    };
  };
  /** @returns milliseconds in which app-server was asked; what the issuer took meanwhile is still in it. */
  let people = 0;
  const signIn = async (): Promise<number> => {
    people += 1;
    const clicked = performance.now();
    const { location, cookies } = await get(`${app.url}/oauth/login?login_hint=person-${people % PEOPLE}`);
    const begun = performance.now() - clicked;
    const back = new URL((await get(location)).location);
    const returned = performance.now();
    const done = await get(`${app.url}${back.pathname}${back.search}`, cookies[0]?.split(';')[0]);
    if (!done.cookies.some((cookie) => cookie.startsWith('keycloak_auth=')))
      throw new Error('the sign-in ended without a session');
    return begun + (performance.now() - returned);
  };
  try {
    const alone: number[] = [];
    await timeEach(ALONE, async (index) => {
      const whole = await signIn();
      if (index < Math.min(200, Math.ceil(ALONE / 5))) return;
      alone.push(whole);
    });
    // What the issuer takes of a callback is the answer of its token endpoint; its page is no part of what is measured
    // above.
    const before = await spentByIssuer();
    for (let index = 0; index < 50; index += 1) await signIn();
    const ofIssuer = ((await spentByIssuer()) - before) / 50;
    const many: number[] = [];
    for (let round = 0; round < ALONE / AT_ONCE; round += 1)
      many.push(...(await Promise.all(Array.from({ length: AT_ONCE }, signIn))));
    for (const [name, samples] of [
      ['', alone],
      ['sixteen-at-once-', many],
    ] as const)
      for (const [part, p] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const)
        report.figure({
          figure: `${name}${part}`,
          value: Math.max(0, percentile(samples, p) - ofIssuer),
          unit: 'ms',
          n: samples.length,
        });
    report.note(`the issuer took ${ofIssuer.toFixed(2)} ms of each, which is taken away; must: at most 50 ms`);
  } finally {
    await agent.close();
    await app.stop();
    await issuer.stop();
    await database.close();
  }
}
