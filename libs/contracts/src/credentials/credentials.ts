import { z } from 'zod';
import { EnvironmentName, PageQuery, pageOf, RepositoryUrl } from '../conversations/conversations.js';
import { SecretKind, SecretName, SecretScope, SecretValue } from '../secrets/secrets.js';
import { CredentialUse } from './uses.js';
import { problemOfValue, takesValue } from './values.js';

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

const description = z.string().trim().max(500).default('');
/** The environment's name or the repository's URL; absent for `org`. */
const scopeValue = z.string().min(1).max(2048).optional();

/** When it ends; `null`: it does not. From then on it is not used, until an admin sets another time. */
const expiresAt = z.iso.datetime().nullable();

/**
 * `POST …/credentials`. The value is given, or taken from a secret of the organization, which is deleted with it; forms
 * that keep none take neither.
 */
export const CreateCredential = z
  .strictObject({
    name: SecretName,
    description,
    scope: CredentialScope.default('org'),
    scopeValue,
    use: CredentialUse,
    expiresAt: expiresAt.default(null),
    value: SecretValue.optional(),
    /** Id of a secret whose value moves here. */
    fromSecret: z.string().min(1).max(100).optional(),
  })
  .superRefine((body, context) => {
    const problem = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (!takesValue(body.use)) {
      for (const field of ['value', 'fromSecret'] as const)
        if (body[field] !== undefined) problem(field, 'is not used with this form: nothing is kept');
    } else if ((body.value === undefined) === (body.fromSecret === undefined))
      problem('value', 'is required, or fromSecret in its place');
    else if (body.value !== undefined) {
      const wrong = problemOfValue(body.use, body.value);
      if (wrong !== null) problem('value', wrong);
    }
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
    expiresAt: expiresAt.optional(),
    value: SecretValue.optional(),
    /** One that was resting is used again. */
    state: z.literal('active').optional(),
  })
  .superRefine(({ use, value }, context) => {
    if (use === undefined) return;
    const wrong =
      value !== undefined
        ? problemOfValue(use, value)
        : takesValue(use)
          ? 'is needed again with another use: it is sealed for its places'
          : null;
    if (wrong !== null) context.addIssue({ code: 'custom', path: ['value'], message: wrong });
  });
export type UpdateCredential = z.infer<typeof UpdateCredential>;

/**
 * Why a credential is resting. `reflected`: a place has sent its value back. `refresh-refused`: the authorization
 * server does not take the refresh token. `refresh-lost`: the same, after an answer of the server was lost, with which
 * it may have given another one.
 */
export const RestingReason = z.enum(['reflected', 'refresh-refused', 'refresh-lost']);
export type RestingReason = z.infer<typeof RestingReason>;

const user = z.object({ id: z.string(), label: z.string() });

/** All that anybody is ever shown of a credential. */
export const Credential = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  scope: CredentialScope,
  scopeValue: z.string().nullable(),
  use: CredentialUse,
  /** `resting`: it is used no more until an admin says so. */
  state: z.enum(['active', 'resting']),
  /** Of a resting one. */
  restingReason: RestingReason.nullable(),
  expiresAt,
  /** Whether that time is over. */
  expired: z.boolean(),
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
