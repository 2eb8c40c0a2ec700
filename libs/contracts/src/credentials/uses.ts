import { z } from 'zod';
import { MAX_PLACES, Place } from './places.js';

/** Forms of brokered credentials: what becomes of a request on its way to a place. */

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

const requiredWords = z
  .string()
  .min(1)
  .max(1000)
  .regex(/^[\x21-\x7e]+$/, 'has printable ASCII without spaces');

/** Of an authorization server: https, and of the internet. */
const tokenUrl = z
  .url({ protocol: /^https$/ })
  .max(2048)
  .refine((text) => {
    const { username, password, hash } = new URL(text);
    return username === '' && password === '' && hash === '';
  }, 'has no user, password or fragment');

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
    tokenUrl,
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
      tokenUrl,
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
   * gets access tokens with it (RFC 6749, 6) and sends these as `Authorization: Bearer`; refresh tokens that a server gives
   * in its place are kept.
   */
  z.strictObject({
    form: z.literal('oauth-refresh-token'),
    tokenUrl,
    clientId: word,
    /** Empty: all that the refresh token is for. */
    scope: oauthWords,
    clientAuth: anyClientAuth.default('basic'),
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
