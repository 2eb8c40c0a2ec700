import { z } from 'zod';
import type { RegisteredApp } from './app-access.js';

const word = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[\x21-\x7e]+$/, 'has printable characters and no blanks');

const PlatformApp = z.strictObject({
  id: z.union([z.number().int().positive(), word]).transform(String),
  slug: word,
  clientId: word,
  clientSecret: word,
  /** PEM; one that has lost its line breaks to an environment variable has `\n` for them. */
  privateKey: z
    .string()
    .max(20_000)
    .transform((pem) => pem.replaceAll('\\n', '\n'))
    .pipe(z.string().regex(/^-----BEGIN [A-Z ]*PRIVATE KEY-----\n/, 'is a private key as PEM')),
});

/** The operator's own apps by their providers. */
export type PlatformApps = Readonly<Record<string, RegisteredApp>>;

/** A variable that holds them as JSON. */
export const platformAppsVariable = z
  .string()
  .default('{}')
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue(
        'needs JSON such as {"github": {"id": "1", "slug": "slipway", "clientId": "…", "clientSecret": "…", "privateKey": "…"}}',
      );
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), PlatformApp));
