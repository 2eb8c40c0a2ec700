import { z } from 'zod';
import { EnvironmentName, PageQuery, pageOf, RepositoryUrl } from '../conversations/conversations.js';
import { SecretKind, SecretName, SecretScope, SecretValue } from '../secrets/secrets.js';
import { MAX_PLACES, Place } from './places.js';

/**
 * Brokered credentials: values that agents work with and never have. credential-broker puts them into requests on
 * their way to their places. A value goes in and never comes out of the API again.
 */

/** Most that an organization has. */
export const MAX_CREDENTIALS = 200;

/** Its scope, from the widest to the narrowest; of two for one request the narrower is used. */
export const CREDENTIAL_SCOPES = ['org', 'environment', 'repository'] as const;
export const CredentialScope = z.enum(CREDENTIAL_SCOPES);
export type CredentialScope = z.infer<typeof CredentialScope>;

const places = z.array(Place).min(1).max(MAX_PLACES);
const word = z
  .string()
  .min(1)
  .max(255)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it stands in a header
  .regex(/^[^\u0000-\u001f\u007f-\u{10ffff}:]+$/u, 'has printable ASCII and no colon');

const oauthWords = z
  .string()
  .max(1000)
  .regex(/^[\x20-\x7e]*$/, 'has printable ASCII')
  .default('');

/** How a value is put into a request. */
export const CredentialUse = z.discriminatedUnion('form', [
  /** `Authorization: Bearer VALUE`. */
  z.strictObject({ form: z.literal('bearer'), places }),
  /** `Authorization: Basic …` of `username` and the value. What git hosts take. */
  z.strictObject({ form: z.literal('basic'), username: word.default('x-access-token'), places }),
  /** A header of any name, with what stands before the value. */
  z.strictObject({
    form: z.literal('header'),
    header: z
      .string()
      .max(100)
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'is not the name of a header')
      .refine(
        (name) => !/^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|cookie)$/i.test(name),
        'is a header of the connection itself',
      ),
    prefix: z
      .string()
      .max(100)
      .regex(/^[\x20-\x7e]*$/, 'has printable ASCII')
      .default(''),
    places,
  }),
  /**
   * The value is the client secret of an OAuth client (RFC 6749, 4.4). The broker gets an access token with it and
   * sends that as `Authorization: Bearer`; neither enters a sandbox.
   */
  z.strictObject({
    form: z.literal('oauth-client-credentials'),
    /** Of the authorization server: https, and of the internet. */
    tokenUrl: z
      .url({ protocol: /^https$/ })
      .max(2048)
      .refine((text) => {
        const { username, password, hash } = new URL(text);
        return username === '' && password === '' && hash === '';
      }, 'has no user, password or fragment'),
    clientId: word,
    /** Scopes with spaces between them; empty: those that the server gives by itself. */
    scope: oauthWords,
    /** What some servers want beside it; empty: it is not sent. */
    audience: oauthWords,
    /** Where the server takes id and secret: `basic` in the header Authorization, `body` among the parameters. */
    clientAuth: z.enum(['basic', 'body']).default('basic'),
    places,
  }),
  /** The value is the secret access key: requests that were signed with another are signed anew. */
  z.strictObject({ form: z.literal('aws-sigv4'), accessKeyId: word, places }),
  /**
   * Programs that insist on a value find a reference to it in a variable of the credential's name; the broker puts the
   * value in its place in headers, in Basic and in the query.
   */
  z.strictObject({
    form: z.literal('placeholder'),
    /** What the reference begins with, for programs that check it, such as `sk-`. */
    shape: z
      .string()
      .max(40)
      .regex(/^[A-Za-z0-9_-]*$/, 'has letters, digits, _ and - alone')
      .default(''),
    places,
  }),
]);
export type CredentialUse = z.infer<typeof CredentialUse>;
export type CredentialForm = CredentialUse['form'];

const description = z.string().trim().max(500).default('');
/** The environment's name or the repository's URL; absent for `org`. */
const scopeValue = z.string().min(1).max(2048).optional();

/** `POST …/credentials`. The value is given, or taken from a secret of the organization, which is deleted with it. */
export const CreateCredential = z
  .strictObject({
    name: SecretName,
    description,
    scope: CredentialScope.default('org'),
    scopeValue,
    use: CredentialUse,
    value: SecretValue.optional(),
    /** Id of a secret whose value moves here. */
    fromSecret: z.string().min(1).max(100).optional(),
  })
  .superRefine((body, context) => {
    const problem = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if ((body.value === undefined) === (body.fromSecret === undefined))
      problem('value', 'is required, or fromSecret in its place');
    if (body.value !== undefined && /[\r\n]/.test(body.value)) problem('value', 'is one line');
    const check = { org: z.undefined(), environment: EnvironmentName, repository: RepositoryUrl }[body.scope];
    if (!check.safeParse(body.scopeValue).success)
      problem(
        'scopeValue',
        body.scope === 'org' ? 'is not used with the scope org' : `does not name the ${body.scope}`,
      );
  });
export type CreateCredential = z.infer<typeof CreateCredential>;

/**
 * `PATCH …/credentials/{credential}`; what is left out stays. A value is sealed for its form and its places: other
 * ones need it again.
 */
export const UpdateCredential = z
  .strictObject({
    description: z.string().trim().max(500).optional(),
    use: CredentialUse.optional(),
    value: SecretValue.refine((value) => !/[\r\n]/.test(value), 'is one line').optional(),
    /** One that was resting is used again. */
    state: z.literal('active').optional(),
  })
  .refine((body) => body.use === undefined || body.value !== undefined, {
    path: ['value'],
    message: 'is needed again with another use: it is sealed for its places',
  });
export type UpdateCredential = z.infer<typeof UpdateCredential>;

const user = z.object({ id: z.string(), label: z.string() });

/** All that anybody is ever shown of a credential. */
export const Credential = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  scope: CredentialScope,
  scopeValue: z.string().nullable(),
  use: CredentialUse,
  /** `resting`: a place has sent its value back, and it is used no more until an admin says so. */
  state: z.enum(['active', 'resting']),
  createdBy: user,
  createdAt: z.iso.datetime(),
  updatedBy: user,
  updatedAt: z.iso.datetime(),
  /** When the broker was last given it for a conversation. */
  lastUsedAt: z.iso.datetime().nullable(),
});
export type Credential = z.infer<typeof Credential>;

/** `GET …/credentials`: by name. */
export const ListCredentialsQuery = PageQuery;
export type ListCredentialsQuery = z.infer<typeof ListCredentialsQuery>;
/** `available`: this installation has a credential-broker. */
export const CredentialPage = pageOf(Credential).extend({ available: z.boolean() });
export type CredentialPage = z.infer<typeof CredentialPage>;

/** `GET …/credentials/preview`: what sandboxes are not given with `secretsInSandbox: brokered-only`. */
export const WithheldSecrets = z.object({
  /** By name; at most 200. Personal secrets of users are counted and not named. */
  data: z.array(z.object({ id: z.string(), name: z.string(), kind: SecretKind, scope: SecretScope })),
  /** All of them, with the personal ones. */
  count: z.int().min(0),
  personal: z.int().min(0),
});
export type WithheldSecrets = z.infer<typeof WithheldSecrets>;
