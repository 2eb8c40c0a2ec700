import { z } from 'zod';

/** A token as servers issue it. */
export const TokenText = z
  .string()
  .min(1)
  .max(16 * 1024)
  .regex(/^[\x21-\x7e]+$/, 'is one word of printable ASCII');

/** The value of a credential of this form, as JSON. */
export const RefreshTokenValue = z.strictObject({
  refreshToken: TokenText,
  /** With `clientAuth: basic` or `body`. */
  clientSecret: TokenText.optional(),
});
export type RefreshTokenValue = z.infer<typeof RefreshTokenValue>;

/** The same with the last access token, as it is sealed. */
export const KeptGrant = RefreshTokenValue.extend({
  access: z.strictObject({ token: TokenText, until: z.iso.datetime() }).optional(),
});
export type KeptGrant = z.infer<typeof KeptGrant>;
