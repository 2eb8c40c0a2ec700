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
  /**
   * No value: the broker sends a token of this installation (`WorkloadClaims`), which says for which conversation,
   * repository and environment it is, as `Authorization: Bearer`. For hosts that trust the installation as an issuer.
   */
  z.strictObject({ form: z.literal('workload-token'), audience: requiredWords, places }),
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
