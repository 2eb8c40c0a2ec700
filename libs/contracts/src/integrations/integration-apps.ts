import { z } from 'zod';
import { GitHost } from '../secrets/secrets.js';

/**
 * Apps of providers (GitHub Apps) that connections are by: registered from a manifest, installed on an account, and
 * called by tokens of the installation.
 */

/** How long a registration that was begun may take; GitHub's own limit for its code. Minutes. */
export const REGISTER_MINUTES = 60;
/** The same for an installation, which an owner may have to read. Minutes. */
export const INSTALL_MINUTES = 30;

/**
 * `registered`: nowhere installed. `requested`: an owner of the account has to approve it at the provider. `approved`:
 * installed there, and an administrator of the account has to confirm it here. `removed`: uninstalled.
 */
export const APP_STATES = ['registered', 'requested', 'approved', 'installed', 'suspended', 'removed'] as const;
export const AppState = z.enum(APP_STATES);
export type AppState = z.infer<typeof AppState>;

/** The app of a connection, and where it is installed. */
export const ConnectionApp = z.object({
  /** At the provider. */
  id: z.string(),
  slug: z.string(),
  /** Its settings there; `null`: it is the platform's app. */
  url: z.string().nullable(),
  state: AppState,
  /** Where it is installed, or was last. */
  account: z.object({ login: z.string(), kind: z.enum(['organization', 'user']) }).nullable(),
  /** `null`: not installed. */
  selection: z.enum(['all', 'selected']).nullable(),
  repositories: z.int().nonnegative().nullable(),
  /**
   * Permissions that Slipway asks for and that the installation has not, as the provider names them: `contents: write`.
   */
  missingPermissions: z.array(z.string()),
  /** When the provider was last asked. */
  checkedAt: z.iso.datetime().nullable(),
  /** When the provider was last asked for deliveries that have not come. */
  recoveredAt: z.iso.datetime().nullable(),
});
export type ConnectionApp = z.infer<typeof ConnectionApp>;

/** `POST …/integrations/apps`. */
export const RegisterApp = z.strictObject({
  provider: z.string().min(1).max(50),
  /** Of the connection, and of the app as far as the provider takes it. */
  name: z.string().trim().min(1).max(100),
  /** An instance of your own; not given: the provider's. */
  host: GitHost.optional(),
  /** Where its pages are, if not at `https://` and `host`. */
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .regex(/^[^?#]*$/, 'has no query and no fragment')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** Login of the organization at the provider that shall own the app. Not given: your own account there. */
  owner: z
    .string()
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})$/, 'is the login of an organization')
    .optional(),
});
export type RegisterApp = z.infer<typeof RegisterApp>;

export const RegistrationBegun = z.object({
  /** A page of Slipway that sends this browser on to the provider. */
  url: z.url(),
  expiresAt: z.iso.datetime(),
});
export type RegistrationBegun = z.infer<typeof RegistrationBegun>;

/** `POST …/integrations/installations`: of the platform's app. */
export const InstallPlatformApp = z.strictObject({
  provider: z.string().min(1).max(50),
  name: z.string().trim().min(1).max(100).optional(),
});
export type InstallPlatformApp = z.infer<typeof InstallPlatformApp>;

/** `POST …/connections/{connection}/installation`. */
export const InstallApp = z.strictObject({
  /** It is installed already: the provider is only asked who you are. */
  installed: z.boolean().default(false),
});
export type InstallApp = z.infer<typeof InstallApp>;

const PEM = /^-----BEGIN (?:RSA )?PRIVATE KEY-----\n[A-Za-z0-9+/=\n]+-----END (?:RSA )?PRIVATE KEY-----$/;

/**
 * `PUT …/connections/{connection}/app-secrets`. Made at the provider by whoever owns the app, which takes the old ones
 * until they are deleted there.
 */
export const ReplaceAppSecrets = z
  .strictObject({
    /** PEM, as the provider gives it. */
    privateKey: z
      .string()
      .max(10_000)
      .transform((pem) => pem.replaceAll('\r\n', '\n').trim())
      .pipe(z.string().regex(PEM, 'is a private key as PEM'))
      .optional(),
    clientSecret: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .regex(/^[\x21-\x7e]+$/, 'has printable characters and no blanks')
      .optional(),
  })
  .refine(({ privateKey, clientSecret }) => privateKey !== undefined || clientSecret !== undefined, {
    error: 'needs a private key or a client secret',
  });
export type ReplaceAppSecrets = z.infer<typeof ReplaceAppSecrets>;

/** Where the browser goes. The answer also sets a cookie: no other browser can finish what this one began. */
export const InstallationBegun = z.object({ url: z.url(), expiresAt: z.iso.datetime() });
export type InstallationBegun = z.infer<typeof InstallationBegun>;
