// What only who runs the installation may do: `node operator.js deactivate|reactivate EMAIL-OR-ID`. Ends with 0 when it is done, 1 when not, with a sentence.
import { createPool } from '@slipway/db/sql';
import { parseConfig } from '@slipway/errors';
import { z } from 'zod';
import { deactivate, findAccounts, reactivate } from './accounts.js';

const USAGE = `Usage: operator.js deactivate|reactivate EMAIL-OR-ID

deactivate  shuts the account at once: nothing that it has proved, nor any key of it, is worth anything; what it runs is paused within ten seconds.
reactivate  lets the person sign in again; revoked keys stay revoked.
Needs DATABASE_URL as app-server has it.`;

const Environment = z.object({
  /** Postgres connection string of `slipway_app`. Secret. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
});
const COMMANDS = { deactivate, reactivate };

async function main([command, who, ...rest]: readonly string[]): Promise<string> {
  if ((command !== 'deactivate' && command !== 'reactivate') || who === undefined || rest.length > 0) throw new Error(USAGE);
  const { DATABASE_URL: url } = parseConfig(Environment, process.env);
  const pool = createPool({ url, max: 1, applicationName: 'slipway-operator', onError: () => {} });
  try {
    const accounts = await findAccounts(pool, who);
    if (accounts.length === 0) throw new Error(`There is no account ${who}.`);
    for (const account of accounts) await COMMANDS[command](pool, account);
    return accounts.map(({ id, name, orgs }) => `${command}d ${id} (${name}), in ${orgs.length} organizations`).join('\n');
  } finally {
    await pool.end();
  }
}

try {
  process.stdout.write(`${await main(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
