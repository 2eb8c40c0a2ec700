// Commands of the operator of the installation: `node operator.js COMMAND …`. Exit code 0 when done, 1 with a sentence
// when not.
import { analyticsVariables, flagVariables, staticFlagsVariable } from '@slipway/analytics';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { parseConfig } from '@slipway/service';
import { z } from 'zod';
import { deactivate, findAccounts, reactivate } from './accounts.js';
import { flagLines, waitingEvents } from './analytics.js';
import { fullestOrgs, readLimit, setStorageLimit, storageLine, storageOf } from './storage-limits.js';

const USAGE = `Usage: operator.js deactivate|reactivate EMAIL-OR-ID
       operator.js storage [ORG [LIMIT]]
       operator.js analytics [ORG]
       operator.js flags

deactivate  disables the account at once: its sessions and keys stop working; its running conversations are paused within ten seconds.
reactivate  lets the user sign in again; revoked keys stay revoked.
storage     lists the fullest organizations, or shows one (slug or id), or sets its limit: 500MiB, 200GiB, none, or default.
analytics   prints the pending analytics events as they will be sent, of one organization or of all.
flags       shows each flag with its value, its source and its age.
Needs DATABASE_URL as app-server has it; for analytics ANALYTICS_SECRET, for flags FLAGS_PROVIDER and FLAGS, too.`;

const Environment = z.object({
  /** Postgres connection string of `slipway_app`. Secret. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  ANALYTICS_SECRET: analyticsVariables.ANALYTICS_SECRET,
  ...flagVariables,
  FLAGS: staticFlagsVariable,
});
const ACCOUNT_COMMANDS = { deactivate, reactivate };

async function main(args: readonly string[]): Promise<string> {
  const [command, subject, value, ...rest] = args;
  const ofAccount =
    (command === 'deactivate' || command === 'reactivate') && subject !== undefined && value === undefined;
  const isRead = (command === 'analytics' && value === undefined) || (command === 'flags' && subject === undefined);
  if ((!ofAccount && command !== 'storage' && !isRead) || rest.length > 0) throw new Error(USAGE);
  const {
    DATABASE_URL: url,
    ANALYTICS_SECRET: secret,
    FLAGS_PROVIDER: provider,
    FLAGS: values,
  } = parseConfig(Environment, process.env);
  const pool = createPool({ url, max: 1, applicationName: 'slipway-operator', onError: () => {} });
  try {
    if (command === 'analytics') return await waitingEvents(pool, secret, subject);
    if (command === 'flags') return await flagLines(pool, provider === 'static' ? values : null, new Date());
    return ofAccount ? await account(pool, command, subject) : await storage(pool, subject, value);
  } finally {
    await pool.end();
  }
}

async function account(pool: SqlPool, command: keyof typeof ACCOUNT_COMMANDS, emailOrId: string): Promise<string> {
  const accounts = await findAccounts(pool, emailOrId);
  if (accounts.length === 0) throw new Error(`There is no account ${emailOrId}.`);
  for (const each of accounts) await ACCOUNT_COMMANDS[command](pool, each);
  return accounts
    .map(({ id, name, orgs }) => `${command}d ${id} (${name}), in ${orgs.length} organizations`)
    .join('\n');
}

async function storage(pool: SqlPool, org: string | undefined, limit: string | undefined): Promise<string> {
  if (org === undefined) return (await fullestOrgs(pool)).map(storageLine).join('\n');
  return storageLine(
    limit === undefined ? await storageOf(pool, org) : await setStorageLimit(pool, org, readLimit(limit)),
  );
}

try {
  process.stdout.write(`${await main(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
