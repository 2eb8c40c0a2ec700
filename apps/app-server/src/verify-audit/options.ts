import { parseArgs } from 'node:util';
import { parseConfig } from '@slipway/errors';
import { z } from 'zod';
import { type ExpectedLink, readExpected } from '../audit/verify-chain.js';

export const VerifyAuditConfigSchema = z.object({
  /** Postgres connection string of `slipway_app`, as app-server has it. Secret. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
});

export const USAGE = `Usage: verify-audit.js [--org ORG [--expect SEQ:HASH]]

Verifies the audit of one organization, or of all. Ends with 0 when every row is as it was written, 1 when one is not, 2 when it could not be found out.
  --org ORG          id of the organization
  --expect SEQ:HASH  a link that was there before, "head" of the last line of an export: without it nobody can tell that the end of a chain was cut off`;

export interface VerifyAuditOptions {
  readonly databaseUrl: string;
  readonly org: string | null;
  readonly expected: ExpectedLink | null;
}

/** `null`: help is wanted. @throws Error with a sentence for arguments that are none, SlipwayError `config.invalid` for the environment. */
export function readOptions(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): VerifyAuditOptions | null {
  const { values } = parseArgs({ args: [...args], options: { org: { type: 'string' }, expect: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help === true) return null;
  if (values.expect !== undefined && values.org === undefined) throw new Error('--expect is about one organization: name it with --org.');
  const { DATABASE_URL: databaseUrl } = parseConfig(VerifyAuditConfigSchema, environment);
  return { databaseUrl, org: values.org ?? null, expected: values.expect === undefined ? null : readExpected(values.expect) };
}
