// What the check of an API key costs a request: from a warm cache, for ten thousand keys in turn, for a token with a
// broken checksum, and when the database has to be asked.
import { createHash } from 'node:crypto';
import { ApiKeys, makeApiKey } from '@slipway/auth';
import { createPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { createTestDatabase } from '@slipway/testing';
import { percentile, timeEach } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const CHECKS = quick(200_000, 2000);
const MISSES = quick(2_000, 50);
const KEYS = quick(5_000, 100);

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase();
  const owner = createPool({ url: database.ownerUrl, max: 1, applicationName: 'bench', onError: () => {} });
  const pool = createPool({ url: database.urls.app, max: 10, applicationName: 'bench', onError: () => {} });
  try {
    const ids = createIds(systemClock);
    const made = Array.from({ length: KEYS }, () => {
      const id = ids.prefixed('key');
      return { id, ...makeApiKey('dev', id) };
    });
    await owner.query("INSERT INTO app.org (id, slug, name, kind) VALUES ('org_bench', 'bench', 'Bench', 'company')");
    await owner.query(
      "INSERT INTO app.user_account (id, issuer, subject, name) VALUES ('usr_bench', 'bench', 'bench', 'Bench')",
    );
    await owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ('org_bench', 'usr_bench', 'owner')");
    await owner.query(
      `INSERT INTO app.api_key (id, org_id, name, owner_kind, owner_id, scopes, hash, prefix, last4, expires_at, created_by, created_by_label)
       SELECT id, 'org_bench', 'bench', 'user', 'usr_bench', '{conversation:read,org:read}', hash, 'p', 'l', now() + interval '1 day', 'u', 'u' FROM unnest($1::text[], $2::bytea[]) AS k(id, hash)`,
      [made.map(({ id }) => id), made.map(({ hash }) => hash)],
    );
    let queries = 0;
    const query = ((...given: Parameters<typeof pool.query>) => {
      queries += 1;
      return pool.query(...given);
    }) as typeof pool.query;
    const counted = { query };
    const figure = (name: string, samples: number[], floor: number[]): void => {
      for (const p of [0.5, 0.99])
        report.figure({
          figure: `${name}_p${p * 100}`,
          value: percentile(samples, p),
          unit: 'ms',
          floor: percentile(floor, p),
          n: samples.length,
        });
    };

    // One moment for ever, so that what is read once stays read.
    const now = new Date();
    const warm = new ApiKeys(counted, { now: () => now });
    const [one] = made;
    if (one === undefined) throw new Error('no key was made');
    const floor = await timeEach(CHECKS, async () => void createHash('sha256').update(one.token).digest(), 1_000);
    figure('warm', await timeEach(CHECKS, async () => void (await warm.find(one.token)), 1_000), floor);
    report.figure({ figure: 'warm_queries', value: queries, unit: 'count', n: CHECKS });
    for (const { token } of made) await warm.find(token);
    figure(
      'warm_many',
      await timeEach(CHECKS, async (index) => void (await warm.find(made[index % KEYS]?.token ?? '')), 1_000),
      floor,
    );

    queries = 0;
    const broken = `${one.token.slice(0, -1)}${one.token.endsWith('0') ? '1' : '0'}`;
    figure('broken_checksum', await timeEach(CHECKS, async () => void (await warm.find(broken)), 1_000), floor);
    report.figure({ figure: 'broken_checksum_queries', value: queries, unit: 'count', n: CHECKS });

    const cold = new ApiKeys(counted, systemClock);
    const bare = await timeEach(MISSES, async () => void (await pool.query({ name: 'bare', text: 'SELECT 1' })), 50);
    figure(
      'miss',
      await timeEach(MISSES, async (index) => void (await cold.find(made[index % KEYS]?.token ?? '')), 50),
      bare,
    );
  } finally {
    await Promise.all([pool.end(), owner.end()]);
    await database.close();
  }
}
