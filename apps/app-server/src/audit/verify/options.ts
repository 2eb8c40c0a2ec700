import { parseArgs } from 'node:util';
import { parseConfig } from '@slipway/service';
import { z } from 'zod';
import { type ExpectedLink, readExpected } from '../verify-chain.js';

export const VerifyAuditConfigSchema = z.object({
  /** Postgres connection string of `slipway_app`, as app-server has it. Secret. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
});

export const USAGE = `Usage: verify-audit.js [--org ORG [--expect SEQ:HASH]]

Verifies the audit of one organization, or of all. Exit code 0 when every row is unchanged, 1 when one was changed, 2 when the check failed.
  --org ORG          id of the organization
  --expect SEQ:HASH  an earlier link of the chain, "head" of the last line of an export; without it a cut-off end of the chain goes unnoticed`;

export interface VerifyAuditOptions {
  readonly databaseUrl: string;
  readonly org: string | null;
  readonly expected: ExpectedLink | null;
}

/**
 * `null`: help was requested. @throws Error with a sentence for invalid arguments, SlipwayError `config.invalid` for
 * the environment.
 */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): VerifyAuditOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: { org: { type: 'string' }, expect: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) return null;
  if (values.expect !== undefined && values.org === undefined)
    throw new Error('--expect is about one organization: name it with --org.');
  const { DATABASE_URL: databaseUrl } = parseConfig(VerifyAuditConfigSchema, environment);
  return {
    databaseUrl,
    org: values.org ?? null,
    expected: values.expect === undefined ? null : readExpected(values.expect),
  };
}
