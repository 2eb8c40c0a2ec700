// Verifies the audit of one organization, or of all, and names the first row of each that is not as it was written:
// `node verify-audit.js --help`.
import { asSystem, type Columns, createPool, type PoolClient } from '@slipway/db/sql';
import { verifyChain } from '../verify-chain.js';
import { readOptions, USAGE } from './options.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Also those that have only an entry, or only a link, left. */
const ORGS =
  'SELECT id FROM app.org UNION SELECT org_id FROM app.audit_chain UNION SELECT org_id FROM app.audit_entry ORDER BY 1';

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === null) {
    say(USAGE);
    return 0;
  }
  const pool = createPool({
    url: options.databaseUrl,
    max: 1,
    applicationName: 'slipway-verify-audit',
    queryTimeoutMs: 300_000,
    onError: () => {},
  });
  const run = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    asSystem(pool, 'slipway_app_system', 'verify the audit', work);
  try {
    const orgs =
      options.org === null
        ? (await run((client) => client.query<Columns<'app.org', 'id'>>(ORGS))).rows.map(({ id }) => id)
        : [options.org];
    let bad = 0;
    for (const org of orgs) {
      const { checked, fault } = await verifyChain(
        run,
        org,
        options.expected === null ? {} : { expected: options.expected },
      );
      const head = checked === null ? 'no entries' : `${checked.seq}:${checked.hash}`;
      say(fault === null ? `${org} ok ${head}` : `${org} BAD ${fault.kind}: ${fault.detail} Good up to: ${head}`);
      if (fault !== null) bad += 1;
    }
    say(
      bad === 0
        ? `${orgs.length} organizations: every row is as it was written.`
        : `${bad} of ${orgs.length} organizations have a row that is not as it was written.`,
    );
    return bad === 0 ? 0 : 1;
  } finally {
    await pool.end();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
  process.exitCode = 2;
}
