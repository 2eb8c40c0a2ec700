import { z } from 'zod';
import type { Broker, OidcEndpoints } from './brokers.ts';
import type { RealmParameters } from './realm.ts';

const httpUrl = z.url({ protocol: /^https?$/ });
const secret = z.string().min(16, 'at least 16 characters');
const flag = (byDefault: 'true' | 'false') =>
  z
    .enum(['true', 'false'])
    .default(byDefault)
    .transform((value) => value === 'true');
const alias = (name: string) =>
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower case letters, digits and dashes')
    .default(name);

/** What an operator says of the realm, in the words of app-server's settings where they are the same. */
const Settings = z.object({
  /** Where browsers reach Slipway. */
  PUBLIC_URL: httpUrl,
  /** Where Keycloak reaches app-server, when not by PUBLIC_URL. */
  APP_SERVER_URL: httpUrl.optional(),
  KEYCLOAK_REALM: alias('slipway'),
  OIDC_CLIENT_ID: z.string().min(1).default('slipway-web'),
  /** Secret. */
  OIDC_CLIENT_SECRET: secret,
  SERVICE_CLIENT_ID: z.string().min(1).default('slipway-service'),
  /** Secret. */
  SERVICE_CLIENT_SECRET: secret,
  /** Whether strangers may make accounts. */
  REGISTRATION: flag('false'),
  /** Users cannot sign in before the e-mail address is verified. Needs SMTP_URL. */
  VERIFY_EMAIL: flag('false'),
  TOTP: z.enum(['optional', 'required']).default('optional'),
  /** A browser flow of the realm's own, in which a sign-in can ask for a second factor. */
  STEP_UP: flag('false'),
  /** `smtp://` or `smtps://`, with user and password in it. Secret. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  MAIL_FROM: z.email().optional(),
  /** Longest time between two visits. Hours. */
  SESSION_IDLE_HOURS: z.coerce.number().int().min(1).max(720).default(168),
  /** Longest time of a sign-in. Hours. */
  SESSION_MAX_HOURS: z.coerce.number().int().min(1).max(720).default(720),

  GITHUB_CLIENT_ID: z.string().min(1).optional(),
  GITHUB_CLIENT_SECRET: z.string().min(1).optional(),
  /** GitHub Enterprise. */
  GITHUB_URL: httpUrl.optional(),
  /**
   * What the server at GITHUB_URL says of an address counts as verified: its admins could then sign in with any
   * address. github.com is always trusted.
   */
  GITHUB_TRUST_EMAIL: flag('false'),
  GITLAB_CLIENT_ID: z.string().min(1).optional(),
  GITLAB_CLIENT_SECRET: z.string().min(1).optional(),
  GITLAB_URL: httpUrl.optional(),
  /** As GITHUB_TRUST_EMAIL, of the server at GITLAB_URL. */
  GITLAB_TRUST_EMAIL: flag('false'),
  GOOGLE_CLIENT_ID: z.string().min(1).optional(),
  GOOGLE_CLIENT_SECRET: z.string().min(1).optional(),
  /** A company's own OpenID Connect issuer; its endpoints are read from its discovery document. */
  COMPANY_OIDC_ISSUER: httpUrl.optional(),
  COMPANY_OIDC_CLIENT_ID: z.string().min(1).optional(),
  COMPANY_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  COMPANY_OIDC_ALIAS: alias('company'),
  COMPANY_OIDC_LABEL: z.string().min(1).default('Company account'),
  /** What it says of an address counts as verified. */
  COMPANY_OIDC_TRUST_EMAIL: flag('false'),
  COMPANY_SAML_ENTITY_ID: z.string().min(1).optional(),
  COMPANY_SAML_SIGN_ON_URL: httpUrl.optional(),
  COMPANY_SAML_CERTIFICATE: z.string().min(1).optional(),
  COMPANY_SAML_ALIAS: alias('company-saml'),
  COMPANY_SAML_LABEL: z.string().min(1).default('Company account'),
  COMPANY_SAML_TRUST_EMAIL: flag('false'),
});
type Settings = z.infer<typeof Settings>;

/** Asks an issuer where its endpoints are. */
export type Discover = (issuer: string) => Promise<OidcEndpoints>;

/** @throws Error that names every wrong or missing setting, never a value. */
export async function realmParameters(
  source: Readonly<Record<string, string | undefined>>,
  discover: Discover,
): Promise<RealmParameters> {
  const parsed = Settings.safeParse(source);
  if (!parsed.success)
    throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
  const settings = parsed.data;
  const wrong = incomplete(settings);
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return {
    name: settings.KEYCLOAK_REALM,
    publicUrl: settings.PUBLIC_URL,
    appServerUrl: settings.APP_SERVER_URL ?? settings.PUBLIC_URL,
    webClient: { id: settings.OIDC_CLIENT_ID, secret: settings.OIDC_CLIENT_SECRET },
    serviceClient: { id: settings.SERVICE_CLIENT_ID, secret: settings.SERVICE_CLIENT_SECRET },
    registration: settings.REGISTRATION,
    verifyEmail: settings.VERIFY_EMAIL,
    totp: settings.TOTP,
    stepUp: settings.STEP_UP,
    smtp: smtpOf(settings),
    sessionIdleSeconds: settings.SESSION_IDLE_HOURS * 3_600,
    sessionMaxSeconds: settings.SESSION_MAX_HOURS * 3_600,
    brokers: await brokersOf(settings, discover),
  };
}

