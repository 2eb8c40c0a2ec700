import { z } from 'zod';
import { MAX_PLACE_ENTRIES, MAX_PLACES, Place } from './places.js';

/** Forms of brokered credentials: what becomes of a request on its way to a place. */

const places = z.array(Place).min(1).max(MAX_PLACES);
const word = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[ -9;-~]+$/, 'has printable ASCII and no colon');

const oauthWords = z
  .string()
  .max(1000)
  .regex(/^[\x20-\x7e]*$/, 'has printable ASCII')
  .default('');

const requiredWords = z
  .string()
  .min(1)
  .max(1000)
  .regex(/^[\x21-\x7e]+$/, 'has printable ASCII without spaces');

/** Of a server that issues tokens: https, and of the internet. */
const serverUrl = z
  .url({ protocol: /^https$/ })
  .max(2048)
  .refine((text) => {
    const { username, password, hash } = new URL(text);
    return username === '' && password === '' && hash === '';
  }, 'has no user, password or fragment');

/** Of a repository of GitHub, without its owner. */
const repositoryName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[A-Za-z0-9._-]+$/, 'is not the name of a repository');

/** Where a server takes id and secret of a client; `none`: it has no secret. */
const anyClientAuth = z.enum(['none', 'basic', 'body']);

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
    tokenUrl: serverUrl,
    clientId: word,
    /** Scopes with spaces between them; empty: those that the server gives by itself. */
    scope: oauthWords,
    /** What some servers want beside it; empty: it is not sent. */
    audience: oauthWords,
    /** Where the server takes id and secret: `basic` in the header Authorization, `body` among the parameters. */
    clientAuth: z.enum(['basic', 'body']).default('basic'),
    places,
  }),
  /**
   * No value: the broker sends a token of this installation (`WorkloadClaims`), which says for which conversation,
   * repository and environment it is, as `Authorization: Bearer`. For hosts that trust the installation as an issuer.
   */
  z.strictObject({ form: z.literal('workload-token'), audience: requiredWords, places }),
  /**
   * A token of this installation is exchanged at an authorization server that trusts it (RFC 8693) for an access token,
   * which is sent as `Authorization: Bearer`. The value is the client secret, where the server wants one.
   */
  z
    .strictObject({
      form: z.literal('token-exchange'),
      tokenUrl: serverUrl,
      /** `aud` of the token that is exchanged: what the server checks that it is meant. */
      subjectAudience: requiredWords,
      /** What is asked for; empty: it is not sent. */
      audience: oauthWords,
      resource: oauthWords,
      scope: oauthWords,
      clientId: word.or(z.literal('')).default(''),
      clientAuth: anyClientAuth.default('none'),
      places,
    })
    .refine(({ clientAuth, clientId }) => clientAuth === 'none' || clientId !== '', {
      path: ['clientId'],
      message: 'is needed with a client secret',
    }),
  /**
   * The value is JSON (`RefreshTokenValue`): a refresh token, with the client secret where there is one. The broker
   * gets access tokens with it (RFC 6749, 6) and sends these as `Authorization: Bearer`; refresh tokens that a server
   * gives in its place are kept.
   */
  z.strictObject({
    form: z.literal('oauth-refresh-token'),
    tokenUrl: serverUrl,
    clientId: word,
    /** Empty: all that the refresh token is for. */
    scope: oauthWords,
    clientAuth: anyClientAuth.default('basic'),
    places,
  }),
  /**
   * The value is the private key of a GitHub App, as PEM. The broker gets tokens of an installation with it, for these
   * repositories and permissions alone, and sends them as git takes them at places of git, else as a bearer token.
   */
  z.strictObject({
    form: z.literal('github-app'),
    /** Id of the App, or its client id. */
    appId: z.string().regex(/^[A-Za-z0-9.]{1,60}$/, 'is not the id of an App'),
    installationId: z.string().regex(/^\d{1,20}$/, 'is a number'),
    /** `https://HOST/api/v3` of GitHub Enterprise Server. */
    apiUrl: serverUrl.default('https://api.github.com'),
    /** The user or organization of GitHub in which the App is installed. */
    account: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,98}$/, 'is not the name of an account'),
    /** Without the account; empty: the repository of the conversation, where it is one of the account. */
    repositories: z.array(repositoryName).max(MAX_PLACE_ENTRIES).default([]),
    permissions: z
      .record(z.string().regex(/^[a-z_]{1,60}$/, 'is not a permission'), z.enum(['read', 'write', 'admin']))
      .refine((all) => Object.keys(all).length > 0 && Object.keys(all).length <= MAX_PLACE_ENTRIES, 'has 1 to 50')
      .default({ contents: 'write', pull_requests: 'write', metadata: 'read' }),
    places,
  }),
  /**
   * The value is a certificate and its private key, both PEM, with which the broker makes the connection to the host.
   */
  z.strictObject({ form: z.literal('mtls'), places }),
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
