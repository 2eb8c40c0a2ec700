/** Tokens by their forms, as their issuers document them; what a host has not masked in a log. */
const TOKENS: readonly RegExp[] = [
  /\bgh[pousr]_[A-Za-z0-9._]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bgl(?:pat|ptt|dt|rt|cbt|soat|oas)-[\w.-]{16,}/g,
  /\bxox[abeoprs]-[\w-]{10,}/g,
  /\bxapp-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bsk-[\w-]{20,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\blin_(?:api|oauth)_\w{16,}/g,
  /\bAIza[\w-]{30,}/g,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];
/** The password of an address. */
const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,500}(?=@)/gi;
const AUTHORIZATION = /(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[^\s"']+/gi;
const MASK = '***';

/** Masks what resembles a credential, and `known` ones. For text that a model or users read. */
export function maskedText(text: string, known: readonly string[] = []): string {
  let masked = text;
  for (const secret of known) if (secret.length >= 6) masked = masked.replaceAll(secret, MASK);
  for (const token of TOKENS) masked = masked.replace(token, MASK);
  return masked.replace(USER_INFO, `$1${MASK}`).replace(AUTHORIZATION, `$1${MASK}`);
}