/** Settings that only make sense together. */
function incomplete(settings: Settings): string[] {
  const groups: readonly (keyof Settings)[][] = [
    ['GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET'],
    ['GITLAB_CLIENT_ID', 'GITLAB_CLIENT_SECRET'],
    ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
    ['COMPANY_OIDC_ISSUER', 'COMPANY_OIDC_CLIENT_ID', 'COMPANY_OIDC_CLIENT_SECRET'],
    ['COMPANY_SAML_ENTITY_ID', 'COMPANY_SAML_SIGN_ON_URL', 'COMPANY_SAML_CERTIFICATE'],
    ['SMTP_URL', 'MAIL_FROM'],
  ];
  const missing = groups.flatMap((names) =>
    names.some((name) => settings[name] !== undefined)
      ? names
          .filter((name) => settings[name] === undefined)
          .map((name) => `${name}: needed beside ${names.filter((other) => other !== name).join(' and ')}`)
      : [],
  );
  return settings.VERIFY_EMAIL && settings.SMTP_URL === undefined
    ? [...missing, 'SMTP_URL: needed for VERIFY_EMAIL']
    : missing;
}

async function brokersOf(settings: Settings, discover: Discover): Promise<Broker[]> {
  const brokers: Broker[] = [];
  const {
    GITHUB_CLIENT_ID,
    GITHUB_CLIENT_SECRET,
    GITLAB_CLIENT_ID,
    GITLAB_CLIENT_SECRET,
    GOOGLE_CLIENT_ID,
    GOOGLE_CLIENT_SECRET,
  } = settings;
  if (GITHUB_CLIENT_ID !== undefined && GITHUB_CLIENT_SECRET !== undefined)
    brokers.push({
      kind: 'github',
      clientId: GITHUB_CLIENT_ID,
      clientSecret: GITHUB_CLIENT_SECRET,
      baseUrl: settings.GITHUB_URL,
      trustEmail: settings.GITHUB_TRUST_EMAIL,
    });
  if (GITLAB_CLIENT_ID !== undefined && GITLAB_CLIENT_SECRET !== undefined)
    brokers.push({
      kind: 'gitlab',
      clientId: GITLAB_CLIENT_ID,
      clientSecret: GITLAB_CLIENT_SECRET,
      baseUrl: settings.GITLAB_URL,
      trustEmail: settings.GITLAB_TRUST_EMAIL,
    });
  if (GOOGLE_CLIENT_ID !== undefined && GOOGLE_CLIENT_SECRET !== undefined)
    brokers.push({ kind: 'google', clientId: GOOGLE_CLIENT_ID, clientSecret: GOOGLE_CLIENT_SECRET });
  const { COMPANY_OIDC_ISSUER, COMPANY_OIDC_CLIENT_ID, COMPANY_OIDC_CLIENT_SECRET } = settings;
  if (
    COMPANY_OIDC_ISSUER !== undefined &&
    COMPANY_OIDC_CLIENT_ID !== undefined &&
    COMPANY_OIDC_CLIENT_SECRET !== undefined
  )
    brokers.push({
      kind: 'oidc',
      alias: settings.COMPANY_OIDC_ALIAS,
      label: settings.COMPANY_OIDC_LABEL,
      trustEmail: settings.COMPANY_OIDC_TRUST_EMAIL,
      clientId: COMPANY_OIDC_CLIENT_ID,
      clientSecret: COMPANY_OIDC_CLIENT_SECRET,
      endpoints: await discover(COMPANY_OIDC_ISSUER),
    });
  const { COMPANY_SAML_ENTITY_ID, COMPANY_SAML_SIGN_ON_URL, COMPANY_SAML_CERTIFICATE } = settings;
  if (
    COMPANY_SAML_ENTITY_ID !== undefined &&
    COMPANY_SAML_SIGN_ON_URL !== undefined &&
    COMPANY_SAML_CERTIFICATE !== undefined
  )
    brokers.push({
      kind: 'saml',
      alias: settings.COMPANY_SAML_ALIAS,
      label: settings.COMPANY_SAML_LABEL,
      trustEmail: settings.COMPANY_SAML_TRUST_EMAIL,
      entityId: COMPANY_SAML_ENTITY_ID,
      signOnUrl: COMPANY_SAML_SIGN_ON_URL,
      certificate: COMPANY_SAML_CERTIFICATE,
    });
  return brokers;
}

function smtpOf({ SMTP_URL, MAIL_FROM }: Settings): RealmParameters['smtp'] {
  if (SMTP_URL === undefined || MAIL_FROM === undefined) return null;
  const { protocol, hostname, port, username, password } = new URL(SMTP_URL);
  const tls = protocol === 'smtps:';
  return {
    host: hostname,
    port: port === '' ? (tls ? 465 : 587) : Number(port),
    from: MAIL_FROM,
    tls,
    ...(username === '' ? {} : { user: decodeURIComponent(username), password: decodeURIComponent(password) }),
  };
}
